"""How a spreadsheet shows a number: the number formats of ECMA-376 part 1, 18.8.30 and 18.8.31.

Kept: up to four sections and their conditions, digits with thousands, decimals and scaling commas, percent, exponents,
currency before or behind, parentheses, literals, all date and time forms, elapsed time, month and day names in English
and German. Colours, fill and the width of blanks go. A format that is not understood (fractions among them) falls back
to ``General``.

Separators are those of the viewer's system, which a file does not state: they are written as the format writes them,
``1,234.56``, unless its section names a German (Austrian, Swiss) locale, as in ``[$€-407]``. For the same reason the
formats that mean "the date as this system writes it" give ISO 8601: ``3/2/2026`` would be two days to two readers.
"""

import datetime
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

GENERAL = "General"
# The format codes that a file may use by number alone. 14 and 22 are dates "as this system writes them"; 5 to 8, 42 and
# 44 are amounts in the system's currency, which the file does not name: another symbol would be a false statement.
BUILTIN_FORMATS = {
    0: GENERAL,
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: "#,##0_);(#,##0)",
    6: "#,##0_);(#,##0)",
    7: "#,##0.00_);(#,##0.00)",
    8: "#,##0.00_);(#,##0.00)",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd hh:mm",
    37: "#,##0_);(#,##0)",
    38: "#,##0_);(#,##0)",
    39: "#,##0.00_);(#,##0.00)",
    40: "#,##0.00_);(#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    42: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
}
# Excel itself keeps 15 significant digits; the rest is noise of binary fractions.
_SIGNIFICANT_DIGITS = 15
_MAX_SERIAL_DAY = 2_958_466
_MAX_FORMAT_CHARS = 255
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<width>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<clock>AM/PM|A/P)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+|e+|g+)|(?P<digit>[0#?])"
    r"|(?P<mark>[.,%/@])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_COMPARE = {
    "<": Decimal.__lt__,
    "<=": Decimal.__le__,
    ">": Decimal.__gt__,
    ">=": Decimal.__ge__,
    "=": Decimal.__eq__,
    "<>": Decimal.__ne__,
}
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
# The low bytes of a Windows locale id: the language is in the lowest.
_GERMAN_LANGUAGE = 0x07
_SWISS_GERMAN = 0x807
_ENGLISH_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_GERMAN_MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)
_MONTHS = {False: _ENGLISH_MONTHS, True: _GERMAN_MONTHS}
_DAYS = {
    False: ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    True: ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
}
# German Excel shortens March so, and every other month to its first three letters.
_SHORT_MONTHS = {"März": "Mrz"}
_SHORT_DAY_CHARS = {False: 3, True: 2}


class _NotUnderstoodError(ValueError):
    """The format is beyond the subset that is read."""


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


@dataclass(frozen=True)
class _Section:
    tokens: tuple[_Token, ...]
    condition: tuple[str, Decimal] | None
    locale: int | None

    @property
    def german(self) -> bool:
        return self.locale is not None and self.locale & 0xFF == _GERMAN_LANGUAGE

    @property
    def is_date(self) -> bool:
        return any(token.kind in ("date", "elapsed", "clock") for token in self.tokens)

    @property
    def has_digits(self) -> bool:
        return any(token.kind == "digit" for token in self.tokens)


def is_date_format(code: str) -> bool:
    """Whether the format shows a number as a date or a time."""
    try:
        return _parsed(code)[0].is_date
    except _NotUnderstoodError:
        return False


def format_number(value: float, code: str, *, epoch_1904: bool = False) -> str:
    """The number as a cell of that format shows it; ``epoch_1904`` tells how serial days are counted."""
    number = _decimal(value)
    try:
        return _displayed(number, _parsed(code), epoch_1904)
    except (_NotUnderstoodError, OverflowError):
        return _general(number)


def format_text(value: str, code: str) -> str:
    """The text as a cell of that format shows it: with the literals that the format puts around it."""
    if "@" not in code:
        return value
    try:
        section = _parsed(code)[-1]
    except _NotUnderstoodError:
        return value
    if not any(token.kind == "mark" and token.text == "@" for token in section.tokens):
        return value
    return "".join(
        value if token.text == "@" and token.kind == "mark" else token.text
        for token in section.tokens
        if token.kind in ("literal", "mark")
    ).strip()


def _decimal(value: float) -> Decimal:
    return Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{_SIGNIFICANT_DIGITS}g}")


def _general(number: Decimal) -> str:
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


@lru_cache(maxsize=1024)
def _parsed(code: str) -> tuple[_Section, ...]:
    if not code or len(code) > _MAX_FORMAT_CHARS:
        raise _NotUnderstoodError(code)
    sections = tuple(_section(part) for part in _split(code))
    if not 1 <= len(sections) <= 4:
        raise _NotUnderstoodError(code)
    return sections


def _split(code: str) -> list[str]:
    parts = [""]
    for match in _TOKEN.finditer(code):
        if match["other"] == ";":
            parts.append("")
        else:
            parts[-1] += match[0]
    return parts


def _section(part: str) -> _Section:
    tokens: list[_Token] = []
    condition: tuple[str, Decimal] | None = None
    locale: int | None = None
    for match in _TOKEN.finditer(part):
        kind, text = str(match.lastgroup), match[match.lastgroup or 0]
        if kind in ("quoted", "escaped", "other"):
            tokens.append(_Token("literal", text))
        elif kind == "width":
            tokens.append(_Token("literal", " "))
        elif kind == "bracket":
            found = _CONDITION.fullmatch(text)
            if text.startswith("$"):
                symbol, _, locale_text = text[1:].partition("-")
                tokens.append(_Token("literal", symbol))
                locale = _locale(locale_text, locale)
            elif found:
                condition = found[1], Decimal(found[2])
            elif _ELAPSED.fullmatch(text):
                tokens.append(_Token("elapsed", text.lower()))
            # What is left in brackets is a colour.
        elif kind == "date":
            tokens.append(_Token("date", text.lower()))
        elif kind != "fill":
            tokens.append(_Token(kind, text))
    return _Section(_with_minutes(tokens), condition, locale)


def _locale(text: str, otherwise: int | None) -> int | None:
    try:
        return int(text, 16) & 0xFFFF
    except ValueError:
        return otherwise


def _with_minutes(tokens: list[_Token]) -> tuple[_Token, ...]:
    """``m`` is a minute after an hour or before a second, else a month."""
    times = [place for place, token in enumerate(tokens) if token.kind in ("date", "elapsed")]
    for nth, place in enumerate(times):
        token = tokens[place]
        if token.kind == "date" and token.text in ("m", "mm"):
            before = tokens[times[nth - 1]].text[0] if nth else ""
            after = tokens[times[nth + 1]].text[0] if nth + 1 < len(times) else ""
            if before == "h" or after == "s":
                tokens[place] = _Token("minute", token.text)
    return tuple(tokens)


def _displayed(number: Decimal, sections: tuple[_Section, ...], epoch_1904: bool) -> str:
    numeric = sections[:3] if len(sections) > 1 else sections
    section, signed = _chosen(number, numeric)
    if section is None:
        return _general(number)
    if any(token.kind == "general" for token in section.tokens):
        return _around(section, _general(number if signed else abs(number)))
    if section.is_date:
        return _date_text(number, section, epoch_1904)
    if section.has_digits:
        return _number_text(number, section, signed)
    if any(token.kind == "mark" and token.text == "@" for token in section.tokens):
        return _general(number)
    text = "".join(token.text for token in section.tokens if token.kind in ("literal", "mark"))
    return ("-" if signed and number < 0 else "") + text.strip()


def _chosen(number: Decimal, sections: tuple[_Section, ...]) -> tuple[_Section | None, bool]:
    """The section for a number, and whether the number still needs its own minus sign."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _COMPARE[section.condition[0]](number, section.condition[1]):
                return section, section.condition is None or len(sections) == 1
        return None, True
    if len(sections) == 1:
        return sections[0], True
    if number > 0 or (number == 0 and len(sections) == 2):
        return sections[0], True
    return (sections[1], False) if number < 0 else (sections[2], True)


def _around(section: _Section, text: str) -> str:
    kinds = ("literal", "general")
    return "".join(
        text if token.kind == "general" else token.text for token in section.tokens if token.kind in kinds
    ).strip()


def _number_text(number: Decimal, section: _Section, signed: bool) -> str:
    tokens = section.tokens
    if any(token.kind == "mark" and token.text == "/" for token in tokens):
        raise _NotUnderstoodError("a fraction")
    digit_places = [place for place, token in enumerate(tokens) if token.kind == "digit"]
    first, last = digit_places[0], digit_places[-1]
    exponent = next((place for place, token in enumerate(tokens) if token.kind == "exponent"), None)
    mantissa_end = exponent if exponent is not None else len(tokens)
    point = next(
        (place for place in range(mantissa_end) if tokens[place] == _Token("mark", ".")),
        None,
    )
    whole_digits = [tokens[p].text for p in digit_places if p < (mantissa_end if point is None else point)]
    part_digits = [tokens[p].text for p in digit_places if point is not None and point < p < mantissa_end]
    commas = [place for place, token in enumerate(tokens) if token == _Token("mark", ",")]
    before_point = [p for p in digit_places if p < (mantissa_end if point is None else point)]
    grouped = bool(before_point) and any(before_point[0] < place < before_point[-1] for place in commas)
    scaling = sum(1 for place in commas if place > max(p for p in digit_places if p < mantissa_end))
    percents = sum(1 for token in tokens if token == _Token("mark", "%"))
    shown = abs(number) * Decimal(100) ** percents / Decimal(1000) ** scaling
    power = ""
    if exponent is not None:
        shown, power = _scientific(shown, whole_digits, len(part_digits), tokens, exponent)
    text = _digits(shown, whole_digits, part_digits, grouped, section)
    is_zero = not any(character in "123456789" for character in text)
    pieces: list[str] = []
    body_done = False
    for place, token in enumerate(tokens):
        if first <= place <= last or token in (_Token("mark", "."), _Token("mark", ",")):
            # Literals between the digits, as in a phone number, would be torn apart: such a format is not read.
            if token.kind == "literal" and first <= place <= last:
                raise _NotUnderstoodError("a literal among the digits")
            if not body_done and token.kind in ("digit", "mark"):
                pieces.append(text + power)
                body_done = True
            if token == _Token("mark", "%"):
                pieces.append("%")
        elif token.kind == "literal" or token == _Token("mark", "%"):
            pieces.append(token.text)
    sign = "-" if signed and number < 0 and not is_zero else ""
    return sign + "".join(pieces).strip()


def _digits(shown: Decimal, whole_digits: list[str], part_digits: list[str], grouped: bool, section: _Section) -> str:
    quantum = Decimal(1).scaleb(-len(part_digits))
    try:
        rounded = shown.quantize(quantum, ROUND_HALF_UP)
    except ArithmeticError as error:
        raise _NotUnderstoodError("more digits than a number has") from error
    whole, _, part = format(rounded, "f").partition(".")
    whole = "" if whole == "0" else whole
    whole = whole.rjust(whole_digits.count("0"), "0")
    for kind in reversed(part_digits):
        if kind == "0" or not part.endswith("0"):
            break
        part = part[:-1]
    group, point = (("’" if section.locale == _SWISS_GERMAN else "."), ",") if section.german else (",", ".")
    if section.locale == _SWISS_GERMAN:
        point = "."
    if grouped:
        head = len(whole) % 3
        whole = group.join([*([whole[:head]] if head else []), *(whole[i : i + 3] for i in range(head, len(whole), 3))])
    # With no digit behind it the point goes too, unless the format ends in a bare one, which nobody reads.
    return whole + (point + part if part else "")


def _scientific(
    shown: Decimal, whole_digits: list[str], decimals: int, tokens: tuple[_Token, ...], exponent: int
) -> tuple[Decimal, str]:
    width = sum(1 for token in tokens[exponent:] if token.kind == "digit" and token.text == "0")
    step = max(1, len(whole_digits))
    power = (shown.adjusted() // step) * step if shown else 0
    mantissa = shown.scaleb(-power)
    if mantissa.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) >= Decimal(10) ** step:
        power += step
        mantissa = shown.scaleb(-power)
    sign = "-" if power < 0 else "+" if tokens[exponent].text.endswith("+") else ""
    return mantissa, f"E{sign}{str(abs(power)).rjust(width, '0')}"


def _date_text(number: Decimal, section: _Section, epoch_1904: bool) -> str:
    if not 0 <= number < _MAX_SERIAL_DAY:
        raise _NotUnderstoodError("no day of the calendar")
    decimals = _fraction_digits(section)
    # Serial days are binary fractions: 14:30 is stored as 0.604166666666667, a hair beside the full minute.
    resolution = Decimal(86_400) * Decimal(10) ** decimals
    ticks = int((number * resolution).quantize(Decimal(1), ROUND_HALF_UP))
    seconds, fraction = divmod(ticks, 10**decimals)
    day, second_of_day = divmod(seconds, 86_400)
    hour, minute, second = second_of_day // 3600, second_of_day // 60 % 60, second_of_day % 60
    half_day = any(token.kind == "clock" for token in section.tokens)
    german = section.german
    pieces: list[str] = []
    for place, token in enumerate(section.tokens):
        text, length = token.text, len(token.text)
        if token.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[text[0]]
            pieces.append(str(seconds // unit).rjust(length, "0"))
        elif token.kind == "minute":
            pieces.append(_padded(minute, length))
        elif token.kind == "clock":
            forms = text.split("/")
            pieces.append(forms[0] if hour < 12 else forms[1])
        elif token.kind == "date":
            if text[0] == "h":
                pieces.append(_padded((hour % 12 or 12) if half_day else hour, length))
            elif text[0] == "s":
                pieces.append(_padded(second, length))
            else:
                pieces.append(_calendar_text(_date(day, epoch_1904), text, german))
        elif token.kind == "digit":
            if place and section.tokens[place - 1].text == ".":
                pieces.append(str(fraction).rjust(decimals, "0"))
        else:
            pieces.append(text)
    return "".join(pieces).strip()


def _fraction_digits(section: _Section) -> int:
    """The digits behind a second, as in ``ss.00``."""
    text = "".join("0" if token.kind == "digit" else "." if token.text == "." else "x" for token in section.tokens)
    found = re.search(r"\.(0+)", text)
    return min(len(found[1]), 3) if found else 0


def _padded(number: int, length: int) -> str:
    return f"{number:02}" if length > 1 else str(number)


def _date(day: int, epoch_1904: bool) -> datetime.date:
    if epoch_1904:
        return datetime.date(1904, 1, 1) + datetime.timedelta(days=day)
    # Day 60 is 29 February 1900, which never was; the count is off by one before it.
    return datetime.date(1899, 12, 31 if day < 60 else 30) + datetime.timedelta(days=day)


def _calendar_text(date: datetime.date, text: str, german: bool) -> str:
    length = len(text)
    match text[0]:
        case "y" | "e":
            return f"{date.year % 100:02}" if length <= 2 and text[0] == "y" else f"{date.year:04}"
        case "m" if length >= 3:
            name = _MONTHS[german][date.month - 1]
            return name[:1] if length == 5 else _SHORT_MONTHS.get(name, name[:3]) if length == 3 else name
        case "m":
            return _padded(date.month, length)
        case "d" if length >= 3:
            name = _DAYS[german][date.weekday()]
            return name[: _SHORT_DAY_CHARS[german]] if length == 3 else name
        case "d":
            return _padded(date.day, length)
    raise _NotUnderstoodError(f"a date with '{text}'")
