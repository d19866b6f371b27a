"""Finds wording that tracked changes took away; it never mixes with what a text says now."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.passage_records import DeletedWords
from knowledge_index.domain.documents import ChangeKind
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.index.analysis import indexing_analyzer, normalised, query_terms
from knowledge_index.retrieval.filtering import fitting_objects
from knowledge_index.retrieval.hit_ids import hit_id_of


@dataclass(frozen=True)
class DeletedWording:
    """Words that no longer stand in a paper: who took them away, when, and from where.

    ``share`` is the part of the query's words that they have, above 0 and at most 1. ``start_char`` is the place in the
    current text where they stood. ``hit_id`` names the passage of the current text around that place, if there is one.
    """

    source: str
    path: str
    title: str
    version_status: VersionStatus
    matter_ref: str
    matter_title: str
    kind: ChangeKind
    author: str | None
    date: str | None
    text: str
    start_char: int
    share: float
    hit_id: str | None


def search_deleted(
    catalog: Catalog, query: str, scope: Scope, filters: SearchFilters, limit: int
) -> tuple[DeletedWording, ...]:
    """The best ``limit`` deletions and moves away in papers that the caller may see, by the share of words matched.

    Equal shares are ordered by the keyed hash of source and path, then by place. Words are compared as the lexical
    index compares them. Nothing is counted over other papers, so none behind a wall has an influence.

    Raises:
        UsageError: the query has no words, or the limit is not positive.
    """
    wanted = query_terms(query).alternatives
    if not wanted:
        raise UsageError("the query has no words; give some that were deleted")
    if limit < 1:
        raise UsageError(f"the limit has to be 1 or more, not {limit}")
    with catalog.transaction() as session:
        current_scope = compile_scope(session, scope.principals)
        narrowed = Scope(
            scope.principals, scope.acl_class_ids & current_scope.acl_class_ids, current_scope.policy_epoch
        )
        found: Iterator[DeletedWords] = session.changes.deleted_words(narrowed)
        if filters.matter_refs:
            found = (each for each in found if each.matter_ref in filters.matter_refs)
        if filters.select_documents:
            fit = fitting_objects(session, filters, narrowed)
            found = (each for each in found if each.object_id in fit)
        matching = ((matched, each) for each in found if (matched := _matched(each.change.text, wanted)))
        best = heapq.nsmallest(limit, matching, key=lambda pair: (-pair[0], pair[1].object_key, pair[1].ordinal))
        hits = []
        for matched, each in best:
            passage = session.occurrences.around(each.object_id, each.change.start_char, narrowed)
            hits.append(_hit(each, matched / len(wanted), None if passage is None else hit_id_of(passage)))
    return tuple(hits)


def _matched(text: str, wanted: tuple[tuple[str, ...], ...]) -> int:
    terms = set(indexing_analyzer().analyze(normalised(text)))
    return sum(not terms.isdisjoint(alternatives) for alternatives in wanted)


def _hit(each: DeletedWords, share: float, hit_id: str | None) -> DeletedWording:
    change = each.change
    return DeletedWording(
        source=each.source,
        path=each.path,
        title=each.title,
        version_status=each.version_status,
        matter_ref=each.matter_ref,
        matter_title=each.matter_title,
        kind=change.kind,
        author=change.author,
        date=change.date,
        text=change.text,
        start_char=change.start_char,
        share=share,
        hit_id=hit_id,
    )
