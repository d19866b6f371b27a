"""The legs of one search, and what each passage is worth."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from knowledge_index.catalog.passage_records import window_of
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import Leg, LegRank, SearchFilters
from knowledge_index.embed.base import Vector
from knowledge_index.index.base import NO_EXPANSION, Expansion, LexicalIndex, ProfileMatches, ScoredRow, VectorIndex
from knowledge_index.retrieval.fusion import LegScores, leg_scores
from knowledge_index.retrieval.query_analysis import QueryAnalysis

# More than all weights together: these decide before any score does.
_EXACT = 100.0
_MENTIONED = 10.0


@dataclass(frozen=True)
class FoundRows:
    """What the legs found for one wording of the query: each leg's rows, best first, each once."""

    lists: Mapping[Leg, Sequence[tuple[str, float]]]
    holding_wording: frozenset[str]

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
        return tuple(each.rank_of[row_key] for each in self.scores.values() if row_key in each.rank_of)


@dataclass(frozen=True)
class Legs:
    """Runs the legs that the settings ask for; a leg of weight 0 does not run."""

    lexical: LexicalIndex
    vectors: VectorIndex
    settings: RetrievalSettings

    def nothing(self) -> FoundRows:
        """What :meth:`run` returns where no leg finds anything."""
        weights = {
            Leg.LEXICAL: self.settings.weight_lexical,
            Leg.SEMANTIC: self.settings.weight_semantic,
            Leg.IDENTIFIER: self.settings.weight_identifier,
        }
        return FoundRows({leg: [] for leg, weight in weights.items() if weight}, frozenset())

    def run(
        self,
        query: str,
        vector: Vector | None,
        identifiers: Collection[str],
        scope: Scope,
        filters: SearchFilters,
        expansion: Expansion = NO_EXPANSION,
    ) -> FoundRows:
        """Every leg's list of rows for ``query`` and, below its own words, ``expansion``.

        ``vector`` is needed where the semantic leg runs.
        """
        settings = self.settings
        pool = settings.candidate_pool
        lists: dict[Leg, list[tuple[str, float]]] = {}
        wording: list[ScoredRow] = []
        if settings.weight_lexical:
            wording = self.lexical.search_text(query, scope, filters, pool, expansion)
            lists[Leg.LEXICAL] = [(row.row_key, row.score) for row in wording]
        if settings.weight_semantic:
            assert vector is not None
            lists[Leg.SEMANTIC] = self._semantic(vector, scope, filters, pool)
        if settings.weight_identifier:
            found = self.lexical.search_identifiers(identifiers, scope, filters, pool) if identifiers else []
            lists[Leg.IDENTIFIER] = [(row.row_key, row.score) for row in found]
        holding = frozenset(row.row_key for row in wording if row.holds_wording)
        return FoundRows(lists, holding)

    def _semantic(self, vector: Vector, scope: Scope, filters: SearchFilters, pool: int) -> list[tuple[str, float]]:
        """A passage is as near as its nearest window."""
        best: dict[str, float] = {}
        for row in self.vectors.search(vector, scope, filters, pool):
            row_key, _ = window_of(row.row_key)
            best.setdefault(row_key, row.score)
        return list(best.items())


@dataclass(frozen=True)
class DocumentScores:
    """How well each document fits the query's words, by ``document_key``; ``mentioned`` are those that it names."""

    scores: LegScores
    mentioned: frozenset[str]


NO_DOCUMENTS = DocumentScores(LegScores({}, {}, 0.0), frozenset())


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


def passage_score(
    row_key: str,
    document_key: str,
    rows: LegRows,
    documents: DocumentScores,
    analysis: QueryAnalysis,
    settings: RetrievalSettings,
) -> float:
    """What a passage is worth: the legs' weighted shares, above them the passages that a rule puts first.

    A passage that holds the query as it is worded, or the identifier that the query is, holds what was pasted: among
    such passages words and identifiers decide, since neither meaning nor a paper's name says anything of a value.
    """
    lexical = settings.weight_lexical * _share(rows, Leg.LEXICAL, row_key)
    identifier = settings.weight_identifier * _share(rows, Leg.IDENTIFIER, row_key)
    if settings.exact_first and (
        row_key in rows.holding_wording or (analysis.is_identifier and row_key in rows.holding_identifier)
    ):
        return _EXACT + lexical + identifier
    score = lexical + identifier + settings.weight_semantic * _share(rows, Leg.SEMANTIC, row_key)
    score += settings.weight_document * documents.scores.share(document_key)
    return score + _MENTIONED if document_key in documents.mentioned else score


def _share(rows: LegRows, leg: Leg, row_key: str) -> float:
    return rows.scores[leg].share(row_key) if leg in rows.scores else 0.0


def leg_sizes(rows: LegRows, documents: DocumentScores, settings: RetrievalSettings) -> tuple[tuple[Leg, int], ...]:
    """How many rows, or documents, each leg that runs handed on."""
    sizes = dict(rows.scores)
    if settings.weight_document:
        sizes[Leg.DOCUMENT] = documents.scores
    return tuple((leg, len(each.rank_of)) for leg, each in sizes.items())
