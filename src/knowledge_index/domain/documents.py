"""Converted documents and the chunks that point into them."""

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class ChangeKind(StrEnum):
    """What a tracked change did; a move is two changes, where the words were and where they are."""

    INSERTION = "insertion"
    DELETION = "deletion"
    MOVED_FROM = "moved_from"
    MOVED_TO = "moved_to"


class TextState(StrEnum):
    """A reading of a file with tracked changes: all accepted, all rejected, or all shown between marks."""

    CURRENT = "current"
    ORIGINAL = "original"
    MARKED = "marked"


@dataclass(frozen=True)
class TrackedChange:
    """One tracked change of a Word file.

    The span is one of the ``current`` text: of the words themselves for an insertion and a move's new place; empty, at
    the place where the words stood, for a deletion and a move's old place. ``text`` is the wording that was inserted,
    deleted or moved. ``date`` is what the file states, ISO 8601, or None.
    """

    kind: ChangeKind
    author: str | None
    date: str | None
    start_char: int
    end_char: int
    text: str


@dataclass(frozen=True)
class PageSpan:
    """The part of the text that stands on one page or slide; ``number`` counts from 1 in the order of the file."""

    number: int
    start_char: int
    end_char: int


class Content(Protocol):
    """Bytes that may lie elsewhere than in memory; a slice of them is in memory. ``bytes`` is one."""

    def __len__(self) -> int:
        """The number of bytes."""
        ...

    def __getitem__(self, part: slice, /) -> bytes:
        """The bytes of a part."""
        ...


@dataclass(frozen=True)
class ContainedFile:
    """A file inside another: a mail's attachment, a nested message, a member of an archive.

    ``name`` is its name inside the container, with ``/`` between folders, never absolute and without ``..``; no two
    files of one container share one. ``error_class`` and ``message`` say why its bytes could not be had; ``data`` is
    then empty. A decoration (an inline picture, a detached signature) is counted and becomes no object of its own.
    """

    name: str
    data: Content
    error_class: str | None = None
    message: str | None = None
    is_decoration: bool = False


@dataclass(frozen=True)
class MailThread:
    """What ties a mail to the others of its thread; ids without their angle brackets, ``sent_at`` in ISO 8601."""

    message_id: str | None
    in_reply_to: str | None
    references: tuple[str, ...]
    sent_at: str | None


@dataclass(frozen=True)
class ConvertedDocument:
    """Text made from a blob by a named converter version; spans are valid against this text alone.

    ``text`` is the ``current`` state, with tracked changes accepted. ``title`` is what the file itself states (document
    properties, mail subject), or None. Offsets everywhere count Unicode code points of ``text``.
    ``original_text`` (changes rejected) and ``marked_text`` (both, with marks) are None where there are no changes.
    ``degraded`` says in one line each what had to be repaired or could not be read. ``pages_without_text`` counts the
    pages that are pictures only.
    """

    text: str
    title: str | None
    converter_name: str
    converter_version: str
    original_text: str | None = None
    marked_text: str | None = None
    changes: tuple[TrackedChange, ...] = ()
    pages: tuple[PageSpan, ...] = ()
    pages_without_text: int = 0
    contained: tuple[ContainedFile, ...] = ()
    thread: MailThread | None = None
    degraded: tuple[str, ...] = ()
    text_sha256: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text_sha256", sha256_text(self.text))


@dataclass(frozen=True)
class Chunk:
    """A span of a converted document: ``text == document.text[start_char:end_char]``, always.

    ``heading`` is the clause heading in force at the start of the chunk, or an empty string.
    """

    start_char: int
    end_char: int
    text: str
    heading: str


def sha256_text(text: str) -> str:
    """Hex SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
