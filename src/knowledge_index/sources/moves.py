"""Which missing file is which new one."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_index.catalog.records import ObjectRecord, ObservedObject


@dataclass(frozen=True)
class Move:
    """A file that lay at ``origin.path`` and lies at the path ``to``."""

    origin: ObjectRecord
    to: str


def match_moves(absent: Sequence[ObjectRecord], new: Sequence[ObservedObject]) -> tuple[Move, ...]:
    """Pair missing objects with new paths that hold the same bytes, each once, by new path.

    Where several missing files held these bytes, the one of the same inode is meant; among equals the first by path.
    """
    absent = sorted(absent, key=lambda each: each.path)
    moves: list[Move] = []
    left = sorted(new, key=lambda each: each.path)
    for same_inode in (True, False):
        waiting: dict[tuple[str, int], list[ObjectRecord]] = {}
        taken = {move.origin.id for move in moves}
        for each in reversed(absent):
            if each.id not in taken:
                waiting.setdefault((each.blob_sha256, each.inode if same_inode else 0), []).append(each)
        unmatched = []
        for seen in left:
            candidates = waiting.get((seen.blob_sha256, seen.inode if same_inode else 0))
            if candidates:
                moves.append(Move(candidates.pop(), seen.path))
            else:
                unmatched.append(seen)
        left = unmatched
    return tuple(sorted(moves, key=lambda move: move.to))
