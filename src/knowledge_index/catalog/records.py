"""What the catalog hands out and takes."""

from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.domain.principals import Principal
from knowledge_index.domain.versions import VersionStatus


class ObjectState(StrEnum):
    """The life of one state of a path."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    TOMBSTONED = "tombstoned"


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
class QuarantinedObject:
    """A source object whose text could not be had, and why."""

    source: str
    path: str
    error_class: str
    message: str


@dataclass(frozen=True)
class UnreadObject:
    """A source object that a caller may see and no search can find, and why."""

    source: str
    path: str
    reason: str


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


@dataclass(frozen=True)
class NewOpening:
    """A wall to be opened for one principal: the ACL classes of what lies at ``path`` ("" for all) of ``source``.

    Times are UTC, ISO 8601 with microseconds, so that their texts sort as they do.
    """

    principal: Principal
    source: str
    path: str
    acl_class_ids: tuple[str, ...]
    reason: str
    opened_at: str
    expires_at: str


@dataclass(frozen=True)
class WallOpening(NewOpening):
    """A wall that was opened; ``revoked_at`` is set where it was closed before its time."""

    id: int
    revoked_at: str | None


@dataclass(frozen=True)
class PathGrants:
    """A current source object and the id of its ACL class."""

    source: str
    path: str
    acl_class_id: str
