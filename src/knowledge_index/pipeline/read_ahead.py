"""Reading and converting ahead of the stage that takes the results, so that every core has something to do."""

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from knowledge_index.catalog.records import PipelineObject
from knowledge_index.config import ConversionSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.domain.documents import Content, ConvertedDocument
from knowledge_index.domain.errors import ConversionError, SourceError
from knowledge_index.sources.base import SyncSource

# How many results are ready or in the making while one is taken in: the catalog's waits for the disk are no reason for
# a worker to be idle.
_AHEAD_PER_WORKER = 2


class _Turn:
    """When a result may be taken in; while it waits, its place among the workers is free for another."""

    def __init__(self, places: threading.Semaphore) -> None:
        self._places = places
        self._has_come = threading.Event()
        self._has_place = False

    def take_place(self) -> None:
        self._places.acquire()
        self._has_place = True

    def leave_place(self) -> None:
        if self._has_place:
            self._has_place = False
            self._places.release()

    def wait(self, timeout: float | None = None) -> bool:
        if not self._has_come.is_set():
            self.leave_place()
        return self._has_come.wait(timeout)

    def come(self) -> None:
        self._has_come.set()


@dataclass
class _Started:
    future: "Future[ConvertedDocument]"
    turn: _Turn


class ReadAhead:
    """Converts the files on disk that are ``waiting``, as many at a time as there are workers, in their order.

    ``has_text`` says whether an object's text is there already, so that nothing is done for it. ``limit`` is how many
    objects will be asked for at most. A context manager; leaving it ends what is still at work.
    """

    def __init__(
        self,
        sources: Mapping[str, SyncSource],
        waiting: Sequence[PipelineObject],
        has_text: Callable[[PipelineObject], bool],
        settings: ConversionSettings,
        limit: int | None = None,
    ) -> None:
        self.settings = settings
        self._isolated = IsolatedConverter(settings)
        self._sources = sources
        self._waiting = waiting
        self._has_text = has_text
        self._place_by_id = {each.id: place for place, each in enumerate(waiting)}
        self._places = threading.Semaphore(settings.workers)
        self._ahead = _AHEAD_PER_WORKER * settings.workers
        if limit is not None:
            self._ahead = min(self._ahead, max(0, limit - 1))
        # One thread for each result that may be in the making, waiting for its turn, or wanted now.
        self._pool = ThreadPoolExecutor(self._ahead + 1, thread_name_prefix="convert")
        self._started: dict[int, _Started] = {}
        self._blobs: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._isolated.close()
        self._pool.shutdown(cancel_futures=True)

    def document(self, wanted: PipelineObject) -> ConvertedDocument:
        """The text of one of the objects; they are asked for in their order, and not all of them need be.

        Raises:
            SourceError: the file cannot be read, or its bytes are no longer those that were synced.
            ConversionError: its text cannot be had.
        """
        place = self._place_by_id[wanted.id]
        for passed in [each for each in self._started if self._place_by_id[each] < place]:
            self._started.pop(passed).turn.come()
        self._start(wanted)
        for upcoming in self._waiting[place + 1 : place + 1 + self._ahead]:
            # Of identical bytes only the first is converted: those behind it find its text in the catalog.
            blob = _blob(upcoming)
            if blob is not None and blob not in self._blobs and not self._has_text(upcoming):
                self._start(upcoming)
        started = self._started.pop(wanted.id)
        started.turn.come()
        return started.future.result()

    def convert_bytes(self, name: str, data: Content) -> ConvertedDocument:
        """The text of what comes from elsewhere than a source, such as a file inside another.

        Raises:
            ConversionError: it cannot be had.
        """
        with self._places:
            return self._isolated.convert(name, data)

    def _start(self, each: PipelineObject) -> None:
        if each.id in self._started:
            return
        blob = _blob(each)
        if blob is not None:
            self._blobs.add(blob)
        turn = _Turn(self._places)
        self._started[each.id] = _Started(self._pool.submit(self._converted, each, turn), turn)

    def _converted(self, each: PipelineObject, turn: _Turn) -> ConvertedDocument:
        turn.take_place()
        try:
            data = self._sources[each.source].read(each.disk_path)
            if hashlib.sha256(data).hexdigest() != each.blob_sha256:
                raise SourceError("has changed since it was synced; run 'ki sync' again")
            return self._isolated.convert(each.path, data, turn)
        finally:
            turn.leave_place()


def _blob(each: PipelineObject) -> tuple[str, str] | None:
    """What is converted once: the bytes, by one converter; None where none reads the format."""
    try:
        return each.blob_sha256, converter_for(each.path).name
    except ConversionError:
        return None
