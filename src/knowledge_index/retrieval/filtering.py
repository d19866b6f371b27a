"""Which documents a search's filters let through, told of what the caller may see."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date

from knowledge_index.catalog import CatalogSession
from knowledge_index.catalog.passage_records import Occurrence
from knowledge_index.catalog.records import VersionPair, VersionRecord
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.retrieval.versions import in_order


def narrowed(session: CatalogSession, filters: SearchFilters, scope: Scope) -> SearchFilters:
    """The filters with the rows that the legs may rank.

    A row may stand in several documents: it is in where one that the caller may see fits.
    """
    if not filters.select_documents:
        return filters
    return replace(filters, only_row_keys=session.properties.row_keys(fitting_objects(session, filters, scope)))


def fitting(
    session: CatalogSession, occurrences: Sequence[Occurrence], filters: SearchFilters, scope: Scope
) -> list[Occurrence]:
    """Those of the occurrences whose own document the filters let through, in the order given."""
    kept = [each for each in occurrences if not filters.matter_refs or each.matter_ref in filters.matter_refs]
    if not filters.select_documents:
        return kept
    ids = fitting_objects(session, filters, scope, {each.object_id for each in kept})
    return [each for each in kept if each.object_id in ids]


def fitting_objects(
    session: CatalogSession, filters: SearchFilters, scope: Scope, among: Collection[int] | None = None
) -> set[int]:
    """The visible objects (``among`` these, if given) that the filters let through, matters aside.

    A version's status is that in its chain, which consists of what the caller may see.
    """
    if filters.as_of is not None:
        found = session.properties.fitting(filters, scope, among)
        return found & _latest_known(session, found, filters.version_statuses, filters.as_of, scope)
    if not filters.version_statuses:
        return session.properties.fitting(filters, scope, among)
    found = session.properties.fitting(filters, scope, among, filters.version_statuses - {VersionStatus.UNKNOWN})
    if filters.version_statuses == {VersionStatus.EXECUTED}:
        # No chain makes a version executed whose own name and folder do not say so.
        return found
    silent = session.properties.fitting(filters, scope, among, {VersionStatus.UNKNOWN})
    papers = session.versions.papers(session.properties.document_keys(silent), scope)
    return found | {each for each in silent if papers.status_of_silent(each) in filters.version_statuses}


def _latest_known(
    session: CatalogSession, objects: Collection[int], statuses: Collection[VersionStatus], as_of: date, scope: Scope
) -> set[int]:
    """Of each paper that the objects are versions of, the latest version of that day; in the order of its chain."""
    chains = session.versions.chains(session.properties.document_keys(objects), scope)
    days = session.properties.days({each.object_id for versions in chains.values() for each in versions})
    known: dict[str, list[VersionRecord]] = {}
    for name, versions in chains.items():
        known[name] = [
            each
            for each in versions
            if days.get(each.object_id, date.max) <= as_of and (not statuses or each.version_status in statuses)
        ]
    name_of = {each.object_id: name for name, versions in known.items() if len(versions) > 1 for each in versions}
    pairs: defaultdict[str, list[VersionPair]] = defaultdict(list)
    for pair in session.versions.pairs_among(name_of):
        pairs[name_of[pair.object_id]].append(pair)
    return {in_order(versions, pairs[name])[-1].object_id for name, versions in known.items() if versions}
