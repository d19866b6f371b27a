"""The nearest rows of some compartments of vectors: every row is read in bytes, the likely ones in full.

A row in bytes says what its cosine is at most. So the cosines of a few rows, those of the highest ceilings, tell below
which ceiling no row can be among the best; the cosines of the rest above it are computed in double precision.
"""

import os
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from knowledge_index.domain.errors import UsageError
from knowledge_index.embed.base import Vector
from knowledge_index.index.arrays import Floats, Integers, lengths_to_bounds
from knowledge_index.index.base import ScoredRow
from knowledge_index.index.vector_scan import Codes, VectorCompartment, in_bytes

UNIT_TOLERANCE = 1e-5
_SCORE_DECIMALS = 9
# Some 6 MB in bytes.
_TASK_ROWS = 16_384
# Above what float32 and float64 lose in sums over some hundred dimensions of unit vectors.
_ROUNDING = 1e-5
# How far a rounded cosine may lie from the dot product, vectors being unit within the tolerance.
_ROUNDED = 3 * UNIT_TOLERANCE


@dataclass(frozen=True)
class AskedRows:
    """Which rows a search ranks; empty matters and None narrow to nothing, all by key or reference as stored.

    ``only`` are keys of passages, with all of their windows; ``excluded`` those of single vectors.
    """

    matter_refs: frozenset[str]
    only: Collection[str] | None
    excluded: Collection[str]

    def of(self, compartment: VectorCompartment) -> Integers | None:
        """The rows of the compartment, ascending, or None for all of them."""
        rows = None
        if self.matter_refs:
            rows = compartment.rows_of_matters(self.matter_refs)
        if self.only is not None:
            found = compartment.rows_of_passages(self.only)
            rows = found if rows is None else np.intersect1d(rows, found)
        if self.excluded:
            gone = [compartment.row_of_key[key] for key in self.excluded if key in compartment.row_of_key]
            if gone:
                rows = np.setdiff1d(np.arange(len(compartment.codes)) if rows is None else rows, gone)
        return rows


class ScanQuery:
    """A query's vector as a scan uses it."""

    def __init__(self, vector: Vector) -> None:
        import numkong

        codes, scales, errors = in_bytes(np.asarray(vector, dtype=np.float32).reshape(1, -1))
        self._packed = numkong.dots_pack(codes)
        self._scale, self._error = float(scales[0]), float(errors[0])
        self._length = float(np.linalg.norm(vector))

    def ceilings(self, codes: Codes, scales: Vector, errors: Vector) -> Vector:
        """What the dot products with the rows are at most.

        With x = y + e and q = p + d, where y and p are the rows and the query in bytes: x·q = y·p + y·d + e·q, and
        Cauchy-Schwarz bounds the last two by the lengths of their factors; rows have length 1.
        """
        if not len(codes):
            return np.empty(0, dtype=np.float32)
        import numkong

        ceilings: Vector = np.asarray(numkong.dots_packed(codes, self._packed)).reshape(-1).astype(np.float32)
        ceilings *= scales
        ceilings *= self._scale
        ceilings += errors * np.float32(self._length + self._error)
        ceilings += self._error + _ROUNDING
        return ceilings


def nearest(compartments: Sequence[VectorCompartment], vector: Vector, asked: AskedRows, pool: int) -> list[ScoredRow]:
    """The ``pool`` rows of the highest cosine and all that tie with the last of them, by score, then key.

    Raises:
        UsageError: ``pool`` is below 1.
    """
    if pool < 1:
        raise UsageError(f"a candidate pool of {pool} was asked for: ask for 1 or more")
    bounds = lengths_to_bounds([len(each.codes) for each in compartments])
    rows_asked = [asked.of(each) for each in compartments]
    ceilings = _ceilings(compartments, rows_asked, ScanQuery(vector))
    # Rows are numbered over all compartments.
    numbered = None
    if any(rows is not None for rows in rows_asked):
        numbered = np.concatenate(
            [
                np.arange(start, end) if rows is None else rows + start
                for rows, (start, end) in zip(rows_asked, pairwise(bounds.tolist()), strict=True)
            ]
        )
    if len(ceilings) <= pool:
        possible = np.arange(len(ceilings))
    else:
        likely = np.sort(np.argpartition(ceilings, len(ceilings) - pool)[len(ceilings) - pool :])
        least = _cosines(compartments, bounds, likely if numbered is None else numbered[likely], vector).min()
        possible = np.flatnonzero(ceilings >= float(least) - _ROUNDED)
    places = possible if numbered is None else numbered[possible]
    cosines = _cosines(compartments, bounds, places, vector)
    if len(places) > pool:
        # Rounding keeps the order, so that what lies further below than a rounding can move is out.
        last = np.partition(cosines, len(cosines) - pool)[len(cosines) - pool]
        kept = cosines >= last - 2 * 10.0**-_SCORE_DECIMALS
        places, cosines = places[kept], cosines[kept]
    scores = np.array([round(each, _SCORE_DECIMALS) for each in cosines.tolist()])
    if len(places) > pool:
        kept = scores >= np.partition(scores, len(scores) - pool)[len(scores) - pool]
        places, scores = places[kept], scores[kept]
    cuts = np.searchsorted(places, bounds)
    keys = [
        key
        for number, each in enumerate(compartments)
        for key in each.row_keys_of(places[cuts[number] : cuts[number + 1]] - bounds[number])
    ]
    return sorted(map(ScoredRow, keys, scores.tolist()), key=lambda row: (-row.score, row.row_key))


def _ceilings(
    compartments: Sequence[VectorCompartment], rows_asked: Sequence[Integers | None], query: ScanQuery
) -> Vector:
    """The ceilings of the rows asked for, compartment by compartment."""
    # What one task reads: a part of a large compartment, or several small ones.
    tasks: list[list[tuple[Codes, Vector, Vector]]] = [[]]
    rows_in_last = 0
    for each, rows in zip(compartments, rows_asked, strict=True):
        count = len(each.codes) if rows is None else len(rows)
        for start in range(0, count, _TASK_ROWS):
            part = slice(start, start + _TASK_ROWS) if rows is None else rows[start : start + _TASK_ROWS]
            if rows_in_last >= _TASK_ROWS:
                tasks.append([])
                rows_in_last = 0
            tasks[-1].append((each.codes[part], each.scales[part], each.errors[part]))
            rows_in_last += min(_TASK_ROWS, count - start)

    def ceilings(task: list[tuple[Codes, Vector, Vector]]) -> list[Vector]:
        return [query.ceilings(*each) for each in task]

    # A core reads memory slower than a scan computes, and two read it faster than one.
    done = map(ceilings, tasks) if len(tasks) == 1 else _workers().map(ceilings, tasks)
    return np.concatenate([np.empty(0, dtype=np.float32), *(part for each in done for part in each)])


@lru_cache(maxsize=1)
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="scan")


def _cosines(compartments: Sequence[VectorCompartment], bounds: Integers, places: Integers, query: Vector) -> Floats:
    """The cosines of rows, which are numbered over all compartments and ascend, in float64."""
    wanted = np.asarray(query, dtype=np.float64)
    length = np.sqrt((wanted * wanted).sum())
    cuts = np.searchsorted(places, bounds)
    cosines = np.empty(len(places))
    for number, each in enumerate(compartments):
        start, end = cuts[number], cuts[number + 1]
        if start < end:
            matrix = each.matrix[places[start:end] - bounds[number]].astype(np.float64)
            # Summed row by row: a matrix product's last bits depend on how many rows stand beside one.
            lengths = np.sqrt((matrix * matrix).sum(axis=1))
            matrix *= wanted
            cosines[start:end] = matrix.sum(axis=1) / (lengths * length)
    return cosines
