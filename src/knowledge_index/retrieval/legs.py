"""The legs of one search, and their lists as fusion takes them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge_index.catalog.passage_records import window_of
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import Leg, LegRank, SearchFilters
from knowledge_index.embed.base import Vector
from knowledge_index.index.base import NO_EXPANSION, Expansion, LexicalIndex, ProfileMatches, ScoredRow, VectorIndex
from knowledge_index.retrieval.fusion import LegScores, leg_scores


@dataclass(frozen=True)
class FoundRows:
    """What the legs found for one wording of the query: each leg's rows, best first, each once."""

    lists: Mapping[Leg, Sequence[tuple[str, float]]]
    holding_wording: frozenset[str]

    def with_meaning(self, rows: Sequence[tuple[str, float]]) -> "FoundRows":
        """These and the rows of the semantic leg, the legs in their order."""
        lists = {**self.lists, Leg.SEMANTIC: rows}
        return replace(self, lists={leg: lists[leg] for leg in Leg if leg in lists})

    @property
    def row_keys(self) -> set[str]:
        """The rows that any leg found."""
        return {key for rows in self.lists.values() for key, _ in rows}

    def fused(self, known: Collection[str], settings: RetrievalSettings) -> "LegRows":
        """The lists as fusion takes them, of the rows that the catalog stands behind alone."""
        lists = {leg: [(key, score) for key, score in rows if key in known] for leg, rows in self.lists.items()}
        return LegRows(
            scores={leg: leg_scores(leg, rows, settings.fusion, settings.fusion_rrf_k) for leg, rows in lists.items()},
            holding_wording=self.holding_wording.intersection(known),
            holding_identifier=frozenset(key for key, _ in lists.get(Leg.IDENTIFIER, ())),
        )


@dataclass(frozen=True)
class LegRows:
    """The legs' shares and ranks, and the rows that hold the query's wording, or one of its identifiers."""

    scores: Mapping[Leg, LegScores]
    holding_wording: frozenset[str]
    holding_identifier: frozenset[str]

    def ranks(self, row_key: str) -> tuple[LegRank, ...]:
        """Where each leg had the row."""
        ranks = (each.rank(row_key) for each in self.scores.values())
        return tuple(each for each in ranks if each is not None)

    def share_of(self, leg: Leg, weight: float) -> tuple[Mapping[str, float], float, float]:
        """The leg's shares, that of a row that it did not hand on, and its weight, all 0 for one that did not run."""
        scores = self.scores.get(leg)
        return ({}, 0.0, 0.0) if scores is None else (scores.share_of, scores.floor, weight)


@dataclass(frozen=True)
class Legs:
    """Runs the legs that the settings ask for; a leg of weight 0 does not run."""

    lexical: LexicalIndex
    vectors: VectorIndex
    settings: RetrievalSettings

    def nothing(self) -> FoundRows:
        """What is found where no leg finds anything."""
        weights = {
            Leg.LEXICAL: self.settings.weight_lexical,
            Leg.SEMANTIC: self.settings.weight_semantic,
            Leg.IDENTIFIER: self.settings.weight_identifier,
        }
        return FoundRows({leg: [] for leg, weight in weights.items() if weight}, frozenset())

    def by_words(
        self,
        query: str,
        identifiers: Collection[str],
        scope: Scope,
        filters: SearchFilters,
        expansion: Expansion = NO_EXPANSION,
    ) -> FoundRows:
        """The rows for the words of ``query`` and, below them, ``expansion``, and for its identifiers."""
        settings, pool = self.settings, self.settings.candidate_pool
        lists: dict[Leg, list[tuple[str, float]]] = {}
        wording: list[ScoredRow] = []
        if settings.weight_lexical:
            wording = self.lexical.search_text(query, scope, filters, pool, expansion)
            lists[Leg.LEXICAL] = [(row.row_key, row.score) for row in wording]
        if settings.weight_identifier:
            found = self.lexical.search_identifiers(identifiers, scope, filters, pool) if identifiers else []
            lists[Leg.IDENTIFIER] = [(row.row_key, row.score) for row in found]
        return FoundRows(lists, frozenset(row.row_key for row in wording if row.holds_wording))

    def by_meaning(self, vector: Vector, scope: Scope, filters: SearchFilters) -> list[tuple[str, float]]:
        """The rows near ``vector``; a passage is as near as its nearest window."""
        best: dict[str, float] = {}
        for row in self.vectors.search(vector, scope, filters, self.settings.candidate_pool):
            row_key, _ = window_of(row.row_key)
            best.setdefault(row_key, row.score)
        return list(best.items())


@dataclass(frozen=True)
class DocumentScores:
    """How well each document fits the query's words, by ``document_key``; ``mentioned`` are those that it names."""

    scores: LegScores
    mentioned: frozenset[str]


NO_DOCUMENTS = DocumentScores(LegScores(Leg.DOCUMENT, {}, {}, 0.0), frozenset())


def document_scores(
    matches: ProfileMatches, document_of: Mapping[str, str], mentioned: frozenset[str], settings: RetrievalSettings
) -> DocumentScores:
    """Profiles to documents: a document is as good as the best of its versions' profiles.

    With a weight of 0 the profiles serve to find the paper that is named, and no document has a score.
    """
    if not settings.weight_document:
        return DocumentScores(NO_DOCUMENTS.scores, mentioned)
    best: dict[str, float] = {}
    for row in matches.rows:
        if row.row_key in document_of:
            best.setdefault(document_of[row.row_key], row.score)
    return DocumentScores(
        leg_scores(Leg.DOCUMENT, list(best.items()), settings.fusion, settings.fusion_rrf_k), mentioned
    )


def leg_sizes(rows: LegRows, documents: DocumentScores, settings: RetrievalSettings) -> tuple[tuple[Leg, int], ...]:
    """How many rows, or documents, each leg that runs handed on."""
    sizes = dict(rows.scores)
    if settings.weight_document:
        sizes[Leg.DOCUMENT] = documents.scores
    return tuple((leg, len(each.score_of)) for leg, each in sizes.items())
