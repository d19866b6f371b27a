"""The rows of a segment that a search ranks, and which of them are the best."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from knowledge_index.index.arrays import Floats, Integers, Mask, ShortIntegers
from knowledge_index.index.base import ScoredRow
from knowledge_index.index.segment import Segment

_SCORE_DECIMALS = 9
# More than rounding to these decimals moves a score.
_ROUNDED = 2e-9
_GROUP_ROWS = 32


class RankedRows:
    """All rows of a segment, or those that ``rows`` names, ascending; scores are arrays with one for each.

    What is computed for a row is the same, to the bit, whichever rows stand beside it.
    """

    def __init__(self, segment: Segment, rows: ShortIntegers | None = None) -> None:
        self.segment = segment
        self.rows = rows
        self.lengths: Integers = segment.lengths if rows is None else segment.lengths[rows]

    def __len__(self) -> int:
        return len(self.lengths)

    def postings(self, place: int) -> tuple[ShortIntegers | Integers, ShortIntegers]:
        """Where among these rows those stand that hold a term, ascending, and how often each holds it."""
        rows, frequencies = self.segment.postings(place)
        if self.rows is None:
            return rows, frequencies
        if len(self.rows) < len(rows):
            found = np.searchsorted(rows, self.rows)
            found[found == len(rows)] = 0
            holding = np.flatnonzero(rows[found] == self.rows)
            return holding, frequencies[found[holding]]
        places, held = self.among(rows)
        return places, frequencies[held]

    def among(self, rows: Integers | ShortIntegers) -> tuple[Integers | ShortIntegers, Mask | slice]:
        """Where rows of the segment stand among these, and which of them do."""
        if self.rows is None:
            return rows, slice(None)
        if not len(self.rows):
            return np.empty(0, dtype=np.int64), np.zeros(len(rows), dtype=np.bool_)
        found = np.searchsorted(self.rows, rows.astype(np.int32, copy=False))
        found[found == len(self.rows)] = 0
        held = self.rows[found] == rows
        return found[held], held


class RowScores(NamedTuple):
    """The scores of some rows, 0 where a row was not found, and which hold the query's wording."""

    ranked: RankedRows
    scores: Floats
    holding: Mask | None = None


def reached(scores: Sequence[Floats], count: int) -> float:
    """A score, as high as is cheap to tell, that ``count`` or more of the scores reach; 0 where there are fewer."""
    # The highest of each group of rows is a score of its own, and telling it costs a tenth of ordering all. Rows that
    # stand side by side, as those of one paper do, are in different groups.
    highest = []
    for each in scores:
        groups = len(each) // _GROUP_ROWS
        if groups > 2 * count:
            whole = groups * _GROUP_ROWS
            highest += [each[:whole].reshape(_GROUP_ROWS, groups).max(axis=0), each[whole:]]
        else:
            highest.append(each)
    together = highest[0] if len(highest) == 1 else np.concatenate([np.empty(0), *highest])
    return float(np.partition(together, len(together) - count)[len(together) - count]) if len(together) >= count else 0


def best_rows(found: Sequence[RowScores], pool: int) -> list[ScoredRow]:
    """The best ``pool`` rows that were found, and all that tie with the last of them, by rounded score, then key."""
    least = reached([each.scores for each in found], pool) - _ROUNDED
    candidates = []
    for ranked, scores, holding in found:
        places = np.flatnonzero((scores >= least) & (scores > 0))
        if len(places):
            candidates.append((ranked, places, np.round(scores[places], _SCORE_DECIMALS), holding))
    boundary = 0.0
    if sum(len(places) for _, places, _, _ in candidates) > pool:
        values = np.concatenate([values for _, _, values, _ in candidates])
        boundary = float(np.partition(values, len(values) - pool)[len(values) - pool])
    best: list[ScoredRow] = []
    for ranked, places, values, holding in candidates:
        kept = values >= boundary
        places, values = places[kept], values[kept]
        rows = places if ranked.rows is None else ranked.rows[places]
        holds = [False] * len(rows) if holding is None else holding[places].tolist()
        best += map(ScoredRow, ranked.segment.row_keys_of(rows), values.tolist(), holds)
    best.sort(key=lambda row: (-row.score, row.row_key))
    return best
