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
class HashedFile:
    """A file as it was while its bytes were hashed; ``file`` has the size, time and inode of exactly these bytes."""

    file: ListedFile
    sha256: str


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

    def look(self, disk_path: str) -> ListedFile | None:
        """The file at a path at this moment, or None where no regular file is there.

        A listing is no snapshot: what is renamed while it goes on may be missed. A path is therefore looked at by
        itself before its absence is believed.

        Raises:
            SourceError: there is no telling whether a file is there.
        """
        ...

    def hash(self, disk_path: str) -> HashedFile:
        """The SHA-256 of one file, with the size, time and inode of the very bytes that were hashed.

        Raises:
            VanishedFileError: no file is there any more.
            SourceError: the file cannot be read, is being written to all the time, or lies outside the root.
        """
        ...

    def read(self, disk_path: str) -> bytes:
        """The bytes of one file.

        Raises:
            VanishedFileError: no file is there any more.
            SourceError: the file cannot be read, or lies outside the root.
        """
        ...
