"""Where terms stand one after the other, in the order of a wording."""

from collections.abc import Sequence

import numpy as np

from knowledge_index.index.arrays import Integers, ShortIntegers
from knowledge_index.index.segment import WORD_MARKS, Segment, slices

# Gathering the words of some rows costs about this many times what reading the marks of as many in a row does.
_GATHERING_COSTS = 20
# Marks are read in pieces that stay in a core's cache.
_PIECE_WORDS = 1 << 18
_SCATTERED_SHARE = 32


def phrase_counts(
    segment: Segment, wording: Sequence[int], among: ShortIntegers | None = None
) -> tuple[Integers, Integers]:
    """The rows, ascending, that hold the terms one after the other, and how often each does.

    ``wording`` are places in the segment's terms, at least one. Only rows of ``among``, which ascend, need be found.
    """
    rarest_first = sorted(set(wording), key=lambda place: int(segment.bounds[place + 1] - segment.bounds[place]))
    rows = segment.postings(rarest_first[0])[0]
    if among is not None:
        rows = _common(segment, *sorted((rows, among), key=len))
    for place in rarest_first[1:]:
        rows = _common(segment, rows, segment.postings(place)[0])
    if not len(rows):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    starts = segment.word_bounds[rows]
    lengths = segment.word_bounds[rows + 1] - starts
    if int(lengths.sum()) * _GATHERING_COSTS > len(segment.words):
        begins = _marked(segment, wording, rarest_first[:2])
    else:
        # A phrase begins where its rarest word stands, less that word's place in it: few places to look at.
        places = slices(starts, lengths)
        offset = wording.index(rarest_first[0])
        begins = places[segment.words[places] == rarest_first[0]] - offset
        begins = begins[(begins >= 0) & (begins + len(wording) <= len(segment.words))]
    for distance, place in enumerate(wording):
        begins = begins[segment.words[begins + distance] == place]
    holders = np.searchsorted(segment.word_bounds, begins, side="right") - 1
    holders = holders[begins + len(wording) <= segment.word_bounds[holders + 1]]
    found, counts = np.unique(holders, return_counts=True)
    return found, counts


def _marked(segment: Segment, wording: Sequence[int], rarest: Sequence[int]) -> Integers:
    """Where a wording may begin by the marks of its ``rarest`` terms, ascending; in most places it does not."""
    first, *others = [(wording.index(place), place % WORD_MARKS) for place in rarest]
    last = len(segment.words) - len(wording) + 1
    found = [np.empty(0, dtype=np.int64)]
    for start in range(0, last, _PIECE_WORDS):
        end = min(start + _PIECE_WORDS, last)
        alike = segment.word_marks[start + first[0] : end + first[0]] == first[1]
        for distance, mark in others:
            alike &= segment.word_marks[start + distance : end + distance] == mark
        found.append(np.flatnonzero(alike) + start)
    return np.concatenate(found)


def _common(segment: Segment, fewer: ShortIntegers, more: ShortIntegers) -> ShortIntegers:
    """The rows, ascending, that are in both; both ascend."""
    if not len(fewer) or not len(more):
        return fewer[:0]
    if len(fewer) * _SCATTERED_SHARE > segment.row_count:
        holding = np.zeros(segment.row_count, dtype=np.bool_)
        holding[more] = True
        held = holding[fewer]
    else:
        nearest = np.searchsorted(more, fewer)
        nearest[nearest == len(more)] = 0
        held = more[nearest] == fewer
    common: ShortIntegers = fewer[held]
    return common
