"""Searches: document choice, legs within the scope, fusion, versions, collapse, rerank, and the catalog's last word."""

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.passage_records import Occurrence, ReadPassage
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.languages import Language
from knowledge_index.domain.search import LegRank, QueryExplanation, SearchFilters, SearchHit, SearchResult
from knowledge_index.embed.base import Embedder, Matrix, Reranker
from knowledge_index.index.base import (
    OPENING_CHARS,
    Expansion,
    GermanWeights,
    LexicalIndex,
    ProfileIndex,
    ProfileMatches,
    VectorIndex,
)
from knowledge_index.retrieval.clauses import (
    ClauseLibrary,
    RecognisedClause,
    Strength,
    expansion_terms,
    mixed_vector,
    recognise,
)
from knowledge_index.retrieval.filtering import fitting, narrowed
from knowledge_index.retrieval.hit_ids import hit_id_of
from knowledge_index.retrieval.legs import (
    NO_DOCUMENTS,
    DocumentScores,
    FoundRows,
    LegRows,
    Legs,
    document_scores,
    leg_sizes,
)
from knowledge_index.retrieval.mentions import Mention, Named, find_mention, near_best
from knowledge_index.retrieval.query_analysis import QueryAnalysis, analyse_query
from knowledge_index.retrieval.ranking import PassageScores, best_first
from knowledge_index.retrieval.versions import BindingPlace, binding_places, tie_key

_RERANK_DEPTH = 40


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class _Candidate:
    """A passage on its way to a hit; ``legs`` say where it was found, ``place`` where it is shown."""

    occurrence: Occurrence
    score: float
    legs: tuple[LegRank, ...]
    place: BindingPlace


@dataclass(frozen=True)
class _StartedLegs:
    """What was found by words, and what is being found by meaning, if that is looked for."""

    words: FoundRows
    meaning: "Future[list[tuple[str, float]]] | None"

    def found(self, words: FoundRows) -> FoundRows:
        """``words``, which are these or what is left of them, and what meaning found; waits for it."""
        return words if self.meaning is None else words.with_meaning(self.meaning.result())


@dataclass(frozen=True)
class _NamedPapers:
    """The papers that the query names: the mention, the rows of their passages, and the profiles that fit best."""

    mention: Mention
    document_keys: frozenset[str]
    row_keys: frozenset[str]
    profile_keys: frozenset[str]


@dataclass(frozen=True)
class RetrievalService:
    """The one way to search; everything that leaves it was checked against the catalog.

    ``clock`` tells whether a wall that was opened for a time is open still; it is read at the end of a search.
    """

    catalog: Catalog
    lexical: LexicalIndex
    profiles: ProfileIndex
    vectors: VectorIndex
    embedder: Embedder
    reranker: Reranker | None
    clauses: ClauseLibrary
    wordings: Embedder
    clock: Callable[[], datetime] = _utc_now

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
        analysis = analyse_query(query)
        embedding = self._embedding(query, settings) if scope.acl_class_ids else None
        clauses = recognise(self.clauses, query) if settings.clause_library else ()
        legs = Legs(self.lexical, self.vectors, settings)
        if not scope.acl_class_ids:
            # Told as where something may be seen and nothing fits.
            nothing = legs.nothing().fused((), settings)
            explanation = _explanation(analysis, None, clauses, (), nothing, NO_DOCUMENTS, settings)
            return SearchResult((), _notes(settings), explanation)
        with self.catalog.transaction() as session:
            filters = replace(
                narrowed(session, filters, scope), excluded_row_keys=session.passages.unsupported_row_keys(scope)
            )
        started = self._started(legs, query, embedding, clauses, scope, filters)
        words = started.words
        if words.holding_wording and any(each.strength is Strength.NAME for each in clauses):
            # "governing law" stands in many papers; who types it asks for the clause, however it is worded.
            words = replace(words, holding_wording=frozenset())
        is_value = settings.exact_first and bool(words.holding_wording or analysis.is_identifier)
        documents, named = self._documents(query, scope, settings, filters, words.row_keys, may_name=not is_value)
        found = started.found(words)
        found_inside = None
        if named is not None:
            question = named.mention.rest
            inside = named.row_keys if filters.only_row_keys is None else named.row_keys & filters.only_row_keys
            embedding = self._embedding(question, settings)
            narrower = replace(filters, only_row_keys=inside)
            started_inside = self._started(legs, question, embedding, clauses, scope, narrower)
            found_inside = started_inside.found(started_inside.words)
        with self.catalog.transaction() as session:
            current_scope = compile_scope(session, scope.principals, self.clock())
            scope_now = Scope(
                scope.principals, scope.acl_class_ids & current_scope.acl_class_ids, current_scope.policy_epoch
            )
            row_keys = found.row_keys | (found_inside.row_keys if found_inside else set())
            occurrences = fitting(session, session.occurrences.of_rows(row_keys, scope_now), filters, scope_now)
            known = {each.row_key for each in occurrences}
            titles = _titles(session, named, filters, scope_now) if named else ()
            rows = found.fused(known, settings)
            rows_inside = found_inside.fused(known, settings) if found_inside else None
            scores = PassageScores(rows, rows_inside, documents, analysis, settings)
            depth = max(limit, _RERANK_DEPTH) if settings.rerank_enabled else limit
            ranked = best_first(scores.scored(occurrences), settings, depth)
            places = binding_places(
                session,
                [each for _, each in ranked],
                scope_now,
                one_place_a_paper=settings.collapse_per_document,
                fitting=lambda found: fitting(session, found, filters, scope_now),
            )
            candidates = [
                _Candidate(place.occurrence, score, scores.ranks(each), place)
                for (score, each), place in zip(ranked, places, strict=True)
            ]
            read = session.passages.at(
                (each.occurrence.object_id, each.occurrence.start_char, each.occurrence.end_char) for each in candidates
            )
        passages = list(zip(candidates, read, strict=True))
        if settings.rerank_enabled:
            passages = self._rerank(query, passages)
        explanation = _explanation(analysis, named, clauses, titles, rows, documents, settings)
        hits = tuple(_hit(each, passage) for each, passage in passages[:limit])
        return SearchResult(hits, _notes(settings), explanation)

    def _documents(
        self,
        query: str,
        scope: Scope,
        settings: RetrievalSettings,
        filters: SearchFilters,
        expected: Collection[str],
        *,
        may_name: bool,
    ) -> tuple[DocumentScores, _NamedPapers | None]:
        """How well the visible documents fit the query, and which of them it names.

        ``expected`` are rows whose places are read ahead: other legs are at work meanwhile.
        """
        if not settings.weight_document and not settings.mentioned_first:
            return NO_DOCUMENTS, None
        matches = self.profiles.search(query, scope, filters, settings.candidate_pool, _german_weights(settings))
        with self.catalog.transaction() as session:
            profiles = session.occurrences.of_rows([row.row_key for row in matches.rows], scope)
            profiles = fitting(session, profiles, filters, scope)
            known = {each.row_key for each in profiles}
            matches = replace(matches, rows=tuple(row for row in matches.rows if row.row_key in known))
            best = near_best(matches)
            named = None
            if settings.mentioned_first and may_name and best:
                naming = [each for each in profiles if each.row_key in best]
                named = _named_papers(session, query, naming, profiles, matches)
            session.occurrences.read_ahead(expected, scope)
        mentioned = named.document_keys if named else frozenset()
        document_of = {each.row_key: each.document_key for each in profiles}
        return document_scores(matches, document_of, mentioned, settings), named

    def _embedding(self, query: str, settings: RetrievalSettings) -> "Future[Matrix] | None":
        """The query's vector in the making, or None where no leg asks for it."""
        return _beside().submit(self.embedder.embed, [query]) if settings.weight_semantic else None

    def _started(
        self,
        legs: Legs,
        query: str,
        embedding: "Future[Matrix] | None",
        clauses: Sequence[RecognisedClause],
        scope: Scope,
        filters: SearchFilters,
    ) -> _StartedLegs:
        """The legs for the query and for the clause types that it asks for; meaning is looked for beside the rest."""
        settings = legs.settings
        meaning = None
        if embedding is not None:
            meaning = _beside().submit(self._by_meaning, legs, embedding, clauses, scope, filters)
        expansion = Expansion(
            expansion_terms(query, clauses),
            settings.clause_name_weight,
            _german_weights(settings),
            settings.contract_rows,
        )
        identifiers = analyse_query(query).identifier_terms
        return _StartedLegs(legs.by_words(query, identifiers, scope, filters, expansion), meaning)

    def _by_meaning(
        self,
        legs: Legs,
        embedding: "Future[Matrix]",
        clauses: Sequence[RecognisedClause],
        scope: Scope,
        filters: SearchFilters,
    ) -> list[tuple[str, float]]:
        vector = embedding.result()[0]
        if clauses:
            vector = mixed_vector(vector, clauses, self.wordings, legs.settings.clause_own_share)
        return legs.by_meaning(vector, scope, filters)

    def _rerank(
        self, query: str, passages: Sequence[tuple[_Candidate, ReadPassage]]
    ) -> list[tuple[_Candidate, ReadPassage]]:
        if self.reranker is None:
            raise UsageError("rerank_enabled is true, but this service was opened without a rerank_model")
        head, tail = passages[:_RERANK_DEPTH], passages[_RERANK_DEPTH:]
        scores = self.reranker.score(query, [passage.text for _, passage in head])
        order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
        return [*(head[place] for place in order), *tail]


@lru_cache(maxsize=1)
def _beside() -> ThreadPoolExecutor:
    """Where meaning is looked for while words are: both take some milliseconds of a core.

    What waits for another task in here was handed in after it, so that no number of workers is too few.
    """
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="query")


def _notes(settings: RetrievalSettings) -> tuple[str, ...]:
    if settings.rerank_enabled:
        return ()
    why = "no rerank_model is set" if settings.rerank_model is None else "rerank_enabled is false"
    return (f"rerank is off: {why}",)


def _named_papers(
    session: CatalogSession,
    query: str,
    best: Sequence[Occurrence],
    profiles: Sequence[Occurrence],
    matches: ProfileMatches,
) -> _NamedPapers | None:
    if not best:
        return None
    first = min(best, key=tie_key)
    names = session.passages.header(first.row_key)
    opening = session.passages.text_between(first.object_id, 0, OPENING_CHARS)
    mention = find_mention(query, Named(names, opening), matches)
    if mention is None:
        return None
    document_keys = frozenset(each.document_key for each in best)
    versions = {each.object_id for each in profiles if each.document_key in document_keys}
    profile_keys = frozenset(each.row_key for each in best)
    return _NamedPapers(mention, document_keys, session.passages.row_keys_of_objects(versions), profile_keys)


def _titles(session: CatalogSession, named: _NamedPapers, filters: SearchFilters, scope: Scope) -> tuple[str, ...]:
    """The titles of the papers that the query names, as far as they may still be seen."""
    seen = fitting(session, session.occurrences.of_rows(named.profile_keys, scope), filters, scope)
    return tuple(dict.fromkeys(each.title for each in sorted(seen, key=tie_key)))


def _explanation(
    analysis: QueryAnalysis,
    named: _NamedPapers | None,
    clauses: Sequence[RecognisedClause],
    titles: tuple[str, ...],
    rows: LegRows,
    documents: DocumentScores,
    settings: RetrievalSettings,
) -> QueryExplanation:
    if not titles:
        named = None
    return QueryExplanation(
        values=(
            *(f"{each.kind}: {each.raw}" for each in analysis.identifiers),
            *(f"quotation: {each}" for each in analysis.quotations),
        ),
        mention=named.mention.words if named else (),
        mentioned=titles,
        clause_types=tuple(f"{each.type.id}: {' '.join(each.matched_words)}" for each in clauses),
        question=named.mention.rest if named else "",
        leg_sizes=leg_sizes(rows, documents, settings),
        holds_wording=len(rows.holding_wording),
    )


def _german_weights(settings: RetrievalSettings) -> GermanWeights:
    return GermanWeights(settings.german_form_weight, settings.german_part_weight)


def _hit(candidate: _Candidate, passage: ReadPassage) -> SearchHit:
    properties = passage.properties
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
        passage=passage.text,
        start_char=each.start_char,
        end_char=each.end_char,
        text_sha256=each.text_sha256,
        converter=each.converter,
        page=passage.notes.page,
        degraded=passage.notes.degraded,
        document_type=properties.document_type if properties else DocumentType.UNKNOWN,
        language=properties.language if properties else Language.UNKNOWN,
        document_date=properties.date.day if properties else None,
        date_evidence=properties.date.evidence if properties else None,
        score=candidate.score,
        legs=candidate.legs,
        other_versions=candidate.place.other_versions,
        most_binding=candidate.place.most_binding,
    )
