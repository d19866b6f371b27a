"""A real folder in which things happen while it is looked at, and a process that ends at one of its statements."""

import os
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Engine, event
from sync_model import DiskFile, Fault

from knowledge_index.domain.errors import SourceError
from knowledge_index.sources.base import HashedFile, ListedFile, SkippedFile
from knowledge_index.sources.local_fs import LocalFolderSource


class CutOffError(BaseException):
    """The end of a process at one of its statements."""


@dataclass
class FaultySource:
    """A real folder in which things happen while it is looked at."""

    root: Path
    faults: Mapping[str, Fault]
    stamps: Iterator[int]
    swaps: dict[str, DiskFile] = field(default_factory=dict)

    def list_files(self) -> Iterator[ListedFile | SkippedFile]:
        for each in LocalFolderSource(self.root).list_files():
            if self.faults.get(each.path) is not Fault.MISSED:
                yield each

    def look(self, disk_path: str) -> ListedFile | None:
        return LocalFolderSource(self.root).look(disk_path)

    def hash(self, disk_path: str) -> HashedFile:
        match self.faults.get(unicodedata.normalize("NFC", disk_path)):
            case Fault.UNREADABLE:
                raise SourceError(f"{disk_path}: cannot be read: Permission denied")
            case Fault.VANISHES:
                (self.root / disk_path).unlink()
            case Fault.SWAPPED:
                self.swaps[disk_path] = replaced(self.root / disk_path, b"new", next(self.stamps))
        return LocalFolderSource(self.root).hash(disk_path)

    def read(self, disk_path: str) -> bytes:
        raise AssertionError("a sync hashes and does not read")


def replaced(file: Path, content: bytes, stamp: int) -> DiskFile:
    """Save as editors do: write beside it, rename over it."""
    beside = file.with_name("beside")
    beside.write_bytes(content)
    os.utime(beside, ns=(stamp, stamp))
    inode = beside.stat().st_ino
    beside.replace(file)
    return DiskFile(content, stamp, inode)


@contextmanager
def cut_off_at(statement: int) -> Iterator[None]:
    left = statement

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise CutOffError

    event.listen(Engine, "before_cursor_execute", count)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", count)


def numbers() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number
