"""Observes a source and records what is new, changed, moved or gone."""

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from knowledge_index.access import acl_class_of
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.records import ObjectRecord, ObjectState, ObservedObject, SourceRecord
from knowledge_index.domain.errors import SourceError
from knowledge_index.domain.grants import AclClass, Grant
from knowledge_index.domain.progress import Progress
from knowledge_index.sources.base import ListedFile, SkippedFile, SyncSource


@dataclass(frozen=True)
class SyncReport:
    """What one sync of one source found.

    ``unreadable`` files keep the state that they had: their silence is not taken for a deletion.
    """

    source: str
    new: int
    changed: int
    moved: int
    gone: int
    unchanged: int
    grants_changed: int
    hashed: int
    skipped: tuple[SkippedFile, ...]
    unreadable: tuple[SkippedFile, ...]


def object_key_of(installation_key: bytes, source_name: str, path: str) -> str:
    """The public name and tie key of a path: a keyed hash (HMAC-SHA256, 32 hex digits) of source and path."""
    message = f"{source_name}\0{path}".encode()
    return hmac.new(installation_key, message, hashlib.sha256).hexdigest()[:32]


def sync_source(
    catalog: Catalog,
    record: SourceRecord,
    source: SyncSource,
    grants: Mapping[str, tuple[Grant, ...]],
    *,
    installation_key: bytes,
    rehash: bool,
    clock: Callable[[], datetime],
    progress: Progress,
) -> SyncReport:
    """Scan the source in full and record the difference in one transaction.

    A file whose size, time and inode are as before is not read again unless ``rehash``; else its SHA-256 decides.
    A path without an entry in ``grants`` is visible to nobody.

    Raises:
        SourceError: the source as a whole cannot be read; nothing was changed.
    """
    listed: list[ListedFile] = []
    skipped: list[SkippedFile] = []
    for each in source.list_files():
        if isinstance(each, ListedFile):
            listed.append(each)
        else:
            skipped.append(each)
    with catalog.transaction() as session:
        known = {each.path: each for each in session.objects.current(record.id)}
    classes = _Classes(grants)
    observed: list[ObservedObject] = []
    unreadable: list[SkippedFile] = []
    hashed = 0
    with progress.task(f"sync {record.name}", len(listed)) as task:
        for file in listed:
            before = known.get(file.path)
            # Also for a file that turns out to be unreadable: a new wall's class has to be stored before it is given.
            acl_class = classes.of(file.path)
            try:
                if before is not None and not rehash and _hints(before) == _hints(file):
                    sha256 = before.blob_sha256
                else:
                    sha256 = hashlib.sha256(source.read(file.disk_path)).hexdigest()
                    hashed += 1
            except SourceError as error:
                unreadable.append(SkippedFile(file.path, str(error)))
            else:
                observed.append(
                    ObservedObject(
                        path=file.path,
                        disk_path=file.disk_path,
                        object_key=object_key_of(installation_key, record.name, file.path),
                        blob_sha256=sha256,
                        size_bytes=file.size_bytes,
                        mtime_ns=file.mtime_ns,
                        inode=file.inode,
                        acl_class_id=acl_class.id,
                    )
                )
            task.advance()
    seen = {file.path for file in listed}
    gone = [each for each in known.values() if each.path not in seen]
    at = clock().isoformat(timespec="seconds")
    with catalog.transaction() as session:
        for acl_class in classes.used():
            session.acl_classes.put(acl_class)
        counts = _record(session, record.id, known, observed, gone, at)
        # A file that cannot be read now is still subject to a wall that went up meanwhile.
        regranted = counts.grants_changed + _regrant(session, known, unreadable, classes)
        if regranted:
            session.meta.raise_policy_epoch()
        session.sources.set_synced(record.id, at)
    return SyncReport(
        source=record.name,
        new=counts.new,
        changed=counts.changed,
        moved=counts.moved,
        gone=len(gone) - counts.moved,
        unchanged=counts.unchanged,
        grants_changed=regranted,
        hashed=hashed,
        skipped=tuple(skipped),
        unreadable=tuple(unreadable),
    )


def apply_grants(catalog: Catalog, record: SourceRecord, grants: Mapping[str, tuple[Grant, ...]]) -> int:
    """Apply the grants to all known paths of a source that cannot be read now; returns how many changed class.

    A wall has to go up whether or not the share behind it can be reached.
    """
    classes = _Classes(grants)
    with catalog.transaction() as session:
        known = session.objects.current(record.id)
        changed = [each for each in known if each.acl_class_id != classes.of(each.path).id]
        for acl_class in classes.used():
            session.acl_classes.put(acl_class)
        for each in changed:
            session.objects.set_acl_class(each.id, classes.of(each.path).id)
        if changed:
            session.meta.raise_policy_epoch()
    return len(changed)


class _Classes:
    """The ACL class of each path, one object a distinct class."""

    def __init__(self, grants: Mapping[str, tuple[Grant, ...]]) -> None:
        self._grants = grants
        self._by_grants: dict[tuple[Grant, ...], AclClass] = {}

    def of(self, path: str) -> AclClass:
        grants = self._grants.get(path, ())
        if grants not in self._by_grants:
            self._by_grants[grants] = acl_class_of(grants)
        return self._by_grants[grants]

    def used(self) -> list[AclClass]:
        return sorted(self._by_grants.values(), key=lambda each: each.id)


@dataclass
class _Counts:
    new: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    grants_changed: int = 0


def _record(
    session: CatalogSession,
    source_id: int,
    known: Mapping[str, ObjectRecord],
    observed: Sequence[ObservedObject],
    gone: Sequence[ObjectRecord],
    at: str,
) -> _Counts:
    counts = _Counts()
    gone_by_blob: defaultdict[str, list[ObjectRecord]] = defaultdict(list)
    for each in gone:
        gone_by_blob[each.blob_sha256].append(each)
    # Ended first: a path may be current only once.
    session.objects.end([each.id for each in gone], ObjectState.TOMBSTONED, at)
    for seen in observed:
        before = known.get(seen.path)
        if before is None:
            candidates = gone_by_blob[seen.blob_sha256]
            origin = candidates.pop(0) if candidates else None
            session.objects.add(source_id, seen, at, origin.id if origin else None)
            counts.moved += origin is not None
            counts.new += origin is None
        elif before.blob_sha256 != seen.blob_sha256:
            session.objects.end([before.id], ObjectState.SUPERSEDED, at)
            session.objects.add(source_id, seen, at)
            counts.changed += 1
            counts.grants_changed += before.acl_class_id != seen.acl_class_id
        else:
            counts.unchanged += 1
            counts.grants_changed += before.acl_class_id != seen.acl_class_id
            if _stored(before) != _stored(seen):
                session.objects.update_hints(before.id, seen)
    return counts


def _regrant(
    session: CatalogSession, known: Mapping[str, ObjectRecord], unreadable: Sequence[SkippedFile], classes: _Classes
) -> int:
    changed = 0
    for each in unreadable:
        before = known.get(each.path)
        if before is not None and before.acl_class_id != classes.of(each.path).id:
            session.objects.set_acl_class(before.id, classes.of(each.path).id)
            changed += 1
    return changed


def _hints(file: ObjectRecord | ListedFile) -> tuple[str, int, int, int]:
    return file.disk_path, file.size_bytes, file.mtime_ns, file.inode


def _stored(each: ObjectRecord | ObservedObject) -> tuple[str, int, int, int, str]:
    return each.disk_path, each.size_bytes, each.mtime_ns, each.inode, each.acl_class_id
