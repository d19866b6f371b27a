"""Which legs run, with what, and what becomes of the rows that they bring."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from ranked_corpus import (
    EVERYONE,
    NO_FILTERS,
    QUERY_WITH_REFERENCE,
    Corpus,
    CountingEmbedder,
    RankedIndex,
    class_of,
)

from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import ModelError, UsageError
from knowledge_index.domain.search import Leg, SearchFilters
from knowledge_index.embed.base import Matrix
from small_firm import CORPORATE, PARTNER, SUPPLY_MAIL, SmallFirm, search

ROWS = {"r1": 2.0, "r2": 1.0}
ALL_LEGS = RankedIndex(text=ROWS, identifiers=ROWS, vectors=ROWS, documents={})


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    corpus = Corpus(tmp_path)
    corpus.add("M-1/a.txt", "r1")
    corpus.add("M-1/b.txt", "r2")
    return corpus


@pytest.mark.parametrize(
    ("off", "broken"),
    [
        ({"weight_lexical": 0}, RankedIndex(None, ROWS, ROWS, {})),
        ({"weight_identifier": 0}, RankedIndex(ROWS, None, ROWS, {})),
        ({"weight_semantic": 0}, RankedIndex(ROWS, ROWS, None, {})),
    ],
)
def test_a_leg_of_weight_0_does_not_run_and_any_other_that_fails_raises(
    corpus: Corpus, off: dict[str, float], broken: RankedIndex
) -> None:
    hits = corpus.search(broken, RetrievalSettings(**off))
    assert [hit.path for hit in hits] == ["M-1/a.txt", "M-1/b.txt"]
    assert all(len(hit.legs) == 2 for hit in hits)
    with pytest.raises(OSError, match="is broken"):
        corpus.search(broken, RetrievalSettings())


def test_without_the_semantic_leg_nothing_is_embedded(corpus: Corpus) -> None:
    embedder = CountingEmbedder()
    service = replace(corpus.service(ALL_LEGS), embedder=embedder)
    service.search("rent", corpus.scope(), RetrievalSettings(weight_semantic=0), NO_FILTERS, 5)
    assert embedder.calls == []
    service.search("rent", corpus.scope(), RetrievalSettings(), NO_FILTERS, 5)
    assert embedder.calls == ["rent"]


def test_a_query_that_cannot_be_embedded_is_not_answered_by_words_alone(corpus: Corpus) -> None:
    class BrokenEmbedder(CountingEmbedder):
        def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
            raise ModelError("the weights are gone")

    service = replace(corpus.service(ALL_LEGS), embedder=BrokenEmbedder())
    with pytest.raises(ModelError, match="the weights are gone"):
        service.search("rent", corpus.scope(), RetrievalSettings(), NO_FILTERS, 5)


def test_a_query_without_an_identifier_does_not_ask_the_identifier_leg(corpus: Corpus) -> None:
    index = RankedIndex(ROWS, None, ROWS, {})
    hits = corpus.search(index, RetrievalSettings(), query="when is the rent due")
    assert {leg.leg for hit in hits for leg in hit.legs} == {Leg.LEXICAL, Leg.SEMANTIC}


def test_an_empty_scope_runs_no_leg(corpus: Corpus) -> None:
    index = RankedIndex(None, None, None)
    result = corpus.service(index).search("rent", corpus.scope("user:nobody"), RetrievalSettings(), NO_FILTERS, 5)
    assert result.hits == ()
    assert index.asked == []


def test_every_leg_is_asked_with_the_scope_the_filters_and_the_pool(corpus: Corpus) -> None:
    index = RankedIndex(ROWS, ROWS, ROWS, {})
    filters = SearchFilters(frozenset({"M-1"}))
    corpus.search(index, RetrievalSettings(candidate_pool=37), filters=filters, limit=3)
    assert sorted(index.asked, key=lambda each: each[0]) == [
        (leg, corpus.scope(), filters, 37) for leg in ("documents", "identifiers", "text", "vectors")
    ]


def test_a_row_that_the_catalog_does_not_know_is_dropped_and_takes_no_rank(corpus: Corpus) -> None:
    index = RankedIndex(text={"ghost": 9.0, **ROWS}, identifiers={}, vectors={"ghost": 0.9}, documents={})
    hits = corpus.search(index, RetrievalSettings())
    assert [(hit.path, [leg.rank for leg in hit.legs]) for hit in hits] == [("M-1/a.txt", [1]), ("M-1/b.txt", [2])]


def test_what_was_revoked_after_the_scope_was_compiled_is_not_returned(corpus: Corpus) -> None:
    scope = corpus.scope()
    corpus.regrant("M-1/a.txt", class_of("user:other"))
    hits = corpus.service(ALL_LEGS).search("rent", scope, RetrievalSettings(), NO_FILTERS, 5).hits
    assert [hit.path for hit in hits] == ["M-1/b.txt"]


def test_a_denial_after_the_scope_was_compiled_holds_too(corpus: Corpus) -> None:
    scope = corpus.scope(f"{EVERYONE},user:barred")
    corpus.regrant("M-1/a.txt", class_of(EVERYONE, "!user:barred"))
    hits = corpus.service(ALL_LEGS).search("rent", scope, RetrievalSettings(), NO_FILTERS, 5).hits
    assert [hit.path for hit in hits] == ["M-1/b.txt"]


def test_a_grant_after_the_scope_was_compiled_does_not_widen_it(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.add("M-1/a.txt", "r1", acl=class_of("user:other"))
    corpus.add("M-1/b.txt", "r2")
    scope = corpus.scope()
    corpus.regrant("M-1/a.txt", class_of("user:other", EVERYONE))
    hits = corpus.service(ALL_LEGS).search("rent", scope, RetrievalSettings(), NO_FILTERS, 5).hits
    assert [hit.path for hit in hits] == ["M-1/b.txt"]


def test_a_matter_filter_is_checked_against_the_catalog_too(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.add("M-1/a.txt", "r1", matter="M-1")
    corpus.add("M-2/b.txt", "r2", matter="M-2")
    hits = corpus.search(ALL_LEGS, RetrievalSettings(), filters=SearchFilters(frozenset({"M-2"})))
    assert [hit.path for hit in hits] == ["M-2/b.txt"]


@pytest.mark.parametrize("leg", [Leg.LEXICAL, Leg.SEMANTIC, Leg.IDENTIFIER])
def test_a_matter_filter_narrows_each_leg_before_it_ranks(shared_firm: SmallFirm, leg: Leg) -> None:
    """In a pool of one the other matter's better row would otherwise take the only place."""
    weights = {f"weight_{each}": float(each is leg) for each in Leg}
    settings = RetrievalSettings(candidate_pool=1, mentioned_first=False, **weights)
    query = "12 O 345/25 HRB 40711 besenrein Schlüssel Halle übergeben"
    with shared_firm.retrieval() as service:
        both = search(service, query, PARTNER, settings=settings)
        lease = search(service, query, PARTNER, settings=settings, matters=["M-2026-0002"])
        supply = search(service, query, PARTNER, settings=settings, matters=["M-2026-0001"])
        none = search(service, query, PARTNER, settings=settings, matters=["M-2026-0009"])
    assert {hit.matter_ref for hit in lease} == {"M-2026-0002"}
    assert {hit.matter_ref for hit in supply} == {"M-2026-0001"}
    assert both
    assert none == ()


def test_the_identifier_leg_finds_a_reference_however_it_is_typed(shared_firm: SmallFirm) -> None:
    only = RetrievalSettings(weight_lexical=0, weight_semantic=0, weight_document=0)
    with shared_firm.retrieval() as service:
        for query in ("12 O 345/25", "12 o 345/25", "Az.: 12 O 345/25 (Landgericht)"):
            assert [hit.path for hit in search(service, query, CORPORATE, settings=only)] == [SUPPLY_MAIL]


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_a_blank_query_is_refused(corpus: Corpus, query: str) -> None:
    with pytest.raises(UsageError, match="query is empty"):
        corpus.search(ALL_LEGS, RetrievalSettings(), query=query)


def test_a_limit_below_one_is_refused(corpus: Corpus) -> None:
    with pytest.raises(UsageError, match="limit"):
        corpus.search(ALL_LEGS, RetrievalSettings(), limit=0)


@pytest.mark.parametrize("query", ["Az.: (3 O AND", '36" OR *', "\x00", "🜚", "[a TO b]", "-", "a" * 5000, "\ud800"])
def test_any_characters_may_be_asked_for(shared_firm: SmallFirm, query: str) -> None:
    assert isinstance(shared_firm.search(query, CORPORATE), tuple)


def test_the_result_says_that_nothing_was_reranked_and_why(corpus: Corpus) -> None:
    service = corpus.service(ALL_LEGS)
    result = service.search("rent", corpus.scope(), RetrievalSettings(), NO_FILTERS, 5)
    assert result.notes == ("rerank is off: no rerank_model is set",)
    named = RetrievalSettings(rerank_model="some/model")
    assert service.search("rent", corpus.scope(), named, NO_FILTERS, 5).notes == (
        "rerank is off: rerank_enabled is false",
    )


class LastFirst:
    """Keeps ``Reranker``: the later a passage was handed over, the better it is."""

    def __init__(self) -> None:
        self.passages: list[str] = []

    def score(self, query: str, passages: list[str]) -> list[float]:
        assert query == QUERY_WITH_REFERENCE
        self.passages = list(passages)
        return [float(place) for place in range(len(passages))]


def test_a_reranker_decides_the_order_of_the_head(corpus: Corpus) -> None:
    reranker = LastFirst()
    settings = RetrievalSettings(rerank_enabled=True, rerank_model="fake")
    result = corpus.service(ALL_LEGS, reranker).search(
        QUERY_WITH_REFERENCE, corpus.scope(), settings, NO_FILTERS, limit=1
    )
    assert reranker.passages == ["r1 of M-1/a.txt.", "r2 of M-1/b.txt."]
    assert [hit.path for hit in result.hits] == ["M-1/b.txt"]
    assert result.notes == ()


def test_reranking_without_a_reranker_is_refused(corpus: Corpus) -> None:
    with pytest.raises(UsageError, match="rerank_model"):
        corpus.search(ALL_LEGS, RetrievalSettings(rerank_enabled=True, rerank_model="fake"))
