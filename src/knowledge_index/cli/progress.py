"""Progress on a terminal and in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knowledge_index.domain.progress import Progress, ProgressTask

_SECONDS_BETWEEN_LINES = 5.0


def console_progress() -> Progress:
    """Bars with rate and time left where standard error is a terminal, plain lines elsewhere."""
    return _Bars() if sys.stderr.isatty() else _Lines(time.monotonic)


class _Bars:
    """Rich bars on standard error."""

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[ProgressTask]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress
        from rich.progress import Task as RichTask
        from rich.text import Text

        class RateColumn(ProgressColumn):
            def render(self, task: RichTask) -> Text:
                speed = task.finished_speed or task.speed
                return Text(f"{speed:.1f}/s" if speed else "", style="progress.data.speed")

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            RateColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        with RichProgress(*columns, console=Console(stderr=True)) as progress:
            task_id = progress.add_task(label, total=total)

            class BarTask:
                def advance(self, steps: int = 1) -> None:
                    progress.advance(task_id, steps)

            yield BarTask()


class _Lines:
    """A line every few seconds, and one at the end of anything that took so long."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[ProgressTask]:
        clock = self._clock
        started = clock()

        class LineTask:
            done = 0
            last_line = started

            def advance(self, steps: int = 1) -> None:
                self.done += steps
                now = clock()
                if now - self.last_line >= _SECONDS_BETWEEN_LINES and self.done < total:
                    rate = self.done / (now - started)
                    left = f", {(total - self.done) / rate:.0f} s left" if rate else ""
                    print(f"{label}: {self.done}/{total} ({rate:.1f}/s{left})", file=sys.stderr, flush=True)
                    self.last_line = now

        task = LineTask()
        yield task
        seconds = clock() - started
        if total:
            print(f"{label}: {task.done}/{total} in {seconds:.1f} s", file=sys.stderr, flush=True)
