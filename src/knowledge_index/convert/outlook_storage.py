"""Properties of an Outlook message, recipient or attachment, read from its storage.

Property numbers and the layout of the streams are those of MS-OXMSG and MS-OXPROPS. python-oxmsg gives the tree of
storages and the names of the code pages; its own property reader refuses a whole message for one unknown code page or
one broken character, so the values are read here.
"""

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from oxmsg.domain import constants
from oxmsg.domain.encodings import encoding_from_codepage
from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError
from oxmsg.storage import Storage

from knowledge_index.convert.charsets import decode_text

# What stands before the properties: more at the root than in a message inside another.
ROOT_HEADER_BYTES = 32
EMBEDDED_HEADER_BYTES = 24
CHILD_HEADER_BYTES = 8
_SEGMENT_BYTES = 16
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_UNICODE, _EIGHT_BIT, _BINARY, _OBJECT = 0x001F, 0x001E, 0x0102, 0x000D
_TEXT_TYPES_8BIT = frozenset({constants.PID_BODY, constants.PID_BODY_HTML, constants.PID_HTML})


class OutlookStorage:
    """The properties of one storage; what is absent is an empty string, empty bytes or None."""

    def __init__(self, storage: Storage, header_bytes: int, charset: str | None = None) -> None:
        self._storage = storage
        self._streams = {each.name.upper(): each.bytes_ for each in storage.streams}
        stream = self._streams.get("__PROPERTIES_VERSION1.0", b"")
        segments = range(header_bytes, len(stream) - _SEGMENT_BYTES + 1, _SEGMENT_BYTES)
        self._fixed = {struct.unpack_from("<H", stream, at + 2)[0]: stream[at + 8 : at + 16] for at in segments}
        self.notes: list[str] = []
        page = self.integer(constants.PID_MESSAGE_CODEPAGE)
        self.charset = _charset(page) or charset
        self._body_charset = _charset(self.integer(constants.PID_INTERNET_CODEPAGE)) or self.charset

    @property
    def has_properties(self) -> bool:
        """Whether the storage has the stream that every message, recipient and attachment has."""
        return "__PROPERTIES_VERSION1.0" in self._streams

    def text(self, number: int) -> str:
        """A text property, whichever of the two types it has."""
        wide = self._stream(number, _UNICODE)
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._stream(number, _EIGHT_BIT)
        charset = self._body_charset if number in _TEXT_TYPES_8BIT else self.charset
        text, lost = decode_text(narrow, charset)
        self._note(lost)
        return text.rstrip("\0")

    def html(self) -> str:
        """The HTML body, stored as bytes or as a text."""
        data = self._stream(constants.PID_HTML, _BINARY)
        if not data:
            return self.text(constants.PID_BODY_HTML)
        text, lost = decode_text(data, self._body_charset, is_html=True)
        self._note(lost)
        return text.rstrip("\0")

    def binary(self, number: int) -> bytes:
        """A binary property."""
        return self._stream(number, _BINARY)

    def integer(self, number: int) -> int | None:
        """A 32-bit property."""
        value = self._fixed.get(number)
        return None if value is None else int(struct.unpack_from("<i", value)[0])

    def time(self, number: int) -> datetime | None:
        """A moment, in UTC to the second."""
        value = self._fixed.get(number)
        if value is None:
            return None
        try:
            return _EPOCH + timedelta(seconds=int(struct.unpack_from("<Q", value)[0]) // 10_000_000)
        except OverflowError:
            return None

    def recipients(self) -> Iterator["OutlookStorage"]:
        """The recipients, in their order."""
        for each in sorted(self._storage.iter_recipient_storages(), key=lambda each: each.name):
            yield OutlookStorage(each, CHILD_HEADER_BYTES, self.charset)

    def attachments(self) -> Iterator["OutlookStorage"]:
        """The attachments, in their order."""
        for each in sorted(self._storage.iter_attachment_storages(), key=lambda each: each.name):
            yield OutlookStorage(each, CHILD_HEADER_BYTES, self.charset)

    def embedded_message(self) -> "OutlookStorage | None":
        """The message that an attachment is, or None."""
        name = f"__substg1.0_{constants.PID_ATTACH_DATA_BINARY:04X}{_OBJECT:04X}"
        found = next((each for each in self._storage.storages if each.name.upper() == name.upper()), None)
        inner = None if found is None else OutlookStorage(found, EMBEDDED_HEADER_BYTES, self.charset)
        return inner if inner is not None and inner.has_properties else None

    def _stream(self, number: int, kind: int) -> bytes:
        return self._streams.get(f"__SUBSTG1.0_{number:04X}{kind:04X}", b"")

    def _note(self, line: str | None) -> None:
        if line:
            self.notes.append(line)


def _charset(code_page: int | None) -> str | None:
    if code_page is None:
        return None
    try:
        return encoding_from_codepage(code_page)
    except (UnrecognizedCodePageError, UnsupportedEncodingError):
        return None
