"""Where terms stand one after the other, in the order of a wording."""

from collections.abc import Sequence

import numpy as np

from knowledge_index.index.arrays import Integers, ShortIntegers
from knowledge_index.index.segment import Segment, slices

# Gathering the words of some rows costs about this many times what reading as many words in a row does.
_GATHERING_COSTS = 6


def phrase_counts(segment: Segment, wording: Sequence[int]) -> tuple[Integers, Integers]:
    """The rows, ascending, that hold the terms one after the other, and how often each does.

    ``wording`` are places in the segment's terms, at least one.
    """
    rarest_first = sorted(set(wording), key=lambda place: int(segment.bounds[place + 1] - segment.bounds[place]))
    rows = segment.postings(rarest_first[0])[0]
    for place in rarest_first[1:]:
        rows = _common(rows, segment.postings(place)[0])
        if not len(rows):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    # A phrase begins where its rarest word stands, less that word's place in it: few places to look at.
    offset = wording.index(rarest_first[0])
    begins = _positions(segment, rows, rarest_first[0]) - offset
    begins = begins[(begins >= 0) & (begins + len(wording) <= len(segment.words))]
    for place in rarest_first:
        for distance in (number for number, each in enumerate(wording) if each == place):
            if distance != offset:
                begins = begins[segment.words[begins + distance] == place]
    holders = np.searchsorted(segment.word_bounds, begins, side="right") - 1
    holders = holders[begins + len(wording) <= segment.word_bounds[holders + 1]]
    found, counts = np.unique(holders, return_counts=True)
    return found, counts


def _positions(segment: Segment, rows: ShortIntegers, place: int) -> Integers:
    """Where among the segment's words a term stands, ascending, at least within ``rows``."""
    starts = segment.word_bounds[rows]
    lengths = segment.word_bounds[rows + 1] - starts
    if int(lengths.sum()) * _GATHERING_COSTS > len(segment.words):
        return np.flatnonzero(segment.words == place)
    places = slices(starts, lengths)
    found: Integers = places[segment.words[places] == place]
    return found


def _common(fewer: ShortIntegers, more: ShortIntegers) -> ShortIntegers:
    """The rows, ascending, that are in both; both ascend."""
    if not len(more):
        return more
    found = np.searchsorted(more, fewer)
    found[found == len(more)] = 0
    common: ShortIntegers = fewer[more[found] == fewer]
    return common
