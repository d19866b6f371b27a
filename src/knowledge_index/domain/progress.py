"""How long work reports that it goes on; the command line draws it."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class ProgressTask(Protocol):
    """One bar."""

    def advance(self, steps: int = 1) -> None:
        """Count ``steps`` further units as done."""


class Progress(Protocol):
    """Where a function that takes long says what it does."""

    def task(self, label: str, total: int) -> AbstractContextManager[ProgressTask]:
        """Open a bar of ``total`` units; leaving the context closes it."""


class _SilentTask:
    def advance(self, steps: int = 1) -> None:
        del steps


class SilentProgress:
    """Reports nothing: for callers without a person in front of them."""

    def task(self, label: str, total: int) -> AbstractContextManager[ProgressTask]:
        """Open a bar that nobody sees."""
        del label, total
        return nullcontext(_SilentTask())
