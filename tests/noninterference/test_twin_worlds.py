"""Noninterference: what lies or lay behind a wall changes no byte of an answer; and a test of that test."""

import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_worlds import (
    INSIDER,
    MATTERS,
    Request,
    World,
    answer,
    differences,
    requests_for,
    twin_worlds,
)

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index.base import Expansion, GermanWeights, ScoredRow
from knowledge_index.retrieval.hit_ids import parse_hit_id

COMPARISONS_A_PAIR = 170


def compare_one_pair(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder, twin_worlds(Path(folder), seed) as (plain, eventful, hidden_ids):
        requests = requests_for(plain, hidden_ids, random.Random(seed), COMPARISONS_A_PAIR)
        assert differences(plain, eventful, requests) == []


@settings(max_examples=6, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_hidden_changes_no_byte(seed: int) -> None:
    compare_one_pair(seed)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(2**32, 2**33))
def test_what_is_hidden_changes_no_byte_in_ten_thousand_comparisons(seed: int) -> None:
    compare_one_pair(seed)


Pair = tuple[World, World, list[Request]]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Pair]]:
    """Pairs on which the harness has to see what is planted."""
    with ExitStack() as stack:
        made = []
        for seed in (11, 12, 13):
            folder = tmp_path_factory.mktemp(f"pair-{seed}")
            one, other, hidden_ids = stack.enter_context(twin_worlds(folder, seed))
            made.append((one, other, requests_for(one, hidden_ids, random.Random(seed), 45)))
        yield made


@dataclass(frozen=True)
class LeakyIndex:
    """An index, lexical or of vectors, whose searches are spoilt; everything else is the index's own."""

    index: Any
    spoil: Callable[..., list[ScoredRow]]

    def search_text(
        self, query: str, scope: Scope, filters: SearchFilters, pool: int, expansion: Expansion
    ) -> list[ScoredRow]:
        return self.spoil(self.index.search_text, query, scope, filters, pool)

    def search_identifiers(self, terms: Any, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        return list(self.index.search_identifiers(terms, scope, filters, pool))

    def search(
        self, asked: Any, scope: Scope, filters: SearchFilters, pool: int, *weights: GermanWeights
    ) -> list[ScoredRow]:
        """Of vectors, and with ``weights`` of profiles."""
        return self.spoil(lambda *given: self.index.search(*given, *weights), asked, scope, filters, pool)


def everything_in(world: World) -> Scope:
    with world.service.catalog.transaction() as session:
        return Scope(frozenset(), frozenset(each.id for each in session.acl_classes.in_use()), 0)


def rows_in_sql(world: World, statement: str, *parameters: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world.firm.home.catalog_file)) as connection:
        return connection.execute(statement, parameters).fetchall()


def global_idf(world: World, request: Request) -> bytes:
    def spoil(search, query, scope, filters, pool):  # type: ignore[no-untyped-def]
        mine = {row.row_key for row in search(query, scope, filters, 10**6)}
        rows = search(query, everything_in(world), replace(filters, excluded_row_keys=frozenset()), 10**6)
        return [row for row in rows if row.row_key in mine]

    return answer(World(world.firm, replace(world.service, lexical=LeakyIndex(world.service.lexical, spoil))), request)


def share_of_all_documents(world: World, request: Request) -> bytes:
    """How common a word is, is counted over every document: it decides what names a paper."""

    def spoil(search, query, scope, filters, pool):  # type: ignore[no-untyped-def]
        counted = search(query, everything_in(world), replace(filters, excluded_row_keys=frozenset()), pool)
        return replace(search(query, scope, filters, pool), share_of=counted.share_of, documents=counted.documents)

    profiles: Any = LeakyIndex(world.service.profiles, spoil)
    return answer(World(world.firm, replace(world.service, profiles=profiles)), request)


def rank_of_all_documents(world: World, request: Request) -> bytes:
    """The documents' own scores come from counts over every document."""

    def spoil(search, query, scope, filters, pool):  # type: ignore[no-untyped-def]
        mine = search(query, scope, filters, 10**6)
        counted = search(query, everything_in(world), replace(filters, excluded_row_keys=frozenset()), 10**6)
        visible = {row.row_key for row in mine.rows}
        return replace(mine, rows=tuple(row for row in counted.rows if row.row_key in visible))

    profiles: Any = LeakyIndex(world.service.profiles, spoil)
    return answer(World(world.firm, replace(world.service, profiles=profiles)), request)


def explanation_of_another(world: World, request: Request) -> bytes:
    """What was recognised is told as it was found before the catalog and the scope had their say."""
    result = answer(world, request)
    if request.kind != "search" or not request.text.strip():
        return result
    return (
        result + repr(world.service.profiles.search(request.text, everything_in(world), SearchFilters(), 10)).encode()
    )


def count(world: World, request: Request) -> bytes:
    found = world.service.lexical.search_text(request.text, everything_in(world), SearchFilters(), 10**6)
    return answer(world, request) + f" of {len(found)}".encode()


def sequential_id(world: World, request: Request) -> bytes:
    text = answer(world, request)
    for number, path in rows_in_sql(world, "SELECT id, path FROM source_object WHERE state = 'current'"):
        text = text.replace(path.encode(), f"{number}".encode())
    return text


def shared_cache(world: World, request: Request) -> bytes:
    """A cache whose key lacks the caller: someone else asked before."""
    return answer(world, replace(request, caller=INSIDER)) if request.kind == "search" else answer(world, request)


def tie_by_insertion(world: World, request: Request) -> bytes:
    """Passages that the words alone cannot tell apart, in the order in which they came."""
    if request.kind != "search":
        return answer(world, request)
    numbers = {path: number for number, path in rows_in_sql(world, "SELECT id, path FROM source_object")}
    text = answer(world, request).decode()
    shown = sorted((path for path in numbers if repr(path) in text), key=lambda path: numbers[path])
    return "\n".join(shown).encode()


def snippet(world: World, request: Request) -> bytes:
    words = request.text.split() or [""]
    text = rows_in_sql(world, "SELECT min(text) FROM converted_document WHERE text LIKE ?", f"%{words[0]}%")
    return answer(world, request) + repr(text).encode()


def error_text(world: World, request: Request) -> bytes:
    parts = parse_hit_id(request.text) if request.kind == "show" else None
    known = parts and rows_in_sql(world, "SELECT 1 FROM source_object WHERE object_key = ?", parts.object_key)
    return answer(world, request) + (b" forbidden" if known else b" missing")


def approximate_index(world: World, request: Request) -> bytes:
    """Only the nearer of two halves is looked at, and where they part was learned from all rows."""

    def spoil(search, vector, scope, filters, pool):  # type: ignore[no-untyped-def]
        rows = search(vector, everything_in(world), SearchFilters(), 10**6)
        middle = float(np.median([row.score for row in rows])) if rows else 0.0
        return [row for row in search(vector, scope, filters, pool) if row.score >= middle]

    return answer(World(world.firm, replace(world.service, vectors=LeakyIndex(world.service.vectors, spoil))), request)


def stale_statistics(world: World, request: Request) -> bytes:
    def spoil(search, query, scope, filters, pool):  # type: ignore[no-untyped-def]
        return search(query, scope, replace(filters, excluded_row_keys=frozenset()), pool)

    return answer(World(world.firm, replace(world.service, lexical=LeakyIndex(world.service.lexical, spoil))), request)


def facet(world: World, request: Request) -> bytes:
    counts = [
        rows_in_sql(world, "SELECT count(*) FROM source_object WHERE path LIKE ?", f"{each}%") for each in MATTERS
    ]
    return answer(world, request) + repr(counts).encode()


LEAKS = [
    *(global_idf, count, sequential_id, shared_cache, tie_by_insertion),
    *(snippet, error_text, approximate_index, stale_statistics, facet),
    *(share_of_all_documents, rank_of_all_documents, explanation_of_another),
]


def test_the_pairs_differ_in_nothing_before_a_leak_is_planted(pairs: list[Pair]) -> None:
    assert [differences(one, other, requests) for one, other, requests in pairs] == [[], [], []]
    found = [answer(one, each) for one, _, requests in pairs for each in requests if each.kind == "search"]
    assert sum(b"SearchHit(" in each for each in found) > len(found) / 2
    assert sum(b"mentioned=('" in each for each in found) > len(found) / 12
    assert sum(b"mentioned=()" in each for each in found) > len(found) / 10


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_a_planted_leak_is_caught(pairs: list[Pair], leak: Callable[[World, Request], bytes]) -> None:
    assert any(differences(one, other, requests, leak) for one, other, requests in pairs)
