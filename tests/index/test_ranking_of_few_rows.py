"""What is left out of the computation, or put together before it, changes no bit of a result."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from brute_force_index import cut
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_index.domain.languages import Language
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import LexicalRow, ScoredRow, bm25, phrases
from knowledge_index.index.analysis import query_terms
from knowledge_index.index.base import Expansion, GermanWeights
from knowledge_index.index.bm25 import PooledSegments
from knowledge_index.index.phrases import phrase_counts
from knowledge_index.index.segment import Segment, build_segment, merge_segments, word_hash

# No analysis changes them. The first stand in nearly every row, the last in hardly any.
WORDS = ["lot", "rent", "bond", "harbour", "dock", "lamp", "zinc", "quartz"]
ROWS = 240
EVERYTHING = 1_000_000
NO_FILTER = SearchFilters()
EXPANSION = Expansion((("lamp", "dock"), ("bond",)), 0.3, GermanWeights(0.5, 0.25))

queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
seeds = st.integers(0, 2**32)
cuts = st.sets(st.integers(1, ROWS - 1), max_size=6)


def rows_of(seed: int) -> list[LexicalRow]:
    chosen = random.Random(seed)
    weights = [3.0**-place for place in range(len(WORDS))]
    rows = []
    for number in range(ROWS):
        words = chosen.choices(WORDS, weights, k=chosen.randrange(1, 14))
        identifiers = tuple(f"file:{each}" for each in chosen.sample(range(6), 2))
        profile = tuple(
            f"{field}:{word}" for field in ("names", "text") for word in words[: 3 if field == "names" else 9]
        )
        language = chosen.choice((Language.GERMAN, Language.ENGLISH))
        matter = f"M-{chosen.randrange(3)}"
        rows.append(LexicalRow(f"k-{number}", "a", matter, " ".join(words), (*identifiers, *profile), language))
    return rows


def segments_of(rows: list[LexicalRow], places: set[int]) -> list[Segment]:
    return [build_segment(rows[start:end]) for start, end in pairwise([0, *sorted(places), len(rows)])]


def answers(pooled: PooledSegments, query: str, filters: SearchFilters, pool: int) -> dict[str, list[ScoredRow]]:
    terms = query_terms(query)
    fields = (("names:", 1.0), ("text:", 0.4))
    profiles = pooled.search_profiles(terms, fields, filters, pool, GermanWeights(0.5, 0.25))
    return {
        "words": pooled.search_text(terms, filters, pool),
        "expanded": pooled.search_text(terms, filters, pool, EXPANSION),
        "identifiers": pooled.search_identifiers(["file:1", "file:2"], filters, pool),
        "profiles": list(profiles.rows),
    }


@settings(max_examples=40, deadline=None)
@given(seed=seeds, places=cuts, query=queries, pool=st.sampled_from([1, 5, 40]))
def test_segments_answer_alike_merged_and_apart(seed, places, query, pool):
    rows = rows_of(seed)
    apart = segments_of(rows, places)
    filters = SearchFilters(excluded_row_keys=frozenset(each.row_key for each in rows[::9]))
    for narrowing in (filters, replace(filters, matter_refs=frozenset({"M-1"}))):
        expected = answers(PooledSegments([build_segment(rows)], filters.excluded_row_keys), query, narrowing, pool)
        assert answers(PooledSegments(apart, filters.excluded_row_keys), query, narrowing, pool) == expected
        merged = PooledSegments([merge_segments(apart)], filters.excluded_row_keys)
        assert answers(merged, query, narrowing, pool) == expected


@settings(max_examples=80, deadline=None)
@given(seed=seeds, places=cuts, query=queries, pool=st.integers(1, 60), share=st.sampled_from([2, 16, 1000]))
def test_the_best_are_those_of_all_that_are_found(seed, places, query, pool, share):
    """Where every row may be found none is left out of the computation, so that this tells what cutting changes."""
    rows = rows_of(seed)
    gone = frozenset(each.row_key for each in rows[5:9])
    pooled = PooledSegments(segments_of(rows, places), gone)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "_MIN_ROWS_TO_NARROW", 0)
        patch.setattr(bm25, "_FREQUENT_SHARE", share)
        everything = answers(pooled, query, NO_FILTER, EVERYTHING)
        found = answers(pooled, query, NO_FILTER, pool)
    assert found == {leg: cut(ranked, pool) for leg, ranked in everything.items()}
    assert not any(each.row_key in gone for ranked in everything.values() for each in ranked)


def test_rows_of_frequent_words_alone_are_left_out(monkeypatch):
    rows = [LexicalRow(f"k-{number}", "a", "M-1", f"lot rent {number}", ()) for number in range(400)]
    rows += [LexicalRow(f"rare-{number}", "a", "M-1", "zinc quartz", ()) for number in range(3)]
    monkeypatch.setattr(bm25, "_MIN_ROWS_TO_NARROW", 0)
    ranked_sizes = []
    best_rows = bm25.best_rows
    monkeypatch.setattr(
        bm25, "best_rows", lambda scored, pool: [ranked_sizes.append(len(scored[0].scores)), best_rows(scored, pool)][1]
    )
    found = PooledSegments([build_segment(rows)], ()).search_text(query_terms("lot zinc quartz rent"), NO_FILTER, 3)
    assert {each.row_key for each in found} == {"rare-0", "rare-1", "rare-2"}
    assert ranked_sizes == [3]


@settings(max_examples=40, deadline=None)
@given(seed=seeds, places=cuts, query=queries, data=st.data())
def test_a_narrowed_search_finds_those_of_all_that_are_asked_for(seed, places, query, data):
    rows = rows_of(seed)
    pooled = PooledSegments(segments_of(rows, places), ())
    only = data.draw(st.sets(st.sampled_from([*(each.row_key for each in rows), "no row"])))
    matters = data.draw(st.sets(st.sampled_from(["M-0", "M-1", "M-none"]), min_size=1))
    matter_of = {each.row_key: each.matter_ref for each in rows}
    everything = answers(pooled, query, NO_FILTER, EVERYTHING)
    for filters, is_asked_for in (
        (SearchFilters(only_row_keys=frozenset(only)), lambda key: key in only),
        (SearchFilters(matter_refs=frozenset(matters)), lambda key: matter_of[key] in matters),
        (
            SearchFilters(matter_refs=frozenset(matters), only_row_keys=frozenset(only)),
            lambda key: key in only and matter_of[key] in matters,
        ),
    ):
        expected = {leg: [row for row in found if is_asked_for(row.row_key)] for leg, found in everything.items()}
        assert answers(pooled, query, filters, EVERYTHING) == expected
        assert answers(pooled, query, filters, 4) == {leg: cut(found, 4) for leg, found in expected.items()}


@pytest.mark.parametrize("costs", [0, 1_000_000], ids=["gathered", "marks read"])
@settings(max_examples=60, deadline=None)
@given(seed=seeds, places=cuts, wording=st.lists(st.sampled_from(WORDS[:4]), min_size=2, max_size=4))
def test_a_wording_is_counted_where_it_stands(costs, seed, places, wording):
    rows = rows_of(seed)
    counted = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrases, "_GATHERING_COSTS", costs)
        for segment in segments_of(rows, places):
            terms = segment.terms.tolist()
            hashes = [word_hash(word) for word in wording]
            if all(each in terms for each in hashes):
                found, times = phrase_counts(segment, [terms.index(each) for each in hashes])
                assert found.tolist() == sorted(found.tolist())
                counted |= dict(zip(segment.row_keys_of(found), times.tolist(), strict=True))
    expected = {}
    for row in rows:
        words = row.text.split()
        times = sum(words[start : start + len(wording)] == wording for start in range(len(words)))
        if times:
            expected[row.row_key] = times
    assert counted == expected
