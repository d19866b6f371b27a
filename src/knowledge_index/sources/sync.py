"""Observes a source and records what is new, changed, moved or gone."""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from knowledge_index.access import acl_class_of
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.records import (
    DeletionHold,
    FindingKind,
    ObjectRecord,
    ObjectState,
    ObservedObject,
    SourceRecord,
)
from knowledge_index.domain.errors import SourceError, UsageError, VanishedFileError
from knowledge_index.domain.grants import AclClass, Grant
from knowledge_index.domain.progress import Progress
from knowledge_index.sources.base import HashedFile, ListedFile, SkippedFile, SyncSource
from knowledge_index.sources.census import Census, take_census
from knowledge_index.sources.disappearance import judge
from knowledge_index.sources.moves import Move, match_moves


@dataclass(frozen=True)
class SyncReport:
    """What one sync of one source found.

    ``unreadable`` files keep the state that they had: their silence is not taken for a deletion. ``vanished`` were
    listed and gone before they could be read; the next sync decides. ``hold`` are objects that are missing and stay
    current, as too many vanished at once. Paths in ``without_grants`` are visible to nobody; ``moved_out_of_sight``
    are the moves that led there; ``grants_without_file`` are the map's entries that match no file.
    """

    source: str
    new: int
    changed: int
    moved: int
    gone: int
    unchanged: int
    grants_changed: int
    hashed: int
    noise: int
    vanished: int
    skipped: tuple[SkippedFile, ...]
    unreadable: tuple[SkippedFile, ...]
    hold: DeletionHold | None
    without_grants: tuple[str, ...]
    moved_out_of_sight: tuple[Move, ...]
    grants_without_file: tuple[str, ...]


def object_key_of(installation_key: bytes, source_name: str, path: str) -> str:
    """The public name and tie key of a path: a keyed hash (HMAC-SHA256, 32 hex digits) of source and path.

    Of the path of this moment and nothing else: a key that a file kept when it moved would tell of a past that its
    caller may not have been allowed to see. That two paths are one file is a link inside the catalog.
    """
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
    confirm_deletions: bool = False,
    scan_counts: bool = True,
) -> SyncReport:
    """Scan the source in full and record the difference in one transaction.

    A file whose size, time and inode are as before is not read again unless ``rehash``; else its SHA-256 decides.
    A path without an entry in ``grants`` is visible to nobody. What is missing is judged as
    :func:`~knowledge_index.sources.disappearance.judge` says; ``confirm_deletions`` has it believed at once, and
    without ``scan_counts`` this scan is none of those that have to agree.

    Raises:
        SourceError: the source as a whole cannot be read; nothing was changed.
        UsageError: the source has been removed.
    """
    with catalog.transaction() as session:
        known = {each.path: each for each in session.objects.current(record.id)}
    census = take_census(source, known.values())
    classes = _Classes(grants)
    observed: dict[str, ObservedObject] = {}
    unreadable: list[SkippedFile] = []
    vanished: list[str] = []
    hashed = 0
    with progress.task(f"sync {record.name}", len(census.files)) as task:
        for file in census.files:
            before = known.get(file.path)
            try:
                if before is not None and not rehash and _hints(before) == _hints(file):
                    now = HashedFile(file, before.blob_sha256)
                else:
                    now = source.hash(file.disk_path)
                    hashed += 1
            except VanishedFileError:
                vanished.append(file.path)
            except SourceError as error:
                unreadable.append(SkippedFile(file.path, str(error)))
            else:
                key = object_key_of(installation_key, record.name, file.path)
                observed[file.path] = _observed(now, key, classes.of(file.path))
            task.advance()
    at = clock().isoformat(timespec="seconds")
    listed = {file.path for file in census.files}
    absent = [each for path, each in known.items() if path not in listed]
    new = [each for path, each in observed.items() if path not in known]
    moves = match_moves(absent, new)
    origins = {move.origin.id for move in moves}
    with catalog.transaction() as session:
        if record.id not in {each.id for each in session.sources.all()}:
            raise UsageError(f"source '{record.name}' has been removed; add it again with 'ki add-source' to sync it")
        verdict = judge(
            [each.id for each in absent if each.id not in origins],
            len(known),
            session.holds.get(record.id),
            at=at,
            confirmed=confirm_deletions,
            counts=scan_counts,
        )
        session.holds.set(record.id, verdict.hold)
        ended = verdict.gone | origins
        # A file that cannot be read, or whose absence is not believed, is still subject to a wall that went up.
        kept = [each for path, each in known.items() if path not in observed and each.id not in ended]
        regranted = _regrant(session, kept, classes)
        for acl_class in classes.used():
            session.acl_classes.put(acl_class)
        # Ended first: a path may be current only once.
        session.objects.end(sorted(ended), ObjectState.TOMBSTONED, at)
        changed = _record(session, record.id, known, observed.values(), moves, at)
        regranted += sum(
            each.acl_class_id != known[path].acl_class_id for path, each in observed.items() if path in known
        )
        if regranted:
            session.meta.raise_policy_epoch()
        current = sorted((*observed, *(each.path for each in kept)))
        unmatched = sorted(grants.keys() - set(current) - _present(census))
        session.sources.set_synced(record.id, at)
        session.sources.set_findings(record.id, _findings(census.skipped, unreadable, unmatched))
    return SyncReport(
        source=record.name,
        new=len(new) - len(moves),
        changed=changed,
        moved=len(moves),
        gone=len(verdict.gone),
        unchanged=len(observed) - len(new) - changed,
        grants_changed=regranted,
        hashed=hashed,
        noise=len(census.noise),
        vanished=len(vanished),
        skipped=census.skipped,
        unreadable=tuple(unreadable),
        hold=verdict.hold,
        without_grants=tuple(path for path in current if not classes.of(path).grants),
        moved_out_of_sight=tuple(move for move in moves if not classes.of(move.to).grants),
        grants_without_file=tuple(unmatched),
    )


def apply_grants(catalog: Catalog, record: SourceRecord, grants: Mapping[str, tuple[Grant, ...]]) -> int:
    """Apply the grants to all known paths of a source that cannot be read now; returns how many changed class.

    A wall has to go up whether or not the share behind it can be reached.
    """
    with catalog.transaction() as session:
        regranted = _regrant(session, session.objects.current(record.id), _Classes(grants))
        if regranted:
            session.meta.raise_policy_epoch()
    return regranted


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


def _record(
    session: CatalogSession,
    source_id: int,
    known: Mapping[str, ObjectRecord],
    observed: Iterable[ObservedObject],
    moves: Sequence[Move],
    at: str,
) -> int:
    """Returns how many files hold other bytes than before."""
    origins = {move.to: move.origin.id for move in moves}
    changed = 0
    for seen in observed:
        before = known.get(seen.path)
        if before is None:
            session.objects.add(source_id, seen, at, origins.get(seen.path))
        elif before.blob_sha256 != seen.blob_sha256:
            session.objects.end([before.id], ObjectState.SUPERSEDED, at)
            session.objects.add(source_id, seen, at)
            changed += 1
        elif _stored(before) != _stored(seen):
            session.objects.update_hints(before.id, seen)
    return changed


def _regrant(session: CatalogSession, objects: Iterable[ObjectRecord], classes: _Classes) -> int:
    """Give objects that were not read the class of their path; returns how many had another."""
    changed = [each for each in objects if each.acl_class_id != classes.of(each.path).id]
    for each in changed:
        session.acl_classes.put(classes.of(each.path))
        session.objects.set_acl_class(each.id, classes.of(each.path).id)
    return len(changed)


def _observed(now: HashedFile, object_key: str, acl_class: AclClass) -> ObservedObject:
    return ObservedObject(
        path=now.file.path,
        disk_path=now.file.disk_path,
        object_key=object_key,
        blob_sha256=now.sha256,
        size_bytes=now.file.size_bytes,
        mtime_ns=now.file.mtime_ns,
        inode=now.file.inode,
        acl_class_id=acl_class.id,
    )


def _present(census: Census) -> set[str]:
    """Every path at which something lies, whether it is indexed or not."""
    return {file.path for file in census.files} | {each.path for each in census.skipped} | census.noise


def _findings(
    skipped: Iterable[SkippedFile], unreadable: Iterable[SkippedFile], unmatched: Iterable[str]
) -> Iterator[tuple[FindingKind, str, str]]:
    for each in skipped:
        yield FindingKind.SKIPPED, each.path, each.reason
    for each in unreadable:
        yield FindingKind.UNREADABLE, each.path, each.reason
    for path in unmatched:
        yield FindingKind.GRANTS_WITHOUT_FILE, path, "the ACL map grants it, but no such file is there"


def _hints(file: ObjectRecord | ListedFile) -> tuple[str, int, int, int]:
    return file.disk_path, file.size_bytes, file.mtime_ns, file.inode


def _stored(each: ObjectRecord | ObservedObject) -> tuple[str, int, int, int, str]:
    return each.disk_path, each.size_bytes, each.mtime_ns, each.inode, each.acl_class_id
