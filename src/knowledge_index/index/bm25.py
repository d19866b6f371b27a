"""Exact BM25 over some segments as if their rows were all there is.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", Foundations and Trends in
Information Retrieval 3(4), 2009, with the idf of Lucene, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.
Lengths are exact. A score is a function of the row and of the counts over the rows given; nothing else enters.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index.analysis import QueryTerms, storable
from knowledge_index.index.arrays import Floats, Integers, Mask, ShortIntegers
from knowledge_index.index.base import (
    NO_EXPANSION,
    NO_GERMAN,
    Expansion,
    GermanWeights,
    ProfileMatches,
    ScoredRow,
)
from knowledge_index.index.segment import (
    Segment,
    german_key_hash,
    german_part_hash,
    identifier_hash,
    slices,
    word_hash,
)

_K1 = 1.2
_B = 0.75
_MAX_QUERY_TERMS = 256
_PHRASE_TOKENS = range(2, 13)
_PHRASE_BOOST = 2.0
_SCORE_DECIMALS = 9
# What stands before the German terms among a profile's; no term of the text holds a colon.
GERMAN_KEY = "german word:"
GERMAN_PART = "german part:"


class _Way(NamedTuple):
    """One way in which rows hold a word of the query: the place of the term that was looked up, and what it counts."""

    place: int
    idf: float
    weight: float
    is_typed: bool


class PooledSegments:
    """The rows that one search ranks; counts are summed over them, without the rows that ``excluded`` names."""

    def __init__(self, segments: Sequence[Segment], excluded: Collection[str]) -> None:
        self._segments = segments
        self._live = [_live_rows(each, excluded) for each in segments]
        self._lengths = [np.diff(each.word_bounds) for each in segments]
        self._row_count = sum(
            each.row_count if live is None else int(live.sum()) for each, live in zip(segments, self._live, strict=True)
        )
        word_count = sum(
            int(lengths.sum() if live is None else lengths[live].sum())
            for lengths, live in zip(self._lengths, self._live, strict=True)
        )
        self._mean_length = max(1.0, word_count / max(1, self._row_count))

    def search_text(
        self, terms: QueryTerms, filters: SearchFilters, pool: int, expansion: Expansion = NO_EXPANSION
    ) -> list[ScoredRow]:
        """BM25 over the distinct words, of a word's spellings the best; a short wording counts as a term of its own."""
        wanted = {
            ("word", term): word_hash(term)
            for terms_of_one in (*terms.alternatives, *expansion.alternatives, terms.wording)
            for term in terms_of_one
        }
        german_keys = {key for keys in terms.german_keys for key in keys} | set(terms.german_parts)
        if expansion.german != NO_GERMAN:
            wanted |= {("key", key): german_key_hash(key) for key in german_keys}
        if expansion.german.part:
            wanted |= {("part", key): german_part_hash(key) for key in german_keys}
        places, counts_of = self._looked_up(list(wanted.values()))
        place_of = {name: number for number, name in enumerate(wanted)}
        frequency_of = {name: counts_of[number] for name, number in place_of.items() if counts_of[number]}

        def spelled(spellings: Iterable[str], weight: float) -> list[_Way]:
            names = [("word", term) for term in spellings if ("word", term) in frequency_of]
            return [_Way(place_of[name], self._idf(frequency_of[name]), weight, weight > 0) for name in names]

        groups = []
        for spellings, keys in zip(terms.alternatives, terms.german_keys, strict=True):
            as_typed = max(frequency_of.get(("word", term), 0) for term in spellings)
            ways = [
                *spelled(spellings, 1.0),
                *self._german_ways(keys, expansion.german, as_typed, frequency_of, place_of),
            ]
            if ways:
                frequency = sum(frequency_of.get(("word", term), 0) for term in spellings)
                groups.append((frequency, spellings, ways))
        parts = terms.german_parts if expansion.german.part else ()
        if len(groups) > _MAX_QUERY_TERMS:
            # A whole document was pasted: its rarest words say what it is, and need no help of their parts.
            groups = sorted(groups, key=lambda group: group[:2])[:_MAX_QUERY_TERMS]
            parts = ()
        asked = [ways for _, _, ways in groups]
        asked += [spelled(spellings, expansion.weight) for spellings in expansion.alternatives]
        of_a_part = GermanWeights(form=expansion.german.part, part=expansion.german.part)
        asked += [self._german_ways((part,), of_a_part, 0, frequency_of, place_of) for part in parts]
        wording = [place_of["word", term] for term in terms.wording]
        is_phrase = len(wording) in _PHRASE_TOKENS and all(counts_of[each] for each in wording)
        phrase_weight = _PHRASE_BOOST * sum(self._idf(counts_of[each]) for each in wording) if is_phrase else 0.0
        scores = []
        wordings = []
        for number, segment in enumerate(self._segments):
            total = np.zeros(segment.row_count)
            holding = np.zeros(segment.row_count, dtype=np.bool_)
            norm = _K1 * (1 - _B + _B * self._lengths[number] / self._mean_length)
            for ways in asked:
                # Of several spellings and forms the best counts, as if they were one word.
                found = [(way, places[number][way.place]) for way in ways if places[number][way.place] >= 0]
                best = np.zeros(segment.row_count) if len(found) > 1 else total
                for way, place in found:
                    rows, counts = _postings(segment, place)
                    counted = way.weight * (way.idf * (_K1 + 1) * counts / (counts + norm[rows]))
                    if best is total:
                        total[rows] += counted
                    else:
                        best[rows] = np.maximum(best[rows], counted)
                    if way.is_typed and len(wording) == 1:
                        holding[rows] = True
                if best is not total:
                    total += best
            if is_phrase and all(places[number][each] >= 0 for each in wording):
                holders, times = _phrase_counts(segment, [int(places[number][each]) for each in wording])
                total[holders] += phrase_weight * (_K1 + 1) * times / (times + norm[holders])
                holding[holders] = True
            scores.append(total)
            wordings.append(holding)
        return self._best(scores, filters, pool, wordings)

    def _german_ways(
        self,
        keys: Sequence[str],
        weights: GermanWeights,
        as_typed: int,
        frequency_of: Mapping[tuple[str, str], int],
        place_of: Mapping[tuple[str, str], int],
    ) -> list["_Way"]:
        """How rows may hold a word otherwise than typed: in another form, as part of a compound.

        ``as_typed`` is how many rows hold it as it was typed. Neither way has a larger idf than the way before it, so
        that a whole word weighs more than a form of it, and a form more than a part.
        """
        ways = []
        for key in keys:
            holders = as_typed
            for kind, weight in (("key", weights.form), ("part", weights.part)):
                name = (kind, key)
                if name in frequency_of:
                    holders = max(holders, frequency_of[name])
                    if weight:
                        ways.append(_Way(place_of[name], self._idf(holders), weight, False))
        return ways

    def search_identifiers(self, identifiers: Collection[str], filters: SearchFilters, pool: int) -> list[ScoredRow]:
        """A row's score is the sum of the idf of its identifiers among those asked for."""
        wanted = sorted({storable(each) for each in identifiers})
        places, frequencies = self._looked_up([identifier_hash(each) for each in wanted])
        scores = []
        for number, segment in enumerate(self._segments):
            total = np.zeros(segment.row_count)
            for each, place in enumerate(places[number]):
                if place >= 0 and frequencies[each]:
                    total[_postings(segment, place)[0]] += self._idf(frequencies[each])
            scores.append(total)
        return self._best(scores, filters, pool)

    def search_profiles(
        self,
        terms: QueryTerms,
        fields: Sequence[tuple[str, float]],
        filters: SearchFilters,
        pool: int,
        german: GermanWeights,
    ) -> ProfileMatches:
        """A row's score is the sum, over the query's words, of the word's idf times the weight of its best field.

        ``fields`` are prefixes of the rows' identifiers with their weights; the last is of the field that holds every
        word of the document, and gives the idf.
        """
        # For each word of the query: the terms that rows may hold it by, and what each counts.
        words: list[tuple[tuple[str, ...], list[tuple[str, float]]]] = []
        for spellings, keys in zip(terms.alternatives, terms.german_keys, strict=True):
            ways = [(term, 1.0) for term in spellings]
            ways += [(f"{GERMAN_KEY}{key}", german.form) for key in keys if german.form]
            ways += [(f"{GERMAN_PART}{key}", german.part) for key in keys if german.part]
            words.append((spellings, ways))
        for key in terms.german_parts if german.part else ():
            words.append(((), [(f"{marker}{key}", german.part) for marker in (GERMAN_KEY, GERMAN_PART)]))
        known = sorted({term for _, ways in words for term, _ in ways})
        names = [f"{prefix}{term}" for prefix, _ in fields for term in known]
        place_of = {name: number for number, name in enumerate(names)}
        places, frequencies = self._looked_up([identifier_hash(name) for name in names])
        everywhere, _ = fields[-1]
        held_by = {term: frequencies[place_of[f"{everywhere}{term}"]] for term in known}
        scores = []
        for number, segment in enumerate(self._segments):
            total = np.zeros(segment.row_count)
            for spellings, ways in words:
                best = np.zeros(segment.row_count)
                holders = max((held_by[term] for term in spellings), default=0)
                for term, share in ways:
                    # A form or a part is as rare as the word at most, so that it never weighs more.
                    holders = max(holders, held_by[term])
                    for prefix, weight in fields if holders else ():
                        place = places[number][place_of[f"{prefix}{term}"]]
                        if weight and place >= 0:
                            rows, _ = _postings(segment, place)
                            best[rows] = np.maximum(best[rows], weight * share * self._idf(holders))
                total += best
            scores.append(total)
        typed = {term for spellings in terms.alternatives for term in spellings}
        shares = {term: held_by[term] / max(1, self._row_count) for term in typed}
        return ProfileMatches(tuple(self._best(scores, filters, pool)), shares, self._row_count)

    def _looked_up(self, hashes: Sequence[int]) -> tuple[list[Integers], list[int]]:
        """Where each term stands in each segment, and in how many rows of all it occurs."""
        wanted = np.array(hashes, dtype=np.uint64)
        frequencies = np.zeros(len(wanted), dtype=np.int64)
        places = []
        for segment, live in zip(self._segments, self._live, strict=True):
            found = segment.places(wanted)
            places.append(found)
            present = np.flatnonzero(found >= 0)
            if live is None:
                frequencies[present] += segment.bounds[found[present] + 1] - segment.bounds[found[present]]
            else:
                for each in present:
                    frequencies[each] += int(live[_postings(segment, found[each])[0]].sum())
        return places, frequencies.tolist()

    def _idf(self, frequency: int) -> float:
        return math.log(1 + (self._row_count - frequency + 0.5) / (frequency + 0.5))

    def _best(
        self, scores: Sequence[Floats], filters: SearchFilters, pool: int, wordings: Sequence[Mask] | None = None
    ) -> list[ScoredRow]:
        """The best ``pool`` rows and all that tie with the last of them, by score, then key."""
        if pool < 1:
            raise UsageError(f"a candidate pool of {pool} was asked for: ask for 1 or more")
        matters = {storable(each) for each in filters.matter_refs}
        candidates = []
        for number, (segment, live, total) in enumerate(zip(self._segments, self._live, scores, strict=True)):
            if live is not None:
                total[~live] = 0.0
            if matters:
                total[~np.array([each in matters for each in segment.matter_refs()])[segment.matter_of]] = 0.0
            if filters.only_row_keys is not None:
                wanted = [segment.row_of_key[key] for key in filters.only_row_keys if key in segment.row_of_key]
                kept_total = np.zeros_like(total)
                kept_total[wanted] = total[wanted]
                total = kept_total
            found = np.flatnonzero(total)
            values = np.round(total[found], _SCORE_DECIMALS)
            if len(found) > pool:
                kept = values >= np.partition(values, len(values) - pool)[len(values) - pool]
                found, values = found[kept], values[kept]
            holding = np.zeros(len(found), dtype=np.bool_) if wordings is None else wordings[number][found]
            candidates.append((segment, found, values, holding))
        everything = np.concatenate([values for _, _, values, _ in candidates]) if candidates else np.zeros(0)
        if len(everything) > pool:
            boundary = np.partition(everything, len(everything) - pool)[len(everything) - pool]
        else:
            boundary = 0.0
        best = [
            ScoredRow(segment.row_key(row), value, holds)
            for segment, found, values, holding in candidates
            for row, value, holds in zip(found.tolist(), values.tolist(), holding.tolist(), strict=True)
            if value >= boundary
        ]
        return sorted(best, key=lambda row: (-row.score, row.row_key))


def _live_rows(segment: Segment, excluded: Collection[str]) -> Mask | None:
    """Which rows count, or None where all do."""
    if not excluded:
        return None
    gone = [segment.row_of_key[key] for key in excluded if key in segment.row_of_key]
    if not gone:
        return None
    live = np.ones(segment.row_count, dtype=np.bool_)
    live[gone] = False
    return live


def _postings(segment: Segment, place: int) -> tuple[ShortIntegers, ShortIntegers]:
    start, end = segment.bounds[place], segment.bounds[place + 1]
    return segment.rows[start:end], segment.frequencies[start:end]


def _phrase_counts(segment: Segment, wording: Sequence[int]) -> tuple[Integers, Integers]:
    """The rows that hold the terms one after the other, and how often each does."""
    rarest_first = sorted(set(wording), key=lambda place: int(segment.bounds[place + 1] - segment.bounds[place]))
    rows = _postings(segment, rarest_first[0])[0].astype(np.int64)
    for place in rarest_first[1:]:
        holding = np.zeros(segment.row_count, dtype=np.bool_)
        holding[_postings(segment, place)[0]] = True
        rows = rows[holding[rows]]
    # A phrase begins where its rarest word stands, less that word's place in it: few places to look at.
    starts = segment.word_bounds[rows]
    ends = segment.word_bounds[rows + 1]
    places = slices(starts, ends - starts)
    holders = np.repeat(np.arange(len(rows)), ends - starts)
    offset = wording.index(rarest_first[0])
    hits = np.flatnonzero(segment.words[places] == rarest_first[0])
    begins, holders = places[hits] - offset, holders[hits]
    inside = (begins >= starts[holders]) & (begins + len(wording) <= ends[holders])
    begins, holders = begins[inside], holders[inside]
    for distance, place in enumerate(wording):
        matching = segment.words[begins + distance] == place
        begins, holders = begins[matching], holders[matching]
    counts = np.bincount(holders, minlength=len(rows))
    return rows[counts > 0], counts[counts > 0]
