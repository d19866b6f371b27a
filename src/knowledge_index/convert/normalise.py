"""The one form that every converter's text has, so that chunks, searches and gold compare alike."""

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from knowledge_index.domain.documents import ConvertedDocument, PageSpan
from knowledge_index.domain.errors import ConversionError

_LINE_END = re.compile("\r\n?|[\x0b\x85\u2028\u2029]")
TRAILING_BLANKS = re.compile(r"(?<![ \t])[ \t]++(?=[\n\f]|\Z)")
"""Blanks ahead of a line end, which the normal form does not have."""
# Invisible hints for line breaking: left in, "Haf\u00adtung" is another word than "Haftung".
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_KEPT_CONTROLS = "\n\t\f"
# What Word, Excel and their like write when nobody gave a title.
_DEFAULT_TITLE = re.compile(
    r"powerpoint.(?:presentation|präsentation)|"
    r"untitled.*|title|titel|unbenannt.*|ohne titel.*|word document|microsoft word.*|microsoft excel.*|"
    r"(?:document|dokument|book|mappe|workbook|arbeitsmappe|presentation|präsentation|normal)\s?\d*(?:\.\w{2,4})?|"
    r"\(?anonymous\)?|none|null|\W*"
)
_MAX_TITLE_CHARS = 300
_PAGE_SEPARATOR = "\n\f\n"


def normal_form(text: str) -> str:
    r"""Bring a text into the form in which spans point into it.

    Line ends are ``\n``; blanks of every width are plain blanks; NFC; no control character but ``\n``, ``\t`` and
    ``\f``, no lone surrogate; no blank before a line end; no empty line at either end.
    """
    return TRAILING_BLANKS.sub("", normal_characters(text)).strip("\n")


def normal_characters(text: str) -> str:
    """The text with its characters and line ends in normal form, and blanks and empty lines as they are."""
    return unicodedata.normalize("NFC", _LINE_END.sub("\n", text).translate(_character_map()))


def converted(text: str, title: str | None, name: str, version: str) -> ConvertedDocument:
    """The converted document with its text in normal form and its title made plausible.

    Raises:
        ConversionError: nothing but white space is left (``empty``).
    """
    text = normal_form(text)
    if not text.strip():
        raise ConversionError("empty", "the file holds no text; nothing of it can be found by a search")
    return ConvertedDocument(text, plausible_title(title), name, version)


def converted_pages(pages: Sequence[str], title: str | None, name: str, version: str) -> ConvertedDocument:
    """The converted document of a paged file, with the span of each page that has text; a form feed parts two pages.

    Raises:
        ConversionError: no page has more than white space (``empty``).
    """
    texts = [normal_form(page).strip("\n\f") for page in pages]
    spans: list[PageSpan] = []
    held: list[str] = []
    start = 0
    for number, text in enumerate(texts, start=1):
        if text.strip():
            spans.append(PageSpan(number, start, start + len(text)))
            held.append(text)
            start += len(text) + len(_PAGE_SEPARATOR)
    document = converted(_PAGE_SEPARATOR.join(held), title, name, version)
    return replace(document, pages=tuple(spans))


def plausible_title(title: str | None) -> str | None:
    """The title on one line, or None where it is empty or a template's default."""
    one_line = " ".join(normal_form(title or "").split())
    if not one_line or _DEFAULT_TITLE.fullmatch(one_line.casefold()):
        return None
    return one_line[:_MAX_TITLE_CHARS].rstrip()


@cache
def _character_map() -> dict[int, str | None]:
    characters: dict[int, str | None] = {}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Zs":
            characters[code] = " "
        elif (category == "Cc" and character not in _KEPT_CONTROLS) or character in _INVISIBLE:
            characters[code] = None
        elif category == "Cs" or code & 0xFFFE == 0xFFFE:
            characters[code] = "\ufffd" if category == "Cs" else None
    return characters
