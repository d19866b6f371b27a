"""What the catalog hands out and takes of sources, objects and their versions."""

from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.domain.document_dates import DocumentDate
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.languages import Language
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
    language: Language
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
class ThreadMail:
    """A current mail that the caller may see; ``title`` is None until the mail went through a run."""

    object_id: int
    object_key: str
    source: str
    path: str
    title: str | None
    sent_at: str | None


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
