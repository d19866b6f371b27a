"""Random queries over all legs and settings: what comes back is what set arithmetic over the grants allows."""

import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import pytest
from twin_worlds import MATTERS, REFERENCES, WORDS, nothing_flushed, text_of_a_paper

from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index.base import Expansion, ScoredRow
from knowledge_index.retrieval import RetrievalService
from small_firm import SmallFirm, search

PRINCIPALS = ("user:a", "user:b", "group:c", "group:d", "role:e")
PAPERS = 60
NOWHERE = "M-2026-0009"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    """Papers with grants at random, some with none, in three matters."""
    draw = random.Random(20260304)
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("crowd") / "firm")
    with nothing_flushed():
        for number in range(PAPERS):
            grants = draw.sample([*PRINCIPALS, *PRINCIPALS, *(f"!{each}" for each in PRINCIPALS)], draw.randint(0, 3))
            firm.write(f"{draw.choice(MATTERS)}/paper {number}.txt", text_of_a_paper(draw), *grants)
        firm.sync_and_run()
    # Some grants change after the run, so that the rows of the indexes name classes of before.
    for path in draw.sample(sorted(firm.acl), 6):
        firm.grant(path, *draw.sample([*PRINCIPALS, *(f"!{each}" for each in PRINCIPALS)], 2))
    firm.sync()
    return firm


def allowed(firm: SmallFirm, caller: Collection[str], matters: Collection[str]) -> set[str]:
    """Set arithmetic over what was written into the ACL map: allowed by one, denied by none, in a matter asked for."""
    return {
        path
        for path, grants in firm.acl.items()
        if any(access == "allow" and who in caller for who, access in grants)
        and not any(access == "deny" and who in caller for who, access in grants)
        and (not matters or path.split()[0] in matters)
    }


@dataclass(frozen=True)
class Blind:
    """An index of either kind whose engine ignores the scope and the filters."""

    index: Any
    everything: Scope

    def search_text(
        self, query: str, scope: Scope, filters: SearchFilters, pool: int, expansion: Expansion
    ) -> list[ScoredRow]:
        return list(self.index.search_text(query, self.everything, SearchFilters(), pool, expansion))

    def search_identifiers(self, terms: Any, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        return list(self.index.search_identifiers(terms, self.everything, SearchFilters(), pool))

    def search(self, vector: Any, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        return list(self.index.search(vector, self.everything, SearchFilters(), pool))


def ask_at_random(firm: SmallFirm, service: RetrievalService, queries: int, seed: int) -> tuple[int, int]:
    """Ask and check; returns how many hits there were and how many answers were compared as whole sets."""
    draw = random.Random(seed)
    hit_count = whole_sets = 0
    with service.catalog.transaction() as session:
        waiting = {each.path for each in session.status.unsearchable(list(firm.acl))}
    for _ in range(queries):
        caller = draw.sample(PRINCIPALS, draw.randint(1, 3))
        matters = draw.sample(["M-2026-0001", "M-2026-0002", "M-2026-0003", NOWHERE], draw.choice([0, 0, 1, 2]))
        lexical, semantic, identifier = draw.choice(
            [(1, 0.5, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)]
        )
        settings = RetrievalSettings(
            weight_lexical=lexical,
            weight_semantic=semantic,
            weight_identifier=identifier,
            candidate_pool=draw.choice([1, 10, 1000]),
            collapse_per_document=draw.random() < 0.5,
            max_chunks_per_document=draw.choice([1, 3]),
        )
        query = " ".join(draw.choices([*WORDS, *REFERENCES], k=draw.randint(1, 5)))
        limit = draw.choice([1, 10, 1000])
        hits = search(service, query, ",".join(caller), settings=settings, matters=matters, limit=limit)
        expected = allowed(firm, caller, matters)
        paths = {hit.path for hit in hits}
        assert paths <= expected, (query, caller, matters, settings)
        hit_count += len(hits)
        # Every vector is near to some degree: with room enough, the semantic leg brings all that may be seen, except
        # for papers whose rows lie in the compartment of their former grants.
        if (
            settings.weight_semantic
            and settings.candidate_pool == limit == 1000
            and not isinstance(service.lexical, Blind)
        ):
            assert expected - paths <= waiting
            whole_sets += 1
    return hit_count, whole_sets


def blind(service: RetrievalService) -> RetrievalService:
    with service.catalog.transaction() as session:
        everything = Scope(frozenset(), frozenset(each.id for each in session.acl_classes.in_use()), 0)
    lexical: Any = Blind(service.lexical, everything)
    vectors: Any = Blind(service.vectors, everything)
    return replace(service, lexical=lexical, vectors=vectors)


@pytest.mark.parametrize(
    ("queries", "seed"),
    [pytest.param(400, 1, id="share"), pytest.param(20_000, 2, id="all", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("filters", ["on", "off"])
def test_no_answer_holds_what_the_grants_do_not_allow(crowd: SmallFirm, queries: int, seed: int, filters: str) -> None:
    with crowd.retrieval() as service:
        asked = service if filters == "on" else blind(service)
        hit_count, whole_sets = ask_at_random(crowd, asked, queries, seed)
    assert hit_count > queries / 4
    assert whole_sets > queries / 50 or filters == "off"
