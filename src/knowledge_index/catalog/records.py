"""What the catalog hands out and takes."""

from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.domain.versions import VersionStatus


class ObjectState(StrEnum):
    """The life of one state of a path."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    TOMBSTONED = "tombstoned"


class FindingKind(StrEnum):
    """What a scan found that an operator has to look at."""

    UNREADABLE = "unreadable"
    SKIPPED = "skipped"
    GRANTS_WITHOUT_FILE = "grants_without_file"


@dataclass(frozen=True)
class SourceRecord:
    """One configured estate; ``root`` and ``acl_map`` are absolute paths."""

    id: int
    name: str
    kind: str
    root: str
    acl_map: str | None
    last_synced_at: str | None


@dataclass(frozen=True)
class ObservedObject:
    """A file as a scan saw it; ``disk_path`` is its name as stored on disk, ``path`` the same in NFC."""

    path: str
    disk_path: str
    object_key: str
    blob_sha256: str
    size_bytes: int
    mtime_ns: int
    inode: int
    acl_class_id: str


@dataclass(frozen=True)
class ObjectRecord:
    """The current state of a path as the sync engine compares it."""

    id: int
    path: str
    disk_path: str
    blob_sha256: str
    size_bytes: int
    mtime_ns: int
    inode: int
    acl_class_id: str


@dataclass(frozen=True)
class Relation:
    """What a source object's name and folders, and its paper's other versions in the same ACL class, tell."""

    document_key: str
    title: str
    version_status: VersionStatus
    version_order: str
    matter_ref: str
    matter_title: str


@dataclass(frozen=True)
class PipelineObject:
    """A current source object as the pipeline sees it."""

    id: int
    source: str
    path: str
    disk_path: str
    blob_sha256: str
    acl_class_id: str
    converted_document_id: int | None
    converter_name: str | None
    converter_version: str | None
    text_sha256: str | None
    stated_title: str | None
    enricher_version: str | None
    relation: Relation | None
    quarantine_class: str | None
    quarantine_converter: str | None
    index_fingerprint: str | None


@dataclass(frozen=True)
class StoredIdentifier:
    """An identifier with its place in a converted document's text."""

    kind: str
    raw: str
    normalised: str
    start_char: int
    end_char: int


@dataclass(frozen=True)
class IndexRowRecord:
    """What the catalog knows of one index row; ``text`` begins with ``header``, which is no part of the passage."""

    row_key: str
    acl_class_id: str
    matter_ref: str
    header: str
    terms: tuple[str, ...]


@dataclass(frozen=True)
class ChunkRecord:
    """Where a passage stands in a source object's text."""

    row_key: str
    start_char: int
    end_char: int
    heading: str


@dataclass(frozen=True)
class Occurrence:
    """A passage in one current source object that the caller may see."""

    row_key: str
    object_id: int
    object_key: str
    source: str
    path: str
    document_key: str
    title: str
    version_status: VersionStatus
    version_order: str
    matter_ref: str
    matter_title: str
    heading: str
    start_char: int
    end_char: int
    text_sha256: str
    converter: str


@dataclass(frozen=True)
class DeletionHold:
    """Objects that are missing from their source and stay current, as too many vanished at once to be believed.

    ``scans`` have agreed so far that exactly ``object_ids`` are missing, the first of all holds at ``since``.
    """

    since: str
    scans: int
    object_ids: frozenset[int]


@dataclass(frozen=True)
class HeldDeletion:
    """A hold as operators see it: how many objects of which source, since when, after how many scans."""

    source: str
    objects: int
    since: str
    scans: int


@dataclass(frozen=True)
class SourcePath:
    """A path of a source, for operators."""

    source: str
    path: str


@dataclass(frozen=True)
class ScanFinding:
    """What the last scan of a source found at a path, and why an operator has to look at it."""

    source: str
    kind: FindingKind
    path: str
    reason: str


@dataclass(frozen=True)
class QuarantinedObject:
    """A source object whose text could not be had, and why."""

    source: str
    path: str
    error_class: str
    message: str


@dataclass(frozen=True)
class SourceStatus:
    """Counts of one source, for operators."""

    name: str
    kind: str
    root: str
    acl_map: str | None
    last_synced_at: str | None
    current: int
    indexed: int
    pending: int
    quarantined: int
    without_grants: int
    superseded: int
    tombstoned: int


@dataclass(frozen=True)
class WallTwin:
    """Identical bytes that lie under more than one ACL class, for operators."""

    blob_sha256: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Unsearchable:
    """A path that a search cannot find now, and why."""

    path: str
    reason: str
