"""Segments that are open in memory, and those of a scope merged into one."""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from knowledge_index.index.arrays import read_checked
from knowledge_index.index.segment import Segment, decoded, merge_segments

Key = TypeVar("Key")
Value = TypeVar("Value")

_MAX_OPEN_SEGMENTS = 4096
# Above this many segments a scope's are merged in memory at once, since each costs some 50 µs a search.
_MAX_SEGMENTS_SEARCHED_APART = 16
# Up to so many rows few segments are merged too, once they were asked for more often than by a command that searches
# once: for words and identifiers, of the question and of what is left of it beside a paper's name.
_MAX_SMALL_SCOPE_ROWS = 10_000
_ASKED_FOR_BY_ONE_SEARCH = 4
_MAX_MERGED_SCOPES = 4
_MAX_MERGED_SMALL_SCOPES = 64
_MAX_REMEMBERED_SCOPES = 1024


@dataclass(frozen=True)
class SegmentFile:
    """One segment of a compartment; ``name`` is relative to the index's folder, ``crc32`` of the whole file."""

    name: str
    rows: int
    size_bytes: int
    crc32: int


class OpenSegments:
    """The segments of files in ``folder``, which are never changed; not for several threads at once.

    Errors: FileNotFoundError where a file is gone, ValueError where it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[SegmentFile, Segment] = OrderedDict()
        self._merged: OrderedDict[tuple[SegmentFile, ...], Segment] = OrderedDict()
        self._merged_small: OrderedDict[tuple[SegmentFile, ...], Segment] = OrderedDict()
        self._times_asked: OrderedDict[tuple[SegmentFile, ...], int] = OrderedDict()

    def read(self, file: SegmentFile) -> Segment:
        """The segment of a file, read now."""
        return decoded(read_checked(self._folder / file.name, file.size_bytes, file.crc32))

    def segment(self, file: SegmentFile) -> Segment:
        """The segment of a file, from memory where it is there."""
        if file not in self._open:
            _keep(self._open, file, self.read(file), _MAX_OPEN_SEGMENTS)
        self._open.move_to_end(file)
        return self._open[file]

    def together(self, files: tuple[SegmentFile, ...]) -> list[Segment]:
        """The segments of some files in order, or one with the rows of all, which answers every search alike.

        Many are merged at once, few with few rows when they are asked for again and again.
        """
        is_small = sum(file.rows for file in files) <= _MAX_SMALL_SCOPE_ROWS
        merged, limit = (
            (self._merged_small, _MAX_MERGED_SMALL_SCOPES) if is_small else (self._merged, _MAX_MERGED_SCOPES)
        )
        if files not in merged:
            times = self._times_asked.pop(files, 0) + 1
            if len(files) < 2 or (
                len(files) <= _MAX_SEGMENTS_SEARCHED_APART and not (is_small and times > _ASKED_FOR_BY_ONE_SEARCH)
            ):
                _keep(self._times_asked, files, times, _MAX_REMEMBERED_SCOPES)
                return [self.segment(file) for file in files]
            _keep(merged, files, merge_segments([self.segment(file) for file in files]), limit)
        merged.move_to_end(files)
        return [merged[files]]

    def forget_all_but(self, named: Collection[str]) -> None:
        """Let go of the segments of files that are not named, and of what was merged of them."""
        for file in [each for each in self._open if each.name not in named]:
            del self._open[file]
        for held in (self._merged, self._merged_small, self._times_asked):
            for files in [each for each in held if any(file.name not in named for file in each)]:
                held.pop(files)


def _keep(held: OrderedDict[Key, Value], key: Key, value: Value, limit: int) -> None:
    """Hold a value, and let go of the one that was asked for longest ago where there are too many."""
    held[key] = value
    if len(held) > limit:
        held.popitem(last=False)
