"""Text from bytes whose stated charset may be missing, unknown or wrong."""

import codecs
import re

from knowledge_index.convert.plaintext import decode
from knowledge_index.domain.errors import ConversionError

# What mail programs mean by these names is their superset: "gb2312" mails hold characters of GB 18030.
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
}
# These read plain ASCII bytes as something else, or are no charsets of texts at all.
_SEVEN_BIT = ("iso2022", "hz", "utf-7", "utf-16", "utf-32")
_NO_CHARSETS = ("unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined", "mbcs", "oem")
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_META_SEARCHED_BYTES = 4096
_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FEW = 0.1
# A text of which all that is not ASCII is one of these is Windows-1252: too little to be told apart by statistics.
_WESTERN = frozenset("äöüÄÖÜßàâáãçèéêëîïíñóôõùûúÀÁÂÇÈÉÊËÑÓÔÚ§€„“”‚‘’–—…«»°²³½¼·•®©™£\xa0\xad")


def decode_text(data: bytes, charset: str | None, *, is_html: bool = False) -> tuple[str, str | None]:
    """The text, and a line that says what was lost in reading it, or None.

    A charset of one byte a character gives way to UTF-8 where the bytes are UTF-8: no other text looks like that. A
    missing, unknown or contradicted charset is found out from the bytes.
    """
    if data.startswith(_BYTE_ORDER_MARKS):
        return decode(data), None
    codec = _codec(charset)
    if codec is None and is_html:
        stated = _META_CHARSET.search(data[:_META_SEARCHED_BYTES])
        codec = _codec(stated[1].decode("ascii")) if stated else None
    if codec is not None and codec.startswith(("utf-16", "utf-32")) and b"\0" not in data:
        codec = None
    if codec is not None and codec.startswith(_SEVEN_BIT):
        return _strict(data, codec) or _guessed(data)
    if data.isascii():
        return data.decode("ascii"), None
    found: tuple[str, str | None] | None = _strict(data, "utf-8")
    if found is None and codec == "utf-8":
        found = _mended(data)
    if found is None and codec not in (None, "utf-8"):
        found = _strict(data, str(codec))
    return found or _guessed(data)


def _codec(charset: str | None) -> str | None:
    """The codec that reads a charset, or None where there is none."""
    name = (charset or "").strip().strip("'\"").lower()
    try:
        found = codecs.lookup(re.sub(r"^(?:x-)?(?:windows|cp|ibm)[-_]?(\d+)$", r"cp\1", name)).name
        b"".decode(found)
    except (LookupError, ValueError):
        return None
    return None if found.replace("-", "_") in _NO_CHARSETS else _SUPERSETS.get(found, found)


def _strict(data: bytes, codec: str) -> tuple[str, None] | None:
    try:
        return data.decode(codec), None
    except UnicodeError:
        return None


def _mended(data: bytes) -> tuple[str, str] | None:
    """UTF-8 with a few broken characters, as a mail has that was cut off in the middle of one."""
    text = data.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    if lost > _FEW * sum(not character.isascii() for character in text):
        return None
    return text, f"{lost} characters of a text are broken"


def _guessed(data: bytes) -> tuple[str, str | None]:
    western = data.decode("cp1252", "replace")
    if all(character.isascii() or character in _WESTERN for character in western):
        return western, None
    try:
        return decode(data), None
    except ConversionError:
        return western, "the charset of a text could not be found out; it was read as Windows-1252"
