"""Number formats taken apart: sections, their conditions and locales, and the tokens of each."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

_MAX_FORMAT_CHARS = 255
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<width>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<clock>AM/PM|A/P)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+|e+|g+)|(?P<digit>[0#?])"
    r"|(?P<mark>[.,%/@])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
# The low bytes of a Windows locale id: the language is in the lowest.
_GERMAN_LANGUAGE = 0x07


class NotUnderstoodError(ValueError):
    """The format is beyond the subset that is read."""


@dataclass(frozen=True)
class Token:
    """A piece of a format; ``kind`` is the name of the group of ``_TOKEN`` that matched, or ``literal``, ``elapsed`` or
    ``minute``."""

    kind: str
    text: str


@dataclass(frozen=True)
class Section:
    """One of up to four alternatives; ``condition`` compares with a number, ``locale`` is a Windows id."""

    tokens: tuple[Token, ...]
    condition: tuple[str, Decimal] | None
    locale: int | None

    @property
    def german(self) -> bool:
        """Whether its locale is a German one."""
        return self.locale is not None and self.locale & 0xFF == _GERMAN_LANGUAGE

    @property
    def is_date(self) -> bool:
        """Whether it shows a number as a date or a time."""
        return any(token.kind in ("date", "elapsed", "clock") for token in self.tokens)

    @property
    def has_digits(self) -> bool:
        """Whether it shows digits of the number."""
        return any(token.kind == "digit" for token in self.tokens)


@lru_cache(maxsize=1024)
def parsed_format(code: str) -> tuple[Section, ...]:
    """The sections of a format code, one to four.

    Raises:
        NotUnderstoodError: it is empty, too long, or has more sections.
    """
    if not code or len(code) > _MAX_FORMAT_CHARS:
        raise NotUnderstoodError(code)
    sections = tuple(_section(part) for part in _split(code))
    if not 1 <= len(sections) <= 4:
        raise NotUnderstoodError(code)
    return sections


def _split(code: str) -> list[str]:
    parts = [""]
    for match in _TOKEN.finditer(code):
        if match["other"] == ";":
            parts.append("")
        else:
            parts[-1] += match[0]
    return parts


def _section(part: str) -> Section:
    tokens: list[Token] = []
    condition: tuple[str, Decimal] | None = None
    locale: int | None = None
    for match in _TOKEN.finditer(part):
        kind, text = str(match.lastgroup), match[match.lastgroup or 0]
        if kind in ("quoted", "escaped", "other"):
            tokens.append(Token("literal", text))
        elif kind == "width":
            tokens.append(Token("literal", " "))
        elif kind == "bracket":
            found = _CONDITION.fullmatch(text)
            if text.startswith("$"):
                symbol, _, locale_text = text[1:].partition("-")
                tokens.append(Token("literal", symbol))
                locale = _locale(locale_text, locale)
            elif found:
                condition = found[1], Decimal(found[2])
            elif _ELAPSED.fullmatch(text):
                tokens.append(Token("elapsed", text.lower()))
            # What is left in brackets is a colour.
        elif kind == "date":
            tokens.append(Token("date", text.lower()))
        elif kind != "fill":
            tokens.append(Token(kind, text))
    return Section(_with_minutes(tokens), condition, locale)


def _locale(text: str, otherwise: int | None) -> int | None:
    try:
        return int(text, 16) & 0xFFFF
    except ValueError:
        return otherwise


def _with_minutes(tokens: list[Token]) -> tuple[Token, ...]:
    """``m`` is a minute after an hour or before a second, else a month."""
    times = [place for place, token in enumerate(tokens) if token.kind in ("date", "elapsed")]
    for nth, place in enumerate(times):
        token = tokens[place]
        if token.kind == "date" and token.text in ("m", "mm"):
            before = tokens[times[nth - 1]].text[0] if nth else ""
            after = tokens[times[nth + 1]].text[0] if nth + 1 < len(times) else ""
            if before == "h" or after == "s":
                tokens[place] = Token("minute", token.text)
    return tuple(tokens)
