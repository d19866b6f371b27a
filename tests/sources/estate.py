"""An estate to sync: a real folder or a source told what to hold, a real catalog, and what a sync made of it."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import SourceRecord
from knowledge_index.catalog.status_records import SourceStatus
from knowledge_index.domain.errors import SourceError, VanishedFileError
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.sources.base import HashedFile, ListedFile, SkippedFile, SyncSource
from knowledge_index.sources.sync import SyncReport, sync_source

KEY = bytes(range(32))
AT = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def allow(*principals: str) -> tuple[Grant, ...]:
    return tuple(Grant(Principal.parse(each), Access.ALLOW) for each in principals)


def deny(*principals: str) -> tuple[Grant, ...]:
    return tuple(Grant(Principal.parse(each), Access.DENY) for each in principals)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class HeldFile:
    content: bytes
    mtime_ns: int = 1
    inode: int = 1
    is_readable: bool = True


@dataclass
class FakeSource:
    """Keeps :class:`SyncSource` over files in memory, and says which it was asked for."""

    files: dict[str, HeldFile] = field(default_factory=dict)
    fails_after: int | None = None
    read_paths: list[str] = field(default_factory=list)

    def list_files(self) -> Iterator[ListedFile | SkippedFile]:
        for number, (path, held) in enumerate(sorted(self.files.items())):
            if number == self.fails_after:
                raise SourceError("the connection was lost")
            yield ListedFile(path, path, len(held.content), held.mtime_ns, held.inode)

    def look(self, disk_path: str) -> ListedFile | None:
        held = self.files.get(disk_path)
        return held and ListedFile(disk_path, disk_path, len(held.content), held.mtime_ns, held.inode)

    def hash(self, disk_path: str) -> HashedFile:
        content = self.read(disk_path)
        held = self.files[disk_path]
        return HashedFile(ListedFile(disk_path, disk_path, len(content), held.mtime_ns, held.inode), sha256(content))

    def read(self, disk_path: str) -> bytes:
        self.read_paths.append(disk_path)
        if disk_path not in self.files:
            raise VanishedFileError(f"{disk_path}: cannot be read: no such file")
        if not self.files[disk_path].is_readable:
            raise SourceError(f"{disk_path}: cannot be read: permission denied")
        return self.files[disk_path].content


@dataclass(frozen=True)
class Estate:
    """One source of a catalog and the means to sync it."""

    catalog: Catalog
    source: SyncSource
    name: str = "dms"

    def __post_init__(self) -> None:
        with self.catalog.transaction() as session:
            session.sources.add(self.name, "local_fs", f"/{self.name}", None)

    @property
    def record(self) -> SourceRecord:
        with self.catalog.transaction() as session:
            return next(each for each in session.sources.all() if each.name == self.name)

    @property
    def status(self) -> SourceStatus:
        with self.catalog.transaction() as session:
            return next(each for each in session.status.sources() if each.name == self.name)

    def sync(
        self,
        grants: Mapping[str, tuple[Grant, ...]] | None = None,
        *,
        rehash: bool = False,
        confirm_deletions: bool = False,
        scan_counts: bool = True,
    ) -> SyncReport:
        return sync_source(
            self.catalog,
            self.record,
            self.source,
            grants or {},
            installation_key=KEY,
            rehash=rehash,
            clock=lambda: AT,
            progress=SilentProgress(),
            confirm_deletions=confirm_deletions,
            scan_counts=scan_counts,
        )

    def blobs(self) -> dict[str, str]:
        """The hash of every current path."""
        with self.catalog.transaction() as session:
            return {each.path: each.blob_sha256 for each in session.objects.current(self.record.id)}

    def grants(self) -> dict[str, tuple[Grant, ...]]:
        """The grants of every current path."""
        with self.catalog.transaction() as session:
            return {
                path: grants
                for (source, path), grants in session.acl_classes.grants_by_path().items()
                if source == self.name
            }

    def epoch(self) -> int:
        with self.catalog.transaction() as session:
            return session.meta.policy_epoch()


def counts(report: SyncReport) -> dict[str, int]:
    """The counts that are not 0."""
    names = ("new", "changed", "moved", "gone", "unchanged", "grants_changed", "hashed")
    return {name: getattr(report, name) for name in names if getattr(report, name)}
