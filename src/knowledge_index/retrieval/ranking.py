"""In what order the passages that the legs found are shown, and which of several versions stands for a paper."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from knowledge_index.catalog.passage_records import Occurrence
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.search import Leg, LegRank
from knowledge_index.domain.versions import BINDING_FIRST, VersionStatus
from knowledge_index.retrieval.legs import DocumentScores, LegRows
from knowledge_index.retrieval.query_analysis import QueryAnalysis
from knowledge_index.retrieval.versions import binding_first, is_more_binding, tie_key

# More than all weights together: these decide before any score does.
_EXACT = 100.0
_MENTIONED = 10.0
_BOOSTED = frozenset({VersionStatus.EXECUTED, VersionStatus.FINAL})

Scored: TypeAlias = tuple[float, Occurrence]


@dataclass(frozen=True)
class PassageScores:
    """What passages are worth: the legs' weighted shares, above them the passages that a rule puts first.

    A passage that holds the query as it is worded, or the identifier that the query is, holds what was pasted: among
    such passages words and identifiers decide, since neither meaning nor a paper's name says anything of a value.
    ``inside`` are the legs' rows for the question without the name of the paper; within the papers that the query names
    these count.
    """

    rows: LegRows
    inside: LegRows | None
    documents: DocumentScores
    analysis: QueryAnalysis
    settings: RetrievalSettings

    def scored(self, occurrences: Iterable[Occurrence]) -> list[Scored]:
        """Every occurrence with its score."""
        documents, boost = self.documents, self.settings.version_status_boost
        in_any = self._worth_of(self.rows)
        in_mentioned = self._worth_of(self.inside) if self.inside is not None else in_any
        share_of, floor, weight = documents.scores.share_of, documents.scores.floor, self.settings.weight_document
        of_document: dict[str, tuple[float, bool]] = {}
        # A row stands in many versions of a paper and is worth the same in each.
        of_row: dict[tuple[str, bool], tuple[float, bool]] = {}
        found = []
        for each in occurrences:
            document_key = each.document_key
            if document_key not in of_document:
                named = document_key in documents.mentioned
                of_document[document_key] = weight * share_of.get(document_key, floor), named
            in_document, is_mentioned = of_document[document_key]
            key = each.row_key, is_mentioned
            if key not in of_row:
                of_row[key] = (in_mentioned if is_mentioned else in_any)(key[0])
            score, is_exact = of_row[key]
            if not is_exact:
                score += in_document
                if is_mentioned:
                    score += _MENTIONED
            if boost and each.version_status in _BOOSTED:
                score *= 1 + boost
            found.append((score, each))
        return found

    def ranks(self, each: Occurrence) -> tuple[LegRank, ...]:
        """Where the legs had the passage and its document."""
        is_mentioned = each.document_key in self.documents.mentioned
        rows = self.inside if self.inside is not None and is_mentioned else self.rows
        document_rank = self.documents.scores.rank(each.document_key)
        return (*rows.ranks(each.row_key), document_rank) if document_rank else rows.ranks(each.row_key)

    def _worth_of(self, rows: LegRows) -> Callable[[str], tuple[float, bool]]:
        """What a row is worth wherever it stands, and whether it is what was pasted."""
        settings = self.settings
        lexical, _, words = rows.share_of(Leg.LEXICAL, settings.weight_lexical)
        semantic, floor, meaning = rows.share_of(Leg.SEMANTIC, settings.weight_semantic)
        identifier, _, values = rows.share_of(Leg.IDENTIFIER, settings.weight_identifier)
        exact: frozenset[str] = frozenset()
        if settings.exact_first:
            exact = rows.holding_wording | (rows.holding_identifier if self.analysis.is_identifier else frozenset())

        def worth(row_key: str) -> tuple[float, bool]:
            told = words * lexical.get(row_key, 0.0)
            held = values * identifier.get(row_key, 0.0)
            if row_key in exact:
                return _EXACT + told + held, True
            return told + held + meaning * semantic.get(row_key, floor), False

        return worth


def best_first(scored: Sequence[Scored], settings: RetrievalSettings, depth: int) -> list[Scored]:
    """The first ``depth`` passages in the order in which they are shown.

    Collapsed, a passage is shown once for each paper that has it, in the most binding version that holds it, and a
    paper takes one place (or max_chunks_per_document), that of its best passage. Version status orders the versions and
    breaks ties between papers.
    """
    if not settings.collapse_per_document:
        return heapq.nsmallest(depth, scored, key=lambda each: (-each[0], tie_key(each[1])))
    tie_keys: dict[str, str] = {}
    shown: dict[tuple[str, str], Scored] = {}
    for each in scored:
        occurrence = each[1]
        document_key, object_key = occurrence.document_key, occurrence.object_key
        if object_key < tie_keys.setdefault(document_key, object_key):
            tie_keys[document_key] = object_key
        key = document_key, occurrence.row_key
        held = shown.setdefault(key, each)
        if held is not each and is_more_binding(occurrence, held[1]):
            shown[key] = each
    by_paper: defaultdict[str, list[Scored]] = defaultdict(list)
    for (document_key, _), each in shown.items():
        by_paper[document_key].append(each)
    kept = [each for passages in by_paper.values() for each in _first_places(passages, settings)]
    return heapq.nsmallest(
        depth,
        _possible(kept, depth),
        key=lambda each: (
            -each[0],
            BINDING_FIRST[each[1].version_status],
            tie_keys[each[1].document_key],
            tie_key(each[1]),
        ),
    )


def _first_places(passages: list[Scored], settings: RetrievalSettings) -> list[Scored]:
    """The passages of one paper that are shown."""
    places = settings.max_chunks_per_document
    if len(passages) <= places:
        return passages
    return heapq.nsmallest(places, _possible(passages, places), key=lambda each: (-each[0], binding_first(each[1])))


def _possible(scored: list[Scored], places: int) -> list[Scored]:
    """Those that can be among the first so many: scores alone tell of most that they cannot."""
    if len(scored) <= places:
        return scored
    least = heapq.nlargest(places, [score for score, _ in scored])[-1]
    return [each for each in scored if each[0] >= least]
