"""Converted documents and the chunks that point into them."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ConvertedDocument:
    """Text made from a blob by a named converter version; spans are valid against this text alone.

    ``title`` is what the file itself states (document properties, mail subject), or None. Offsets everywhere count
    Unicode code points of ``text``.
    """

    text: str
    title: str | None
    converter_name: str
    converter_version: str
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
