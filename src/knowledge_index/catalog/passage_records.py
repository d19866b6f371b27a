"""What the catalog hands out and takes of texts: index rows, passages, and where they stand."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from knowledge_index.catalog.records import ObjectProperties
from knowledge_index.domain.documents import TrackedChange
from knowledge_index.domain.versions import VersionStatus

# An object's profile is kept as the passage before its first.
PROFILE_ORDINAL = -1


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


class Occurrence(NamedTuple):
    """A passage in one current source object that the caller may see.

    ``document_key`` names the paper among what the caller may see: two occurrences share it when their objects are
    versions of one paper, directly or through others that the caller sees. Status and order are those in that chain.
    """

    # First what is of the passage, then what is of its object; a tuple, since a search makes hundreds.
    row_key: str
    object_id: int
    heading: str
    start_char: int
    end_char: int
    wording_key: str
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
