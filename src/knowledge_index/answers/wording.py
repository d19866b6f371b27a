"""The one rule by which an answer's words are compared with cited ones.

:func:`normalise`: the text is made harmless (see :func:`knowledge_index.answers.untrusted.harmless`) and brought to
NFC; every run of white space is one blank, none at the ends; all double quotation marks („ “ ” « » ") are ``"``, all
single ones and apostrophes (‚ ‘ ’ ‹ › ` ´ ') are ``'``; hyphens and dashes are ``-``. Nothing else is changed: letters,
case, digits and punctuation count. Offsets are never normalised.
"""

import re
import unicodedata
from functools import lru_cache

from knowledge_index.answers.untrusted import harmless

_DOUBLE = "„“”‟«»〝〞＂"
_SINGLE = "‚‘’‛‹›`´ʼ"
_DASHES = "‐‑‒–—―−"
_MARKS = str.maketrans({**dict.fromkeys(_DOUBLE, '"'), **dict.fromkeys(_SINGLE, "'"), **dict.fromkeys(_DASHES, "-")})
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_POSSESSIVE = re.compile(r"'s?$")
_QUOTATION = re.compile(r'"([^"]+)"?')
_SINGLE_QUOTATION = re.compile(r"(?:(?<=\s)|^)[‚‘]([^‚‘’\n]{3,})[‘’](?!\w)")


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """The text by the rule above; idempotent."""
    return " ".join(unicodedata.normalize("NFC", harmless(text)).translate(_MARKS).split())


def words(text: str) -> tuple[str, ...]:
    """The words of a normalised text, casefolded, without a possessive ``'s``."""
    return tuple(_POSSESSIVE.sub("", match[0]).casefold() for match in _WORD.finditer(text))


def quotations(text: str) -> list[str]:
    """What stands in quotation marks, normalised; an opening mark without its end opens one to the end of the text."""
    found = [match[1].strip() for match in _QUOTATION.finditer(normalise(text))]
    return [*found, *(normalise(match[1]) for match in _SINGLE_QUOTATION.finditer(text))]


def stands_in(run: tuple[str, ...], text_words: tuple[str, ...]) -> bool:
    """Whether the words stand one behind the other in a text's words."""
    length = len(run)
    return any(text_words[place : place + length] == run for place in range(len(text_words) - length + 1))
