"""Plain text and Markdown, whatever their encoding."""

import codecs

from knowledge_index.convert.normalise import converted
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

# UTF-32 comes first: its little-endian mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


# What a text in Windows-1252, the encoding of Western European Windows, has beyond ASCII: the letters of its languages,
# and the marks of papers. Short texts are too little for statistics, and are nearly always in this one.
_WESTERN = frozenset(
    "äöüÄÖÜßáàâãåæçéèêëíìîïñóòôõøœúùûÿÁÀÂÃÅÆÇÉÈÊËÍÎÏÑÓÔÕØŒÚÙÛ§€£¥©®™°²³µ·½¼¾±×–—„“”‚‘’«»‹›…•¶¡¿ªº´\u00a0\u00ad"
)


class PlainTextConverter:
    """The file's text as it stands; Markdown keeps its marks. No title."""

    name = "plaintext"
    version = "2"
    suffixes = frozenset({".md", ".txt"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .txt or .md.

        Raises:
            ConversionError: ``damaged`` where the bytes are no text, or ``empty``.
        """
        return converted(decode(data), None, self.name, self.version)


CONVERTER = PlainTextConverter()


def decode(data: bytes) -> str:
    """Text from bytes: by their byte order mark, as UTF-8, as Windows-1252 where that gives nothing odd.

    What is left goes by what charset-normalizer finds.

    Raises:
        ConversionError: the bytes are no text (``damaged``).
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        western = data.decode("cp1252")
    except UnicodeDecodeError:
        western = "\x00"
    if all(character.isascii() or character in _WESTERN for character in western) and "\x00" not in western:
        return western
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise ConversionError("damaged", "the bytes are no text in any encoding known; the file may be a binary one")
    return str(best)
