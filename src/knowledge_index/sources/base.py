"""The contract of a source."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ListedFile:
    """A file as a source lists it.

    ``path`` is relative to the source's root, with ``/``, in NFC; ``disk_path`` is the same as the source spells it.
    Size, time and inode are hints: bytes are told apart by their SHA-256.
    """

    path: str
    disk_path: str
    size_bytes: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True)
class SkippedFile:
    """Something a source holds that is not indexed, and why."""

    path: str
    reason: str


class SyncSource(Protocol):
    """An estate that is read and never written to."""

    def list_files(self) -> Iterator[ListedFile | SkippedFile]:
        """Every file, sorted by path.

        Raises:
            SourceError: the source as a whole cannot be read, so its silence about a file means nothing.
        """
        ...

    def read(self, disk_path: str) -> bytes:
        """The bytes of one file.

        Raises:
            SourceError: the file cannot be read, or lies outside the root.
        """
        ...
