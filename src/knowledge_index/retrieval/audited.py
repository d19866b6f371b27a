"""Searches and shows of people and their agents: each is in the audit log before its answer is handed out.

Whoever answers a caller goes through here. An evaluation does not: it asks thousands of queries as everyone, shows
nobody the passages, and has one entry of its own.
"""

from knowledge_index.access import compile_scope
from knowledge_index.access.break_glass import record_expired
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.catalog import Catalog
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import NotVisibleError
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters, SearchResult
from knowledge_index.retrieval.deleted_wording import DeletedWording, search_deleted
from knowledge_index.retrieval.service import RetrievalService
from knowledge_index.retrieval.showing import ShownPassage, show_in_scope


def search_as(
    service: RetrievalService,
    recorder: AccessRecorder,
    principals: frozenset[Principal],
    query: str,
    settings: RetrievalSettings,
    filters: SearchFilters,
    limit: int,
) -> SearchResult:
    """The best ``limit`` passages that a caller under these principals may see now; see ``RetrievalService.search``.

    Raises:
        AuditLogError: the search could not be recorded, so nothing is returned.
    """
    record_expired(service.catalog, recorder)
    with service.catalog.transaction() as session:
        scope = compile_scope(session, principals, recorder.clock())
    result = service.search(query, scope, settings, filters, limit)
    recorder.record_search(scope, query, (hit.hit_id for hit in result.hits))
    return result


def search_deleted_as(
    catalog: Catalog,
    recorder: AccessRecorder,
    principals: frozenset[Principal],
    query: str,
    filters: SearchFilters,
    limit: int,
) -> tuple[DeletedWording, ...]:
    """Deleted wording that a caller under these principals may see now; see ``search_deleted``.

    Raises:
        AuditLogError: the search could not be recorded, so nothing is returned.
    """
    record_expired(catalog, recorder)
    with catalog.transaction() as session:
        scope = compile_scope(session, principals, recorder.clock())
    found = search_deleted(catalog, query, scope, filters, limit)
    recorder.record_search(scope, query, (each.hit_id for each in found if each.hit_id))
    return found


def show_as(catalog: Catalog, recorder: AccessRecorder, principals: frozenset[Principal], hit_id: str) -> ShownPassage:
    """The passage that ``hit_id`` names, for a caller under these principals; see ``show_hit``.

    Raises:
        NotVisibleError: there is nothing of this id that the caller may see; that it was asked for is recorded.
        AuditLogError: it could not be recorded, so nothing is returned.
    """
    record_expired(catalog, recorder)
    with catalog.transaction() as session:
        scope = compile_scope(session, principals, recorder.clock())
        try:
            shown = show_in_scope(session, hit_id, scope)
        except NotVisibleError:
            recorder.record_show(scope, hit_id, is_shown=False)
            raise
    recorder.record_show(scope, hit_id.strip(), is_shown=True)
    return shown
