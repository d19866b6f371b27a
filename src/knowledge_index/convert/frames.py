"""How a result travels from the process that converts: sizes first, then JSON, then texts and contained files raw.

What arrives was made by a process that read a hostile file, so nothing of it is run, and everything is checked: the
sizes before anything is read, the JSON against a closed model, texts as strict UTF-8, spans against the text.
"""

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from knowledge_index.domain.documents import (
    ContainedFile,
    Content,
    ConvertedDocument,
    MailThread,
    PageSpan,
    TrackedChange,
)
from knowledge_index.domain.errors import ConversionError

# Kind, then the sizes of the JSON, of all texts and of all contained files, in bytes.
_SIZES = struct.Struct("<BIQQ")
SIZES_BYTES = _SIZES.size
_DOCUMENT, _FAILURE = 0, 1
# A string of CPython takes up to four bytes a character; small JSON values become objects of up to 64 bytes.
_TEXT_FACTOR = 4
_JSON_FACTOR = 8
_MAX_MESSAGE_CHARS = 1_000
_ERROR_CLASS = r"^[a-z][a-z0-9_]{0,39}$"


class MalformedFrameError(Exception):
    """The bytes are no result that our own code writes."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class _Failure(_Model):
    error_class: str = Field(pattern=_ERROR_CLASS)
    message: str


class _Contained(_Model):
    name: str = Field(min_length=1)
    size_bytes: int = Field(ge=0)
    error_class: str | None = Field(pattern=_ERROR_CLASS)
    message: str | None
    is_decoration: bool


class _Head(_Model):
    """All of a document but its texts and contained bytes, of which it has the sizes in bytes."""

    text_bytes: int = Field(ge=0)
    original_text_bytes: int | None = Field(ge=0)
    marked_text_bytes: int | None = Field(ge=0)
    title: str | None
    converter_name: str
    converter_version: str
    changes: tuple[TrackedChange, ...]
    pages: tuple[PageSpan, ...]
    pages_without_text: int = Field(ge=0)
    contained: tuple[_Contained, ...]
    thread: MailThread | None
    degraded: tuple[str, ...]


_HEAD = TypeAdapter(_Head)
_FAILED = TypeAdapter(_Failure)


@dataclass(frozen=True)
class FrameSizes:
    """What a frame announces of itself, in bytes."""

    is_failure: bool
    json_bytes: int
    texts_bytes: int
    contained_bytes: int

    @property
    def memory_bytes(self) -> int:
        """The most memory that the decoded result can take without the contained files."""
        return self.json_bytes * _JSON_FACTOR + self.texts_bytes * _TEXT_FACTOR


def document_frame(document: ConvertedDocument) -> tuple[FrameSizes, list[Content]]:
    """The frame of a document, as pieces to write one after another.

    A lone surrogate, which is no character and has no place in UTF-8, becomes a question mark.
    """
    texts = [
        None if text is None else text.encode("utf-8", "replace")
        for text in (document.text, document.original_text, document.marked_text)
    ]
    sizes = [None if text is None else len(text) for text in texts]
    head = {
        "text_bytes": sizes[0],
        "original_text_bytes": sizes[1],
        "marked_text_bytes": sizes[2],
        "title": document.title,
        "converter_name": document.converter_name,
        "converter_version": document.converter_version,
        "changes": document.changes,
        "pages": document.pages,
        "pages_without_text": document.pages_without_text,
        "contained": [
            {
                "name": each.name,
                "size_bytes": len(each.data),
                "error_class": each.error_class,
                "message": None if each.message is None else each.message[:_MAX_MESSAGE_CHARS],
                "is_decoration": each.is_decoration,
            }
            for each in document.contained
        ],
        "thread": document.thread,
        "degraded": document.degraded,
    }
    blobs = [text for text in texts if text is not None]
    contained = [each.data for each in document.contained]
    return _frame(_DOCUMENT, head, blobs, contained)


def failure_frame(error_class: str, message: str) -> tuple[FrameSizes, list[Content]]:
    """The frame of a conversion that gave no text."""
    return _frame(_FAILURE, {"error_class": error_class, "message": message[:_MAX_MESSAGE_CHARS]}, [], [])


def _frame(
    kind: int, head: Mapping[str, object], texts: list[bytes], contained: list[Content]
) -> tuple[FrameSizes, list[Content]]:
    content = json.dumps(head, ensure_ascii=False, default=vars, separators=(",", ":")).encode("utf-8", "replace")
    sizes = FrameSizes(kind == _FAILURE, len(content), sum(map(len, texts)), sum(map(len, contained)))
    start = _SIZES.pack(kind, sizes.json_bytes, sizes.texts_bytes, sizes.contained_bytes)
    return sizes, [start, content, *texts, *contained]


def read_sizes(start: bytes) -> FrameSizes:
    """The announced sizes, from a frame's first ``SIZES_BYTES`` bytes.

    Raises:
        MalformedFrameError: no frame begins like this.
    """
    kind, json_bytes, texts_bytes, contained_bytes = _SIZES.unpack(start)
    if kind not in (_DOCUMENT, _FAILURE):
        raise MalformedFrameError(f"no frame is of kind {kind}")
    return FrameSizes(kind == _FAILURE, json_bytes, texts_bytes, contained_bytes)


def read_result(
    sizes: FrameSizes, read: Callable[[int], bytes], read_contained: Callable[[int], Content]
) -> ConvertedDocument:
    """The document that follows the sizes.

    ``read(n)`` gives the next ``n`` bytes exactly, ``read_contained(n)`` those of a contained file.

    Raises:
        ConversionError: the frame tells of a failure.
        MalformedFrameError: something in the frame does not fit the rest.
    """
    content = read(sizes.json_bytes)
    try:
        if sizes.is_failure:
            failure = _FAILED.validate_json(content)
            raise ConversionError(failure.error_class, failure.message[:_MAX_MESSAGE_CHARS])
        head = _HEAD.validate_json(content)
    except ValidationError as error:
        raise MalformedFrameError(f"{error.error_count()} fields of the result do not fit") from error
    del content
    texts = [head.text_bytes, head.original_text_bytes, head.marked_text_bytes]
    if sum(size or 0 for size in texts) != sizes.texts_bytes:
        raise MalformedFrameError("the texts are not as long as announced")
    if sum(each.size_bytes for each in head.contained) != sizes.contained_bytes:
        raise MalformedFrameError("the contained files are not as long as announced")
    text, original, marked = (None if size is None else _text(read(size)) for size in texts)
    assert text is not None
    _check_spans(head, len(text))
    _check_contained(head.contained)
    return ConvertedDocument(
        text=text,
        title=head.title,
        converter_name=head.converter_name,
        converter_version=head.converter_version,
        original_text=original,
        marked_text=marked,
        changes=head.changes,
        pages=head.pages,
        pages_without_text=head.pages_without_text,
        contained=tuple(
            ContainedFile(
                each.name, read_contained(each.size_bytes), each.error_class, each.message, each.is_decoration
            )
            for each in head.contained
        ),
        thread=head.thread,
        degraded=head.degraded,
    )


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedFrameError("a text is no UTF-8") from error


def _check_spans(head: _Head, length: int) -> None:
    spans = [(each.start_char, each.end_char) for each in head.changes]
    spans += [(each.start_char, each.end_char) for each in head.pages]
    if not all(0 <= start <= end <= length for start, end in spans):
        raise MalformedFrameError("a span lies outside of the text")


def _check_contained(files: Sequence[_Contained]) -> None:
    if len({each.name for each in files}) != len(files):
        raise MalformedFrameError("two contained files have one name")
    for each in files:
        path = PurePosixPath(each.name)
        if path.is_absolute() or ".." in path.parts or "\x00" in each.name:
            raise MalformedFrameError("a contained file has a name that leads elsewhere")
        if each.error_class is not None and each.size_bytes:
            raise MalformedFrameError("a contained file has bytes and a reason for having none")
