"""Searches: legs within the scope, fusion, version policy, collapse, rerank, and the catalog's last word."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import Occurrence, ReadingNotes
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.identifiers import extract_identifiers
from knowledge_index.domain.search import Leg, SearchFilters, SearchHit, SearchResult
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.embed.base import Embedder, Reranker
from knowledge_index.index.base import LexicalIndex, ScoredRow, VectorIndex
from knowledge_index.retrieval.fusion import Ranked, fuse, rank_units
from knowledge_index.retrieval.hit_ids import hit_id_of
from knowledge_index.retrieval.versions import BindingPlace, binding_places

_RERANK_DEPTH = 40
_BINDING_FIRST = {
    VersionStatus.EXECUTED: 0,
    VersionStatus.FINAL: 1,
    VersionStatus.DRAFT: 2,
    VersionStatus.UNKNOWN: 3,
}
_BOOSTED = frozenset({VersionStatus.EXECUTED, VersionStatus.FINAL})


@dataclass(frozen=True)
class _Candidate:
    """A passage on its way to a hit."""

    occurrence: Occurrence
    ranked: Ranked
    score: float
    place: BindingPlace | None = None


@dataclass(frozen=True)
class RetrievalService:
    """The one way to search; everything that leaves it was checked against the catalog."""

    catalog: Catalog
    lexical: LexicalIndex
    vectors: VectorIndex
    embedder: Embedder
    reranker: Reranker | None

    def search(
        self, query: str, scope: Scope, settings: RetrievalSettings, filters: SearchFilters, limit: int
    ) -> SearchResult:
        """The best ``limit`` passages that the caller may see.

        The scope decides what each leg ranks; the catalog is asked again, with the caller's scope of the moment, before
        a passage is returned. A leg that fails raises: there is no answer from the others in its place.

        Raises:
            UsageError: the query is blank or the limit is not positive.
            ModelError: a model that the settings ask for cannot be loaded.
        """
        if not query.strip():
            raise UsageError("the query is empty; give some words, a quotation or a reference")
        if limit < 1:
            raise UsageError(f"the limit has to be 1 or more, not {limit}")
        notes = self._notes(settings)
        if not scope.acl_class_ids:
            return SearchResult((), notes)
        rows_by_leg = self._run_legs(query, scope, settings, filters)
        row_keys = {row.row_key for rows in rows_by_leg.values() for row in rows}
        with self.catalog.transaction() as session:
            current_scope = compile_scope(session, scope.principals)
            narrowed = Scope(
                scope.principals, scope.acl_class_ids & current_scope.acl_class_ids, current_scope.policy_epoch
            )
            occurrences = session.passages.occurrences(row_keys, narrowed)
            if filters.matter_refs:
                occurrences = [each for each in occurrences if each.matter_ref in filters.matter_refs]
            candidates = _Ranking(rows_by_leg, occurrences, settings).candidates()
            depth = max(limit, _RERANK_DEPTH) if settings.rerank_enabled else limit
            places = binding_places(
                session,
                [each.occurrence for each in candidates[:depth]],
                narrowed,
                one_place_a_paper=settings.collapse_per_document,
            )
            candidates = [
                replace(each, occurrence=place.occurrence, place=place)
                for each, place in zip(candidates, places, strict=False)
            ]
            passages = [
                (
                    each,
                    session.passages.text_between(
                        each.occurrence.object_id, each.occurrence.start_char, each.occurrence.end_char
                    ),
                )
                for each in candidates
            ]
            reading = {
                id(each): session.passages.reading_notes(each.occurrence.object_id, each.occurrence.start_char)
                for each in candidates[:depth]
            }
        if settings.rerank_enabled:
            passages = self._rerank(query, passages)
        return SearchResult(tuple(_hit(each, passage, reading[id(each)]) for each, passage in passages[:limit]), notes)

    def _run_legs(
        self, query: str, scope: Scope, settings: RetrievalSettings, filters: SearchFilters
    ) -> dict[Leg, list[ScoredRow]]:
        rows: dict[Leg, list[ScoredRow]] = {}
        pool = settings.candidate_pool
        if settings.weight_lexical:
            rows[Leg.LEXICAL] = self.lexical.search_text(query, scope, filters, pool)
        if settings.weight_identifier:
            terms = {each.term for each in extract_identifiers(query)}
            rows[Leg.IDENTIFIER] = self.lexical.search_identifiers(terms, scope, filters, pool) if terms else []
        if settings.weight_semantic:
            vector = self.embedder.embed([query])[0]
            rows[Leg.SEMANTIC] = self.vectors.search(vector, scope, filters, pool)
        return rows

    def _rerank(self, query: str, passages: Sequence[tuple[_Candidate, str]]) -> list[tuple[_Candidate, str]]:
        if self.reranker is None:
            raise UsageError("rerank_enabled is true, but this service was opened without a rerank_model")
        head, tail = passages[:_RERANK_DEPTH], passages[_RERANK_DEPTH:]
        scores = self.reranker.score(query, [passage for _, passage in head])
        order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
        return [*(head[place] for place in order), *tail]

    def _notes(self, settings: RetrievalSettings) -> tuple[str, ...]:
        return () if settings.rerank_enabled else ("rerank is off" + _why_off(settings),)


def _why_off(settings: RetrievalSettings) -> str:
    return ": no rerank_model is set" if settings.rerank_model is None else ": rerank_enabled is false"


class _Ranking:
    """Fuses the legs' rows over papers (collapsed) or over single passages (flat)."""

    def __init__(
        self,
        rows_by_leg: Mapping[Leg, Sequence[ScoredRow]],
        occurrences: Sequence[Occurrence],
        settings: RetrievalSettings,
    ) -> None:
        self._rows_by_leg = rows_by_leg
        self._settings = settings
        self._weights = {
            Leg.LEXICAL: settings.weight_lexical,
            Leg.SEMANTIC: settings.weight_semantic,
            Leg.IDENTIFIER: settings.weight_identifier,
        }
        self._by_row: defaultdict[str, list[Occurrence]] = defaultdict(list)
        for each in occurrences:
            self._by_row[each.row_key].append(each)

    def candidates(self) -> list[_Candidate]:
        """All candidates, best first."""
        return self._collapsed() if self._settings.collapse_per_document else self._flat()

    def _flat(self) -> list[_Candidate]:
        fused = fuse(
            {
                leg: rank_units(
                    ((each, row.score) for row in rows for each in self._by_row.get(row.row_key, ())), _tie_key
                )
                for leg, rows in self._rows_by_leg.items()
            },
            self._weights,
            self._settings.fusion_rrf_k,
        )
        found = [_Candidate(each, ranked, self._boosted(ranked.score, each)) for each, ranked in fused.items()]
        return sorted(found, key=lambda each: (-each.score, _tie_key(each.occurrence)))

    def _collapsed(self) -> list[_Candidate]:
        """One place a paper (or max_chunks_per_document): its best passage, in the most binding version that has it.

        Papers are fused by their rank among papers; which passage of a paper is shown is decided by the same fusion
        over rows. Version status orders the versions that hold the passage and breaks ties between papers.
        """
        settings = self._settings
        row_tie_keys = {row_key: min(map(_tie_key, held)) for row_key, held in self._by_row.items()}
        fused_rows = fuse(
            {
                leg: rank_units(
                    ((row.row_key, row.score) for row in rows if row.row_key in row_tie_keys), row_tie_keys.__getitem__
                )
                for leg, rows in self._rows_by_leg.items()
            },
            self._weights,
            settings.fusion_rrf_k,
        )
        tie_keys: dict[str, str] = {}
        rows_of: defaultdict[str, dict[str, list[Occurrence]]] = defaultdict(lambda: defaultdict(list))
        for row_key, held in self._by_row.items():
            for each in held:
                rows_of[each.document_key][row_key].append(each)
                tie_keys[each.document_key] = min(tie_keys.get(each.document_key, each.object_key), each.object_key)
        fused_papers = fuse(
            {
                leg: rank_units(
                    (
                        (document_key, row.score)
                        for row in rows
                        for document_key in {each.document_key for each in self._by_row.get(row.row_key, ())}
                    ),
                    tie_keys.__getitem__,
                )
                for leg, rows in self._rows_by_leg.items()
            },
            self._weights,
            settings.fusion_rrf_k,
        )
        found: list[_Candidate] = []
        for document_key, ranked in fused_papers.items():
            shown = {row_key: min(held, key=_binding_first) for row_key, held in rows_of[document_key].items()}
            best = sorted(shown, key=lambda row_key: (-fused_rows[row_key].score, _binding_first(shown[row_key])))[
                : settings.max_chunks_per_document
            ]
            for place, row_key in enumerate(best):
                score = ranked.score if place == 0 else fused_rows[row_key].score
                legs = ranked if place == 0 else fused_rows[row_key]
                found.append(_Candidate(shown[row_key], legs, self._boosted(score, shown[row_key])))
        return sorted(
            found,
            key=lambda each: (
                -each.score,
                _BINDING_FIRST[each.occurrence.version_status],
                tie_keys[each.occurrence.document_key],
                _tie_key(each.occurrence),
            ),
        )

    def _boosted(self, score: float, each: Occurrence) -> float:
        return score * (1 + self._settings.version_status_boost) if each.version_status in _BOOSTED else score


def _tie_key(each: Occurrence) -> str:
    """A key that is a keyed hash of source and path, then the place in the text: never the order of insertion."""
    return f"{each.object_key}.{each.start_char:012d}"


def _binding_first(each: Occurrence) -> tuple[int, tuple[int, ...], str]:
    """Executed, final, draft, unknown; the latest version first within one status."""
    return _BINDING_FIRST[each.version_status], _latest_first(each.version_order), _tie_key(each)


@lru_cache(maxsize=4096)
def _latest_first(version_order: str) -> tuple[int, ...]:
    return tuple(-int(number) for number in version_order.split("."))


def _hit(candidate: _Candidate, passage: str, reading: ReadingNotes) -> SearchHit:
    each = candidate.occurrence
    return SearchHit(
        hit_id=hit_id_of(each),
        source=each.source,
        path=each.path,
        document_key=each.document_key,
        title=each.title,
        heading=each.heading,
        version_status=each.version_status,
        matter_ref=each.matter_ref,
        matter_title=each.matter_title,
        passage=passage,
        start_char=each.start_char,
        end_char=each.end_char,
        text_sha256=each.text_sha256,
        converter=each.converter,
        page=reading.page,
        degraded=reading.degraded,
        score=candidate.score,
        legs=candidate.ranked.legs,
        other_versions=candidate.place.other_versions if candidate.place else 0,
        most_binding=candidate.place.most_binding if candidate.place else None,
    )
