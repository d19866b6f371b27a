"""A serial number as the date or the time that a number format makes of it."""

import datetime
import re
from decimal import ROUND_HALF_UP, Decimal

from knowledge_index.convert.number_sections import NotUnderstoodError, Section

_MAX_SERIAL_DAY = 2_958_466
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


def date_text(number: Decimal, section: Section, epoch_1904: bool) -> str:
    """The number of days since the epoch as the section shows it.

    Raises:
        NotUnderstoodError: it is no day of the calendar, or the section asks for what is not read.
    """
    if not 0 <= number < _MAX_SERIAL_DAY:
        raise NotUnderstoodError("no day of the calendar")
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


def _fraction_digits(section: Section) -> int:
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
    raise NotUnderstoodError(f"a date with '{text}'")
