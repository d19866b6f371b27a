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
from knowledge_index.index.arrays import Floats, Integers, Mask
from knowledge_index.index.base import (
    NO_EXPANSION,
    NO_GERMAN,
    Expansion,
    GermanWeights,
    ProfileMatches,
    ScoredRow,
)
from knowledge_index.index.contract_words import contract_rows
from knowledge_index.index.phrases import phrase_counts
from knowledge_index.index.ranked_rows import RankedRows, RowScores, best_rows, reached
from knowledge_index.index.segment import Segment, german_key_hash, german_part_hash, identifier_hash, word_hash

_K1 = 1.2
_B = 0.75
_MAX_QUERY_TERMS = 256
_PHRASE_TOKENS = range(2, 13)
_PHRASE_BOOST = 2.0
# Below so many rows counting every word in every row costs less than telling where it need not be.
_MIN_ROWS_TO_NARROW = 5_000
_FREQUENT_SHARE = 16
# More than sums of scores differ by that are added in another order.
_UNSURE = 1e-6
_NO_ROWS = np.empty(0, dtype=np.int32)
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
        self._gone = [each.rows_of_keys(excluded) if excluded else _NO_ROWS for each in segments]
        self._row_count = sum(each.row_count - len(gone) for each, gone in zip(segments, self._gone, strict=True))
        word_count = sum(
            len(each.words) - int(each.lengths[gone].sum()) for each, gone in zip(segments, self._gone, strict=True)
        )
        self._mean_length = max(1.0, word_count / max(1, self._row_count))

    def search_text(
        self, terms: QueryTerms, filters: SearchFilters, pool: int, expansion: Expansion = NO_EXPANSION
    ) -> list[ScoredRow]:
        """BM25 over the distinct words, of a word's spellings the best; a short wording counts as a term of its own.

        How rare a word is is told by the visible rows and, beside them, by rows of contracts at large.
        """
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
        places, visible_counts = self._looked_up(list(wanted.values()))
        beside = contract_rows(terms.alternatives, expansion.contract_rows)
        counts_of = [
            count and count + (beside.holding(term) if kind == "word" else beside.holding_unlisted)
            for (kind, term), count in zip(wanted, visible_counts, strict=True)
        ]
        place_of = {name: number for number, name in enumerate(wanted)}
        frequency_of = {name: counts_of[number] for name, number in place_of.items() if counts_of[number]}

        def spelled(spellings: Iterable[str], weight: float) -> list[_Way]:
            names = [("word", term) for term in spellings if ("word", term) in frequency_of]
            return [
                _Way(place_of[name], self._idf(frequency_of[name], beside.rows), weight, weight > 0) for name in names
            ]

        groups = []
        for spellings, keys in zip(terms.alternatives, terms.german_keys, strict=True):
            as_typed = max(frequency_of.get(("word", term), 0) for term in spellings)
            ways = [
                *spelled(spellings, 1.0),
                *self._german_ways(keys, expansion.german, as_typed, beside.rows, frequency_of, place_of),
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
        asked += [self._german_ways((part,), of_a_part, 0, beside.rows, frequency_of, place_of) for part in parts]
        wording = [place_of["word", term] for term in terms.wording]
        is_phrase = len(wording) in _PHRASE_TOKENS and all(counts_of[each] for each in wording)
        phrase_weight = 0.0
        if is_phrase:
            phrase_weight = _PHRASE_BOOST * sum(self._idf(counts_of[each], beside.rows) for each in wording)
        ranked: Sequence[RankedRows] = self._ranked(filters, pool)
        phrases = [
            phrase_counts(each.segment, found[wording].tolist(), each.rows)
            if is_phrase and (found[wording] >= 0).all()
            else None
            for each, found in zip(ranked, places, strict=True)
        ]
        if all(each.rows is None for each in ranked):
            ranked = self._likely(ranked, places, asked, phrases, phrase_weight, pool)
        scored = []
        for each, found, phrase in zip(ranked, places, phrases, strict=True):
            total = np.zeros(len(each))
            holding = np.zeros(len(each), dtype=np.bool_)
            for ways in asked:
                self._add(total, each, found, ways, holding if len(wording) == 1 else None)
            if phrase is not None:
                self._add_phrase(total, each, phrase, phrase_weight, holding)
            scored.append(RowScores(each, total, holding))
        return self._best(scored, pool)

    def _norm(self, lengths: Integers) -> Floats:
        norms: Floats = np.asarray(_K1 * (1 - _B + _B * lengths / self._mean_length), dtype=np.float64)
        return norms

    def _add(
        self,
        total: Floats,
        ranked: RankedRows,
        places: Integers,
        ways: Sequence["_Way"],
        holding: Mask | None,
    ) -> None:
        """Add what a word counts in each row; of several spellings and forms the best counts, as if they were one."""
        found = [(way, places[way.place]) for way in ways if places[way.place] >= 0]
        best = np.zeros(len(total)) if len(found) > 1 else total
        for way, place in found:
            rows, counts = ranked.postings(place)
            counted = way.weight * (way.idf * (_K1 + 1) * counts / (counts + self._norm(ranked.lengths[rows])))
            if best is total:
                total[rows] += counted
            else:
                best[rows] = np.maximum(best[rows], counted)
            if way.is_typed and holding is not None:
                holding[rows] = True
        if best is not total:
            total += best

    def _add_phrase(
        self,
        total: Floats,
        ranked: RankedRows,
        phrase: tuple[Integers, Integers],
        weight: float,
        holding: Mask,
    ) -> None:
        rows, held = ranked.among(phrase[0])
        times = phrase[1][held]
        total[rows] += weight * (_K1 + 1) * times / (times + self._norm(ranked.lengths[rows]))
        holding[rows] = True

    def _likely(
        self,
        ranked: Sequence[RankedRows],
        places: Sequence[Integers],
        asked: Sequence[Sequence["_Way"]],
        phrases: Sequence[tuple[Integers, Integers] | None],
        phrase_weight: float,
        pool: int,
    ) -> Sequence[RankedRows]:
        """The rows that can be among the best ``pool``: without those that hold frequent words only.

        Turtle and Flood, "Query Evaluation: Strategies and Optimizations", Information Processing & Management 31(6),
        1995: where the rarer words alone lift ``pool`` rows above all that the frequent ones could count together, no
        row without a rarer word is among the best. Frequent words are then counted in few rows.
        """
        if self._row_count < _MIN_ROWS_TO_NARROW:
            return ranked

        def holders(ways: Sequence[_Way]) -> int:
            return sum(
                int(each.segment.bounds[found[way.place] + 1] - each.segment.bounds[found[way.place]])
                for each, found in zip(ranked, places, strict=True)
                for way in ways
                if found[way.place] >= 0
            )

        def ceiling(ways: Sequence[_Way]) -> float:
            return max((way.weight * way.idf * (_K1 + 1) for way in ways), default=0.0)

        sized = sorted(((holders(ways), number) for number, ways in enumerate(asked)), reverse=True)
        frequent = [number for size, number in sized if size * _FREQUENT_SHARE > self._row_count]
        rare = [number for _, number in sized if number not in frequent]
        highest = sum(ceiling(asked[number]) for number in rare) + phrase_weight * (_K1 + 1)
        rest = sum(ceiling(asked[number]) for number in frequent)
        totals = [np.zeros(len(each)) for each in ranked]
        if frequent:
            for each, phrase, total in zip(ranked, phrases, totals, strict=True):
                if phrase is not None:
                    self._add_phrase(total, each, phrase, phrase_weight, np.zeros(len(each), dtype=np.bool_))
        while frequent:
            least = 0.0
            if highest > rest:
                while rare:
                    number = rare.pop()
                    for each, found, total in zip(ranked, places, totals, strict=True):
                        self._add(total, each, found, asked[number], None)
                for total, gone in zip(totals, self._gone, strict=True):
                    total[gone] = 0.0
                least = reached(totals, pool) - rest - _UNSURE
            if least > 0:
                return [
                    RankedRows(each.segment, np.flatnonzero(total >= least).astype(np.int32))
                    for each, total in zip(ranked, totals, strict=True)
                ]
            number = frequent.pop()
            rare.append(number)
            highest += ceiling(asked[number])
            rest -= ceiling(asked[number])
        return ranked

    def _german_ways(
        self,
        keys: Sequence[str],
        weights: GermanWeights,
        as_typed: float,
        rows_beside: int,
        frequency_of: Mapping[tuple[str, str], float],
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
                        ways.append(_Way(place_of[name], self._idf(holders, rows_beside), weight, False))
        return ways

    def search_identifiers(self, identifiers: Collection[str], filters: SearchFilters, pool: int) -> list[ScoredRow]:
        """A row's score is the sum of the idf of its identifiers among those asked for."""
        wanted = sorted({storable(each) for each in identifiers})
        places, frequencies = self._looked_up([identifier_hash(each) for each in wanted])
        scored = []
        for ranked, found in zip(self._ranked(filters, pool), places, strict=True):
            total = np.zeros(len(ranked))
            for each, place in enumerate(found.tolist()):
                if place >= 0 and frequencies[each]:
                    total[ranked.postings(place)[0]] += self._idf(frequencies[each])
            scored.append(RowScores(ranked, total))
        return self._best(scored, pool)

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
        scored = []
        for ranked, found in zip(self._ranked(filters, pool), (each.tolist() for each in places), strict=True):
            total = np.zeros(len(ranked))
            for spellings, ways in words:
                best = np.zeros(len(ranked))
                holders = max((held_by[term] for term in spellings), default=0)
                for term, share in ways:
                    # A form or a part is as rare as the word at most, so that it never weighs more.
                    holders = max(holders, held_by[term])
                    for prefix, weight in fields if holders else ():
                        place = found[place_of[f"{prefix}{term}"]]
                        if weight and place >= 0:
                            rows, _ = ranked.postings(place)
                            best[rows] = np.maximum(best[rows], weight * share * self._idf(holders))
                total += best
            scored.append(RowScores(ranked, total))
        typed = {term for spellings in terms.alternatives for term in spellings}
        shares = {term: held_by[term] / max(1, self._row_count) for term in typed}
        return ProfileMatches(tuple(self._best(scored, pool)), shares, self._row_count)

    def _looked_up(self, hashes: Sequence[int]) -> tuple[list[Integers], list[int]]:
        """Where each term stands in each segment, and in how many rows of all it occurs."""
        wanted = np.array(hashes, dtype=np.uint64)
        frequencies = np.zeros(len(wanted), dtype=np.int64)
        places = []
        for segment, gone in zip(self._segments, self._gone, strict=True):
            found = segment.places(wanted)
            places.append(found)
            present = np.flatnonzero(found >= 0)
            frequencies[present] += segment.bounds[found[present] + 1] - segment.bounds[found[present]]
            if len(gone):
                excluded = RankedRows(segment, gone)
                for each in present.tolist():
                    frequencies[each] -= len(excluded.postings(found[each])[0])
        return places, frequencies.tolist()

    def _idf(self, frequency: float, rows_beside: int = 0) -> float:
        """Of a term in ``frequency`` of all rows; ``rows_beside`` are counted with the visible ones, in both."""
        return math.log(1 + (self._row_count + rows_beside - frequency + 0.5) / (frequency + 0.5))

    def _ranked(self, filters: SearchFilters, pool: int) -> list[RankedRows]:
        """The rows that the filters leave, of each segment."""
        if pool < 1:
            raise UsageError(f"a candidate pool of {pool} was asked for: ask for 1 or more")
        matters = {storable(each) for each in filters.matter_refs}
        ranked = []
        for segment, gone in zip(self._segments, self._gone, strict=True):
            rows = segment.rows_of(matters) if matters else None
            if filters.only_row_keys is not None:
                only = segment.rows_of_keys(filters.only_row_keys)
                rows = only if rows is None else np.intersect1d(rows, only, assume_unique=True)
            if rows is not None and len(gone):
                rows = np.setdiff1d(rows, gone, assume_unique=True)
            ranked.append(RankedRows(segment, rows))
        return ranked

    def _best(self, scored: Sequence[RowScores], pool: int) -> list[ScoredRow]:
        for (ranked, scores, _), gone in zip(scored, self._gone, strict=True):
            if len(gone):
                scores[ranked.among(gone)[0]] = 0.0
        return best_rows(scored, pool)
