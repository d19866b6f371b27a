"""The values that a criterion names: quoted wording, references, amounts, dates."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate

MIN_QUOTED_CHARACTERS = 6
MAX_QUOTED_CHARACTERS = 60
MAX_QUOTED_WORDS = 8


class ValueKind(StrEnum):
    """What a value is; the first that fits names it."""

    QUOTED = "quoted"
    REFERENCE = "reference"
    AMOUNT = "amount"
    DATE = "date"


@dataclass(frozen=True)
class NamedValue:
    """A value as it stands in the criterion, in NFC with its white space folded."""

    kind: ValueKind
    text: str


def fold_white_space(text: str) -> str:
    """NFC, every run of white space one blank, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def fold(text: str) -> str:
    """What values and documents are compared in: NFC, casefolded, NFC again, white space folded."""
    return fold_white_space(unicodedata.normalize("NFC", text).casefold())


def holds(folded_text: str, folded_value: str) -> bool:
    """Whether the text holds the value at word boundaries; both from :func:`fold`.

    Where the value begins or ends with a letter, a digit or a combining mark, none may stand directly beside it in the
    text; beside an edge of another kind anything may. An empty value is held by nothing.
    """
    if not folded_value:
        return False
    guard_start, guard_end = _is_word(folded_value[0]), _is_word(folded_value[-1])
    start = folded_text.find(folded_value)
    while start >= 0:
        end = start + len(folded_value)
        open_start = not guard_start or start == 0 or not _is_word(folded_text[start - 1])
        # A mark after the value belongs to its last letter, whatever that letter is.
        if open_start and (not guard_end or end == len(folded_text) or not _is_word(folded_text[end])):
            return True
        start = folded_text.find(folded_value, start + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def values_in(text: str, criterion_ids: frozenset[str] = frozenset()) -> list[NamedValue]:
    """The values that a text names, in the order they begin, equal ones (after :func:`fold`) once.

    ``criterion_ids`` are the ids of the task's criteria: a token of their style (``C-001``) names a criterion, not a
    file. Periods ("30-day", "12 months"), version marks and plain numbers are no values.
    """
    text = unicodedata.normalize("NFC", text)
    found = [(start, NamedValue(ValueKind.QUOTED, value)) for start, value in _quoted(text)]
    found += _unquoted(text, criterion_ids)
    found.sort(key=lambda entry: entry[0])
    distinct: dict[str, NamedValue] = {}
    for _, value in found:
        distinct.setdefault(fold(value.text), value)
    return list(distinct.values())


# --- quoted wording ---------------------------------------------------------------------------------------------------

_CLOSING = {"“": "”", "„": "“”", "»": "«", "«": "»", '"': '"'}
_QUOTES = re.compile('["“”„»«]')
_OPENS_AFTER = frozenset("([{<-–—/:;,=‘’'")


def _quoted(text: str) -> Iterator[tuple[int, str]]:
    """(start, value) of what stands in double quotes, quotes inside quotes too.

    A straight mark opens or closes by what stands beside it, so that a quoted clause which itself quotes a defined
    term is not cut into the pieces between its marks. What follows a mark that is never closed is not trusted.
    """
    stack: list[tuple[int, str]] = []
    spans: list[tuple[int, int]] = []
    for match in _QUOTES.finditer(text):
        mark, position = match[0], match.start()
        if stack and mark in _CLOSING[stack[-1][1]] and not (mark == '"' and _only_opens(text, position)):
            start, _ = stack.pop()
            spans.append((start, position))
        elif mark != "”" and (mark != '"' or _can_open(text, position)):
            stack.append((position, mark))
    unclosed_from = stack[0][0] if stack else len(text)
    # Folding keeps every character that is no white space, so most of what is too long need not be cut out to tell.
    kept = [0, *accumulate(not character.isspace() for character in text)]
    for start, end in sorted(spans):
        if kept[end] - kept[start + 1] > MAX_QUOTED_CHARACTERS:
            continue
        value = fold_white_space(text[start + 1 : end])
        if (
            start < unclosed_from
            and MIN_QUOTED_CHARACTERS <= len(value) <= MAX_QUOTED_CHARACTERS
            and len(value.split()) <= MAX_QUOTED_WORDS
            and any(character.isalnum() for character in value)
        ):
            yield start, value


def _can_open(text: str, position: int) -> bool:
    before = text[position - 1 : position]
    return not before or before.isspace() or before in _OPENS_AFTER or before in _CLOSING


def _only_opens(text: str, position: int) -> bool:
    after = text[position + 1 : position + 2]
    return _can_open(text, position) and (after.isalnum() or after in _CLOSING)


# --- references, amounts, dates ---------------------------------------------------------------------------------------

_MONTH = (
    r"(?:jan(?:uary|uar|\.)?|jänner|feb(?:ruary|ruar|\.)?|mar(?:ch|\.)?|märz|mrz\.?|apr(?:il|\.)?|may|mai"
    r"|june?\.?|juni|july?\.?|juli|aug(?:ust|\.)?|sept?(?:ember|\.)?|o[ck]t(?:ober|\.)?|nov(?:ember|\.)?"
    r"|de[cz](?:ember|\.)?)"
)
_DAY, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:1[5-9]|2[01])\d\d"
_MONTH_NUMBER = r"(?:0?[1-9]|1[0-2])"
_ORDINAL = r"(?:st|nd|rd|th|\.)?"
_START, _END = r"(?<![^\W_])(?<![^\W_][-/.,])", r"(?![^\W_])(?![-/.,]\d)"

_DATE = re.compile(
    rf"{_START}(?:"
    rf"{_MONTH}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}"
    rf"|{_DAY}{_ORDINAL}(?:\s+day)?(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}"
    rf"|{_YEAR}(?P<iso>[-/]){_MONTH_NUMBER}(?P=iso){_DAY}"
    rf"|{_DAY}\.\s?{_MONTH_NUMBER}\.\s?{_YEAR}|(?:0[1-9]|[12]\d|3[01])\.(?:0[1-9]|1[0-2])\.\d\d"
    rf"|(?:{_MONTH_NUMBER}(?P<us>[-/]){_DAY}(?P=us)|{_DAY}(?P<eu>[-/]){_MONTH_NUMBER}(?P=eu))(?:{_YEAR}|\d\d)"
    rf"){_END}",
    re.IGNORECASE,
)

# Twelve groups are more than money has; without a bound a long row of numbers is read from each of them to its end.
_NUMBER = r"\d+(?:(?:[.,'’\u00a0\u202f]|(?<=\d)\ (?=\d{3}(?!\d)))\d+){0,12}(?:,[-–—]{1,2})?"
_SCALE = r"(?:\s?(?:thousand|million|billion|mio\.?|mrd\.?|tsd\.?|millionen|milliarden|mn|bn|m|k)(?![^\W_]))?"
_CODE = r"(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|CAD|AUD|NZD|HKD|SGD|SEK|NOK|DKK|PLN|CZK|HUF|INR|BRL|MXN|ZAR|ILS|KRW|TWD)"
_SIGN = r"(?:(?:US|CA|C|AU|A|NZ|HK|S)?\$|[€£¥₹₪₩])"
_CURRENCY_WORD = r"(?:euros?|(?:us|u\.s\.)?[- ]?dollars?|pounds?(?:\ssterling)?|(?:swiss\s)?francs?|franken|yen)"
_AMOUNT = re.compile(
    rf"(?<![^\W_])(?:(?:{_CODE}|{_SIGN})\s?{_NUMBER}{_SCALE}"
    rf"|{_NUMBER}{_SCALE}\s?(?:{_SIGN}|(?:{_CODE}|{_CURRENCY_WORD})(?![^\W_])))(?![^\W_])",
    re.IGNORECASE,
)

# References whose parts are kept apart by blanks, then single tokens.
_SPACED_REFERENCES = (
    re.compile(r"(?<![^\W_])[A-Z]{2}\d{2}(?:\ ?[A-Z0-9]{4}){3,7}(?:\ ?[A-Z0-9]{1,3})?(?![^\W_])"),
    re.compile(r"(?<![^\W_])(?:HR[AB]|GnR|GsR|PR|VR|FN)\s?\d{1,6}(?:\s[A-Z]{1,2})?(?![^\W_])(?![-/]\w)"),
    re.compile(
        r"(?<![^\W_])(?:\d{1,4}|[IVX]{1,5})[a-z]?\s[A-Z][A-Za-z]{0,4}(?:\s\([A-Z][A-Za-z]*\))?\s\d{1,6}/\d{2}(?:\d\d)?"
        r"(?![^\W_])(?![-/]\w)"
    ),
)
_TOKEN = re.compile(
    r"(?<![^\W_])(?<![-/])(?<!\d[.,])[^\W_]+(?:[-/]{1,2}[^\W_]+)*(?![^\W_])(?![-/]{1,2}[^\W_])(?![.,]\d)"
)
_RUN = re.compile(r"\S+")
_ADDRESS_MARK, _ADDRESS_START = re.compile(r"(?:://|@)\S"), re.compile(r"www\.\S")
_PERIOD = re.compile(
    r"days?|weeks?|months?|years?|hours?|minutes?|quarters?|business|calendar|tage?s?|wochen?|monate?s?|jahre?s?|stunden?"
)


def _unquoted(text: str, criterion_ids: frozenset[str]) -> Iterator[tuple[int, NamedValue]]:
    """References, amounts and dates; what one pattern took is hidden from the next ones."""
    rest = _RUN.sub(lambda match: _without_address(match[0]), text)
    own_ids = _id_styles(criterion_ids)
    patterns = (
        *((pattern, ValueKind.REFERENCE) for pattern in _SPACED_REFERENCES),
        (_AMOUNT, ValueKind.AMOUNT),
        (_DATE, ValueKind.DATE),
        (_TOKEN, ValueKind.REFERENCE),
    )
    for pattern, kind in patterns:
        matches = list(pattern.finditer(rest))
        if pattern is _TOKEN:
            matches = [match for match in matches if _is_reference(match[0]) and _id_style(match[0]) not in own_ids]
        pieces, end = [], 0
        for match in matches:
            yield match.start(), NamedValue(kind, fold_white_space(match[0]))
            pieces += [rest[end : match.start()], "\n" * len(match[0])]
            end = match.end()
        rest = "".join([*pieces, rest[end:]])


def _without_address(run: str) -> str:
    """A run of text without white space, the web or mail address in it hidden."""
    if _ADDRESS_MARK.search(run, 1):
        return "\n" * len(run)
    start = _ADDRESS_START.search(run)
    return run if start is None else run[: start.start()] + "\n" * (len(run) - start.start())


@lru_cache(maxsize=4)
def _id_styles(criterion_ids: frozenset[str]) -> frozenset[str]:
    # Remembered, as every criterion of a task is read with the ids of all.
    return frozenset(_id_style(each) for each in criterion_ids)


def _id_style(text: str) -> str:
    """The id with each run of digits as one sign: ``C-001`` and ``C-17`` are of one style."""
    return re.sub(r"\d+", "0", text)


def _is_reference(token: str) -> bool:
    """Whether a token of letters, digits, ``/`` and ``-`` is a reference rather than a number, a period or a word."""
    digits = sum(character.isdigit() for character in token)
    parts = re.split(r"[-/]+", token)
    if not digits:
        return False
    if len(parts) == 1:
        return len(token) >= 6 and digits >= 3 and any(character.isupper() for character in token)
    if all(part.isdigit() for part in parts):
        return _is_numeric_reference(token, parts, digits)
    words = [part for part in parts if _is_word_part(part)]
    numbers = [part for part in parts if part.isdigit()]
    if parts[0].isdigit() and len(words) == len(parts) - 1:
        return False
    if len(numbers) == 1 and parts[-1].isdigit() and len(words) == len(parts) - 1 and len(parts[-1]) <= 4:
        return False
    return not (re.fullmatch(r"[vr]\d+", parts[-1], re.IGNORECASE) and len(words) == len(parts) - 1)


def _is_numeric_reference(token: str, parts: list[str], digits: int) -> bool:
    """Digits alone are a reference when they are too many for a fraction or a range, and are no span of years."""
    years = len(parts) == 2 and re.fullmatch(r"(?:19|20)\d\d", parts[0]) is not None
    if (
        years
        and parts[1].isdecimal()
        and (int(parts[1][-2:]) == (int(parts[0]) + 1) % 100 or ("-" in token and len(parts[1]) == 4))
    ):
        return False
    return digits >= (5 if "/" in token else 7)


def _is_word_part(part: str) -> bool:
    """A part that is a word of running text: lower case, capitalised, or a unit of time in any case."""
    if not part.isalpha():
        return False
    lower_tail = part[1:].islower()
    return (lower_tail and (part[0].islower() or len(part) >= 3)) or _PERIOD.fullmatch(part.casefold()) is not None
