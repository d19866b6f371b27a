"""Numbers, dates and amounts of a text, in one form for all their spellings, in English and German."""

import re
from dataclasses import dataclass
from decimal import Decimal

from knowledge_index.domain.identifiers import IdentifierKind, extract_identifiers

_UNITS = {
    "day": "days? tage?n? werktage?n? bankarbeitstage?n? kalendertage?n? arbeitstage?n? tägige?[mnrs]?",
    "week": "weeks? wochen? wöchige?[mnrs]?",
    "month": "months? monate?n?s? monatsgehälter\\w* monthly monatige?[mnrs]?",
    "quarter": "quarters? quartale?n?",
    "year": "years? jahre?n?s? anniversar\\w+ jährige?[mnrs]?",
    "hour": "hours? stunden? stündige?[mnrs]?",
    "minute": "minutes? minuten?",
    "percent": "% percent prozent v\\.\\s?h\\.",
    "point": "prozentpunkte?n? percentage",
}
_UNIT_PATTERNS = [
    (unit, re.compile(rf"(?:{'|'.join(spellings.split())})(?!\w)", re.IGNORECASE)) for unit, spellings in _UNITS.items()
]
_PER_CENT = re.compile(r"per\s?cent(?!\w)", re.IGNORECASE)
_UNIT_REACH_WORDS = 3

_ENGLISH_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_ENGLISH = dict(zip(_ENGLISH_WORDS.split(), range(1, 20), strict=True))
_ENGLISH_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH_TENS = dict(zip(_ENGLISH_TENS_WORDS.split(), range(20, 100, 10), strict=True))
_IRREGULAR = frozenset({"one", "two", "three", "five", "eight", "nine", "twelve"})
_ENGLISH_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    "twentieth": 20,
    "thirtieth": 30,
    "once": 1,
    "twice": 2,
    **{f"{word}th": number for word, number in _ENGLISH.items() if word not in _IRREGULAR},
}
_GERMAN_WORDS = (
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn"
)
_GERMAN = dict(zip(_GERMAN_WORDS.split(), range(2, 20), strict=True))
_GERMAN_TENS_WORDS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_GERMAN_TENS = dict(zip(_GERMAN_TENS_WORDS.split(), range(20, 100, 10), strict=True))
_GERMAN_ORDINALS = {
    "erst": 1,
    "zweit": 2,
    "dritt": 3,
    "viert": 4,
    "fünft": 5,
    "sechst": 6,
    "siebt": 7,
    "acht": 8,
    "neunt": 9,
    "zehnt": 10,
    "zwölft": 12,
    "fünfzehnt": 15,
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "hundert": 100, "tausend": 1000, "dozen": 12}


def _word_table() -> dict[str, int]:
    table = {**_ENGLISH, **_ENGLISH_TENS, **_ENGLISH_ORDINALS, **_GERMAN, **_GERMAN_TENS}
    for tens, value in _ENGLISH_TENS.items():
        table.update({f"{tens}-{word}": value + number for word, number in _ENGLISH.items() if number < 10})
    ones = {"ein": 1, **{word: number for word, number in _GERMAN.items() if number < 10}}
    for tens, value in _GERMAN_TENS.items():
        table.update({f"{word}und{tens}": value + number for word, number in ones.items()})
    for stem, number in _GERMAN_ORDINALS.items():
        table.update({f"{stem}{ending}": number for ending in ("e", "en", "er", "es", "em")})
    # "hundertachtzig", "dreihundert", "zweitausend"
    small = dict(table)
    for scale in ("hundert", "tausend"):
        for word, number in {"": 1, "ein": 1, **_GERMAN}.items():
            base = number * _SCALES[scale]
            table[f"{word}{scale}"] = base
            table.update({f"{word}{scale}{rest}": base + value for rest, value in small.items() if value < 100})
    return {word.casefold(): number for word, number in table.items()}


_NUMBER_BY_WORD = _word_table()
_GERMAN_COMPOUND = re.compile(r"([^\W\d_]+)((?:tägig|wöchig|monatig|jährig|stündig|prozentig|fach)(?:e[mnrs]?)?)")
# An article, unless what it counts is measured.
_GERMAN_ONE = re.compile(
    r"\bein(?:e[nmrs]?)?\s+(?=(?:\w+\s)?(?:\w*(?:tag|woche|monat|jahr|stunde|prozent))\w{0,3}\b)", re.IGNORECASE
)
_DIGITS = re.compile(r"(?<![\w])\d+(?:[ '’](?=\d{3}(?!\d))\d{3})*(?:[.,]\d+)*|(?<=[A-Za-z.,/-])\d+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MONTHS = (
    "january januar jänner", "february februar feber", "march märz", "april", "may mai", "june juni", "july juli",
    "august", "september", "october oktober", "november", "december dezember",
)  # fmt: skip
_MONTH_BY_NAME = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}

# Words behind which a unit is not the unit of the number before them: "10 of the days", "5 March of that year".
_NO_ADJECTIVES = frozenset({*_MONTH_BY_NAME, "and", "or", "und", "oder", "of"})


@dataclass(frozen=True)
class Figures:
    """What a text holds, normalised.

    ``identifiers`` are ``kind:value`` of amounts, dates, references and accounts; each entry is the set of readings of
    one. ``numbers`` are the other numbers likewise, as plain decimals; ``inner`` those inside of identifiers, of a date
    its year alone: its day is no number of anything. ``measured`` are the readings and the unit of numbers that a unit
    follows. ``months`` are numbers of named months.
    """

    identifiers: tuple[tuple[str, frozenset[str]], ...]
    numbers: tuple[tuple[str, frozenset[Decimal]], ...]
    inner: frozenset[Decimal]
    measured: tuple[tuple[frozenset[Decimal], str], ...]
    months: frozenset[int]


def figures_of(text: str) -> Figures:
    """All figures of a text, each with its wording."""
    by_place: dict[tuple[int, int], set[str]] = {}
    inner: set[Decimal] = set()
    months: set[int] = set()
    dates: set[tuple[int, int]] = set()
    for each in extract_identifiers(text):
        by_place.setdefault((each.start_char, each.end_char), set()).add(each.term)
        if each.kind is IdentifierKind.AMOUNT:
            inner.add(Decimal(each.normalised.split(" ")[1]))
        if each.kind is IdentifierKind.DATE:
            dates.add((each.start_char, each.end_char))
            inner.add(Decimal(each.normalised.split("-")[0]))
            months.add(int(each.normalised.split("-")[1]))
    numbers: list[tuple[str, frozenset[Decimal]]] = []
    measured: list[tuple[frozenset[Decimal], str]] = []
    for start, end, readings in _numbers(text):
        place = next(((first, last) for first, last in by_place if first <= start and end <= last), None)
        if place is not None:
            inner |= readings if place not in dates else frozenset()
            continue
        numbers.append((text[start:end], readings))
        unit = _unit_behind(text, end)
        if unit is not None:
            measured.append((readings, unit))
    # "may" is a month only with a capital and a figure beside it.
    for match in _WORD.finditer(text):
        month = _MONTH_BY_NAME.get(match[0].casefold())
        if month and match[0][0].isupper() and (month != 5 or _beside_a_figure(text, match)):
            months.add(month)
    return Figures(
        tuple((text[start:end], frozenset(terms)) for (start, end), terms in sorted(by_place.items())),
        tuple(numbers),
        frozenset(inner),
        tuple(measured),
        frozenset(months),
    )


def _beside_a_figure(text: str, match: re.Match[str]) -> bool:
    return bool(
        re.match(r",?\s+\d", text[match.end() :]) or re.search(r"\d(?:\.|st|nd|rd|th)?\s+$", text[: match.start()])
    )


def _numbers(text: str) -> list[tuple[int, int, frozenset[Decimal]]]:
    found = [(*match.span(), _readings(match[0])) for match in _DIGITS.finditer(text)]
    found.extend((match.start(), match.end() - 1, frozenset({Decimal(1)})) for match in _GERMAN_ONE.finditer(text))
    words = [part for match in _WORD.finditer(text) for part in _number_words(match)]
    place = 0
    while place < len(words):
        start, end, word = words[place]
        value = _NUMBER_BY_WORD.get(word)
        if value is None:
            place += 1
            continue
        # "one hundred and eighty": each word that goes on from the one before
        place += 1
        while place < len(words) and text[end : words[place][0]].strip() == "":
            following = words[place][2]
            if following in _SCALES:
                value *= _SCALES[following]
            elif following == "and" and value >= 100 and place + 1 < len(words):
                place += 1
                if (rest := _NUMBER_BY_WORD.get(words[place][2])) is None or rest >= 100:
                    place -= 1
                    break
                value += rest
            elif value >= 100 and (rest := _NUMBER_BY_WORD.get(following)) is not None and rest < 100:
                value += rest
            else:
                break
            end = words[place][1]
            place += 1
        found.append((start, end, frozenset({Decimal(value)})))
    return sorted(found, key=lambda each: each[:2])


def _number_words(match: re.Match[str]) -> list[tuple[int, int, str]]:
    """A word with its place, or the parts of one that is made of a number and a unit: "three-year", "dreijährig"."""
    word = match[0].casefold()
    compound = _GERMAN_COMPOUND.fullmatch(word)
    value = _NUMBER_BY_WORD.get(compound[1]) if compound else None
    if compound and (value or compound[1] == "ein"):
        end = match.start() + len(compound[1])
        return [(match.start(), end, compound[1] if value else "one"), (end, match.end(), compound[2])]
    if "-" not in word or word in _NUMBER_BY_WORD:
        return [(*match.span(), word)]
    return [
        (match.start() + part.start(), match.start() + part.end(), part[0].casefold())
        for part in re.finditer("[^-]+", match[0])
    ]


def _readings(digits: str) -> frozenset[Decimal]:
    """What a number may mean: ``1.250`` is 1250 in German and 1.25 in English; with leading zeros as it stands."""
    compact = re.sub(r"[ '’]", "", digits).rstrip(".,")
    separators = [each for each in compact if each in ".,"]
    last = compact.rpartition(separators[-1]) if separators else ("", "", compact)
    whole = Decimal(re.sub(r"\D", "", compact))
    if not separators:
        return frozenset({whole})
    decimal = Decimal(f"{re.sub(r'[.,]', '', last[0]) or '0'}.{last[2] or '0'}")
    if len(set(separators)) > 1:
        return frozenset({decimal})
    if len(separators) > 1:
        # Groups of thousands, or the parts of a number such as 5.1.12.
        return frozenset({whole})
    return frozenset({decimal, whole}) if len(last[2]) == 3 else frozenset({decimal})


def _unit_behind(text: str, end: int) -> str | None:
    """The unit that a number is followed by, over a bracketed figure and at most two words such as "working"."""
    behind = re.sub(r"^\s*\([^()]{1,20}\)", "", text[end : end + 80]).lstrip(" \u00a0-\t\n’'")
    for _ in range(_UNIT_REACH_WORDS):
        if _PER_CENT.match(behind):
            return "percent"
        for unit, pattern in _UNIT_PATTERNS:
            if pattern.match(behind):
                return unit
        step = re.match(r"[^\W\d_]+[\s-]+", behind)
        if step is None or step[0].strip().casefold() in _NO_ADJECTIVES:
            return None
        behind = behind[step.end() :]
    return None
