"""Brings the catalog to what sources hold now, whichever of them can be read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from knowledge_index.access import grants_sha256
from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import SourceRecord
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import SourceError, UsageError
from knowledge_index.domain.grants import Grant
from knowledge_index.domain.progress import Progress
from knowledge_index.pipeline.relating import renew_relations
from knowledge_index.sources import open_source
from knowledge_index.sources.acl_map import load_acl_map
from knowledge_index.sources.sync import SyncReport, apply_grants, sync_source


@dataclass(frozen=True)
class SourceFailure:
    """A source that could not be read as a whole; its known files got the grants of the map nevertheless."""

    source: str
    message: str
    grants_changed: int


def configured_sources(catalog: Catalog, name: str | None) -> list[SourceRecord]:
    """The source of that name, or all of them, by name.

    Raises:
        UsageError: there is none.
    """
    with catalog.transaction() as session:
        records = session.sources.all()
    if name is not None:
        records = [record for record in records if record.name == name]
    if not records:
        what = f"there is no source named '{name}'" if name is not None else "there is no source yet"
        raise UsageError(f"{what}; connect one with 'ki add-source DIR --name NAME'")
    return records


def grants_of(record: SourceRecord) -> Mapping[str, tuple[Grant, ...]]:
    """The grants that a source's ACL map states now; a source without a map grants nothing.

    Raises:
        PermissionMapError: the map cannot be read or is malformed.
    """
    return load_acl_map(Path(record.acl_map)) if record.acl_map else {}


def sync_sources(
    home: Home,
    catalog: Catalog,
    records: Sequence[SourceRecord],
    recorder: AccessRecorder,
    *,
    rehash: bool,
    confirm_deletions: bool,
    scan_counts: bool,
    clock: Callable[[], datetime],
    progress: Progress,
) -> list[SyncReport | SourceFailure]:
    """Sync each source; one that cannot be read stops no other. The caller holds the writer lock.

    The audit log has an entry before the grants of a source are applied and one after, so that no grant is ever in
    force that the log does not tell of.

    Raises:
        PermissionMapError: a map is malformed; nothing of any source was recorded.
        AuditLogError: it could not be logged; nothing of that source and the following ones was changed.
    """
    grants = {record.name: grants_of(record) for record in records}
    key = home.installation_key()
    outcomes: list[SyncReport | SourceFailure] = []
    for record in records:
        recorder.record_operation(
            AuditAction.REGRANT,
            event="applying",
            source=record.name,
            grants_sha256=grants_sha256(grants[record.name]),
        )
        try:
            outcomes.append(
                sync_source(
                    catalog,
                    record,
                    open_source(record),
                    grants[record.name],
                    installation_key=key,
                    rehash=rehash,
                    clock=clock,
                    progress=progress,
                    confirm_deletions=confirm_deletions,
                    scan_counts=scan_counts,
                )
            )
        except SourceError as error:
            regranted = apply_grants(catalog, record, grants[record.name])
            outcomes.append(SourceFailure(record.name, str(error), regranted))
        recorder.record_operation(
            AuditAction.REGRANT, event="applied", source=record.name, changed=outcomes[-1].grants_changed
        )
    renew_relations(catalog, forget_old_titles=True)
    return outcomes


def remove_source(catalog: Catalog, record: SourceRecord, *, clock: Callable[[], datetime]) -> int:
    """Tombstone every object of a source and take it out of the configuration; returns how many objects there were.

    No search finds them from now on; the next run takes their rows out of the indexes. The caller holds the lock.
    """
    at = clock().isoformat(timespec="seconds")
    with catalog.transaction() as session:
        session.holds.set(record.id, None)
        count = session.objects.end_all(record.id, at)
        session.sources.remove(record.id, at)
    return count
