"""What the catalog hands out and takes."""

from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.domain.document_dates import DocumentDate
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.documents import TrackedChange
from knowledge_index.domain.languages import Language
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.versions import PairEvidence, VersionStatus


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
    """What a source object's name, folders and text tell; its title also its paper's other versions in the same class.

    Objects that share ``document_key`` are versions of one paper by name. ``version_order`` sorts them as text. The
    evidence says in words what status and order rest on.
    """

    document_key: str
    title: str
    version_status: VersionStatus
    version_order: str
    matter_ref: str
    matter_title: str
    status_evidence: str = ""
    order_evidence: str = ""


@dataclass(frozen=True)
class VersionPair:
    """One piece of evidence that two objects are versions of one paper; ``similarity`` is the overlap it rests on.

    Directed evidence goes from the later version, ``object_id``, to the earlier one.
    """

    object_id: int
    other_id: int
    evidence: PairEvidence
    similarity: float


@dataclass(frozen=True)
class VersionRecord:
    """One version of a paper, as a caller sees it; status and order are those in the caller's chain."""

    object_id: int
    object_key: str
    source: str
    path: str
    document_key: str
    version_status: VersionStatus
    version_order: str
    status_evidence: str
    order_evidence: str
    text_sha256: str


@dataclass(frozen=True)
class PipelineObject:
    """A current source object as the pipeline sees it.

    A file inside another has the id of its container and of the file on disk around them all, whose path is
    ``outermost_path``; for a file on disk that is its own path, and both ids are None.
    """

    id: int
    source: str
    path: str
    disk_path: str
    blob_sha256: str
    acl_class_id: str
    container_object_id: int | None
    outermost_object_id: int | None
    outermost_path: str
    contained_depth: int
    converted_document_id: int | None
    converter_name: str | None
    converter_version: str | None
    text_sha256: str | None
    original_text_sha256: str | None
    stated_title: str | None
    enricher_version: str | None
    relation: Relation | None
    compared_as: str | None
    quarantine_class: str | None
    quarantine_converter: str | None
    index_fingerprint: str | None


@dataclass(frozen=True)
class ObjectProperties:
    """What filters ask of an object beside its path and its version's status; each is a fact of the object alone."""

    document_type: DocumentType
    language: Language
    date: DocumentDate


@dataclass(frozen=True)
class DescribedObject:
    """A current object with a text, with all that its properties are made from; None where there are none yet.

    ``sent_at`` is when it was sent, if it is a mail that says so, ``sent_around_at`` the same of the nearest mail that
    it lies in.
    """

    id: int
    path: str
    mtime_ns: int
    is_mail: bool
    sent_at: str | None
    sent_around_at: str | None
    language: Language
    opening_type: DocumentType
    properties: ObjectProperties | None


@dataclass(frozen=True)
class ContainedFileRecord:
    """What a container's conversion found inside it.

    ``error_class`` says why there is no text; ``error_converter`` (name and version) is the one that failed, or None
    where the container itself could not give the bytes out.
    """

    name: str
    blob_sha256: str
    size_bytes: int
    is_decoration: bool
    error_class: str | None
    error_message: str | None
    error_converter: str | None


@dataclass(frozen=True)
class ContainedObject:
    """A contained file as it becomes an object of its own; ``error`` sets it aside at once."""

    path: str
    object_key: str
    blob_sha256: str
    size_bytes: int
    error: "ObjectError | None"


@dataclass(frozen=True)
class ObjectError:
    """Why an object has no text, and the converter (name and version) that decides when it is tried again."""

    error_class: str
    message: str
    converter: str


@dataclass(frozen=True)
class StoredIdentifier:
    """An identifier with its place in a converted document's text."""

    kind: str
    raw: str
    normalised: str
    start_char: int
    end_char: int


class RowKind(StrEnum):
    """What an index row stands for."""

    PASSAGE = "passage"
    PROFILE = "profile"


@dataclass(frozen=True)
class IndexRowRecord:
    """What the catalog knows of one index row.

    ``header`` is indexed with the text and need be no part of it: the heading of the section that a passage belongs to,
    or the names of a profile's document. ``windows`` is how many vectors a passage has; 0 for a profile.
    """

    row_key: str
    kind: RowKind
    acl_class_id: str
    matter_ref: str
    header: str
    windows: int
    terms: tuple[str, ...]


def window_keys(row_key: str, windows: int) -> list[str]:
    """The keys of a row's vectors: the row's own for the first window, with the window's number for the others."""
    return [window_key(row_key, number) for number in range(windows)]


def window_key(row_key: str, number: int) -> str:
    """The key of one window's vector."""
    return row_key if number == 0 else f"{row_key}#{number}"


def window_of(key: str) -> tuple[str, int]:
    """The row and the window, counted from 0, that a vector's key names."""
    row_key, _, number = key.partition("#")
    return row_key, int(number or 0)


@dataclass(frozen=True)
class ChunkRecord:
    """Where a passage stands in a source object's text.

    Passages with one ``wording_key`` have the same words, whatever the white space between them; an empty one says
    nothing.
    """

    row_key: str
    start_char: int
    end_char: int
    heading: str
    wording_key: str = ""


@dataclass(frozen=True)
class ThreadMail:
    """A current mail that the caller may see; ``title`` is None until the mail went through a run."""

    object_id: int
    object_key: str
    source: str
    path: str
    title: str | None
    sent_at: str | None


@dataclass(frozen=True)
class Occurrence:
    """A passage in one current source object that the caller may see.

    ``document_key`` names the paper among what the caller may see: two occurrences share it when their objects are
    versions of one paper, directly or through others that the caller sees. Status and order are those in that chain.
    """

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
    wording_key: str = ""


@dataclass(frozen=True)
class ReadingNotes:
    """How a text was read: the page of a place in it, None where the format has none, and what was repaired or lost."""

    page: int | None
    degraded: tuple[str, ...]


@dataclass(frozen=True)
class ReadPassage:
    """The characters between two offsets of a text, and how they were read."""

    text: str
    notes: ReadingNotes
    properties: ObjectProperties | None


@dataclass(frozen=True)
class DegradedObject:
    """A source object whose text was repaired or is incomplete, and its pages that are pictures only, for operators."""

    source: str
    path: str
    degraded: tuple[str, ...]
    pages_without_text: int


@dataclass(frozen=True)
class DeletedWords:
    """Words that a tracked change took away, in one current source object that the caller may see."""

    object_id: int
    object_key: str
    source: str
    path: str
    title: str
    version_status: VersionStatus
    matter_ref: str
    matter_title: str
    ordinal: int
    change: TrackedChange


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
    is_contained: bool = False


@dataclass(frozen=True)
class UnreadObject:
    """A source object that a caller may see and no search can find, and why."""

    source: str
    path: str
    reason: str


@dataclass(frozen=True)
class SourceStatus:
    """Counts of one source, for operators.

    ``contained`` of the ``current`` objects are files inside others; ``decorations`` (inline pictures, detached
    signatures) are no objects.
    """

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
    contained: int
    decorations: int


@dataclass(frozen=True)
class VisibleSource:
    """What one caller may know of a source: counts of current documents that the caller may see."""

    name: str
    documents: int
    searchable: int
    waiting: int
    unreadable: int


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


@dataclass(frozen=True)
class DocumentRecord:
    """A searchable current source object that the caller may see; ``length_chars`` is that of its text.

    ``document_key`` names the paper among what the caller may see; status and order are those in that chain.
    """

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
    text_sha256: str
    converter: str
    length_chars: int


@dataclass(frozen=True)
class MatterRecord:
    """A matter and how many of its documents the caller may see."""

    ref: str
    title: str
    document_count: int


@dataclass(frozen=True)
class AccessTokenRecord:
    """A bearer token as the catalog keeps it: its public id and the SHA-256 of its secret.

    ``audience`` names the service that it is for. Times are UTC, ISO 8601 with microseconds; ``revoked_at`` is set
    where it was ended before its time.
    """

    id: str
    secret_sha256: str
    principal: Principal
    audience: str
    created_at: str
    expires_at: str
    revoked_at: str | None
