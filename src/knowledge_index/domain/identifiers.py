"""Identifiers in documents and queries: references, registers, accounts, dates, amounts.

Documents and queries go through the same function, so that what a person types meets what a paper says although nobody
types the stored punctuation.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

# Raised whenever the same text may give other identifiers: stored ones are then found anew.
IDENTIFIER_RULES_VERSION = 1


class IdentifierKind(StrEnum):
    """What an identifier names."""

    FILE_REFERENCE = "file_reference"
    REGISTER_NUMBER = "register_number"
    ACCOUNT_NUMBER = "account_number"
    DATE = "date"
    AMOUNT = "amount"


@dataclass(frozen=True)
class Identifier:
    """One identifier: ``raw == text[start_char:end_char]``; ``normalised`` is equal for all its spellings.

    File references and register numbers are letters and digits, casefolded, their groups joined by ``-``
    (``com-4099-26``); account numbers are letters and digits without anything between; dates are ISO 8601; amounts are
    an ISO 4217 code and a plain decimal (``EUR 1250000``).
    """

    kind: IdentifierKind
    raw: str
    normalised: str
    start_char: int
    end_char: int

    @property
    def term(self) -> str:
        """The index term, ``kind:normalised``."""
        return f"{self.kind}:{self.normalised}"


def extract_identifiers(text: str) -> list[Identifier]:
    """All identifiers of ``text`` in order of their start; linear in its length.

    No two overlap, with one exception: a date of two numbers that may each be the day or the month (``03/04/2020``) is
    given in both readings, American first, since papers of both habits lie side by side.
    """
    taken = bytearray(len(text))
    found: list[Identifier] = []
    for stretch in _NEAR_DIGITS.finditer(text):
        first, last = max(0, stretch.start() - _REACH_CHARS), stretch.end() + _REACH_CHARS
        for kind, pattern, normalise in _RULES:
            for match in pattern.finditer(text, first, last):
                start, end = match.span("raw")
                if any(taken[start:end]):
                    continue
                readings = normalise(match)
                for normalised in readings:
                    found.append(Identifier(kind, text[start:end], normalised, start, end))
                if readings:
                    taken[start:end] = b"\x01" * (end - start)
    # Stable, so that the two readings of one date keep their order.
    return sorted(found, key=lambda each: each.start_char)


# Every identifier has a digit and begins and ends at most so far from it. A contract's digits lie far apart, so that
# most of its text need not be looked at; stretches whose surroundings would meet are one.
_REACH_CHARS = 64
_NEAR_DIGITS = re.compile(rf"\d++(?:\D{{1,{2 * _REACH_CHARS}}}+\d++)*+")


# Every quantifier is bounded or possessive, so that no text makes a pattern run longer than its length.
_GAP = r"\s{1,40}+"
_GAP_OR_NONE = r"\s{0,40}+"
_START = r"(?<![\w])"
_END = r"(?!\w)"


def _first_characters(words: Iterable[str]) -> str:
    """A look-ahead for the words' first characters: most places fail it, and the words need not be tried there."""
    return f"(?=[{re.escape(''.join(sorted({each for word in words for each in word[0] + word[0].upper()})))}])"


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_MONTH_NAMES = (
    ("january", "januar", "jänner", "jan"),
    ("february", "februar", "feber", "feb"),
    ("march", "märz", "maerz", "mar", "mär", "mrz"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "juni", "jun"),
    ("july", "juli", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oktober", "oct", "okt"),
    ("november", "nov"),
    ("december", "dezember", "dec", "dez"),
)
_MONTH_BY_NAME = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names}
_MONTH = rf"{_first_characters(_MONTH_BY_NAME)}(?P<month>(?i:{_alternatives(_MONTH_BY_NAME)}))\b\.?"
_DAY = r"(?P<day>[0-3]?\d)"
_YEAR = r"(?P<year>(?:1[6-9]|20|21)\d\d)"


def _iso(year: str, month: int, day: int) -> str | None:
    number = int(year)
    if len(year) == 2:
        # The pivot of POSIX: 69 to 99 are the last century's.
        number += 1900 if number >= 69 else 2000
    try:
        return date(number, month, day).isoformat()
    except ValueError:
        return None


def _named_month(match: re.Match[str]) -> list[str]:
    iso = _iso(match["year"], _MONTH_BY_NAME[match["month"].casefold()], int(match["day"]))
    return [iso] if iso else []


def _numbered_month(match: re.Match[str]) -> list[str]:
    iso = _iso(match["year"], int(match["month"]), int(match["day"]))
    return [iso] if iso else []


def _either_order(match: re.Match[str]) -> list[str]:
    first, second = int(match["first"]), int(match["second"])
    readings = (_iso(match["year"], first, second), _iso(match["year"], second, first))
    return list(dict.fromkeys(each for each in readings if each))


_CURRENCY_BY_SIGN = {
    "€": "EUR",
    "eur": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "$": "USD",
    "us$": "USD",
    "us $": "USD",
    "u.s.$": "USD",
    "u.s. $": "USD",
    "usd": "USD",
    "dollar": "USD",
    "dollars": "USD",
    "us-dollar": "USD",
    "us dollars": "USD",
    "u.s. dollars": "USD",
    "£": "GBP",
    "gbp": "GBP",
    "chf": "CHF",
    "sfr": "CHF",
    "franken": "CHF",
    "¥": "JPY",
    "jpy": "JPY",
    "yen": "JPY",
    "c$": "CAD",
    "cdn$": "CAD",
    "cad": "CAD",
    "a$": "AUD",
    "aud": "AUD",
    "hk$": "HKD",
    "hkd": "HKD",
    "s$": "SGD",
    "sgd": "SGD",
    "rmb": "CNY",
    "cny": "CNY",
    "inr": "INR",
    "sek": "SEK",
    "nok": "NOK",
    "dkk": "DKK",
    "pln": "PLN",
    "dm": "DEM",
    "dem": "DEM",
}
_FACTOR_BY_UNIT = {
    "k": 10**3,
    "tsd": 10**3,
    "thousand": 10**3,
    "tausend": 10**3,
    "m": 10**6,
    "mm": 10**6,
    "mn": 10**6,
    "mio": 10**6,
    "million": 10**6,
    "millions": 10**6,
    "millionen": 10**6,
    "bn": 10**9,
    "mrd": 10**9,
    "billion": 10**9,
    "milliarde": 10**9,
    "milliarden": 10**9,
}


_CURRENCY = rf"{_first_characters(_CURRENCY_BY_SIGN)}(?P<currency>(?i:{_alternatives(_CURRENCY_BY_SIGN)}))"
# Behind a number a bare "$" belongs to the number that follows: "in 2008 $500".
_CURRENCY_BEHIND = rf"(?![$£¥]){_CURRENCY}"
_UNIT = rf"(?:\s?(?P<unit>(?i:{_alternatives(_FACTOR_BY_UNIT)}))\b(?i:(?<=mio|mrd|tsd)\.)?)?"
_NUMBER = r"(?P<number>\d{1,3}(?:[ '’]\d{3}){1,5}(?:[.,]\d{1,2})?(?!\d)|\d{1,15}(?:[.,]\d{1,15}){0,6}(?!\d)|\.\d{1,4})"


def _amount(match: re.Match[str]) -> list[str]:
    value = _decimal(match["number"])
    currency = _CURRENCY_BY_SIGN[" ".join(match["currency"].casefold().split())]
    if match["unit"]:
        value *= _FACTOR_BY_UNIT[match["unit"].casefold()]
    plain = format(value, "f")
    return [f"{currency} {plain.rstrip('0').rstrip('.') if '.' in plain else plain}"]


def _decimal(number: str) -> Decimal:
    """A number in English, German or Swiss notation; one separator with three digits behind it groups thousands."""
    digits = re.sub(r"[ '’]", "", number)
    point, comma = digits.rfind("."), digits.rfind(",")
    last = max(point, comma)
    if last < 0:
        return Decimal(digits)
    separator = digits[last]
    both = point >= 0 and comma >= 0
    grouping = digits.count(separator) > 1 or (not both and len(digits) - last == 4 and digits[:last].lstrip("0") != "")
    if grouping:
        return Decimal(re.sub("[.,]", "", digits))
    return Decimal(f"{re.sub('[.,]', '', digits[:last]) or '0'}.{digits[last + 1 :]}")


def _groups(match: re.Match[str]) -> list[str]:
    """Letters and digits in groups, whatever stood between them: "COM-4099/26" and "com 4099-26" are one."""
    return ["-".join(re.findall(r"[^\W\d_]+|\d+", match["raw"].casefold()))]


def _file_reference(match: re.Match[str]) -> list[str]:
    prefix = re.match(r"[^\W\d_]*", match["raw"])
    return [] if prefix and prefix[0].casefold() in _NO_PREFIX else _groups(match)


def _register(match: re.Match[str]) -> list[str]:
    # The letter behind the number names the court's district and is left out as often as not.
    return [f"{match['register'].casefold()}-{re.sub(r'[. ]', '', match['number'])}"]


def _compact(match: re.Match[str]) -> list[str]:
    return [re.sub(r"[\W_]", "", match["raw"]).casefold()]


# The lengths that each country's registry entry of ISO 13616 gives.
_IBAN_LENGTHS = (
    "AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GR27 HR21 HU28 IE22 IS26 IT27 LI21 LT20 LU20 LV21"
    " MC27 MT31 NL18 NO15 PL28 PT25 RO24 SE24 SI19 SK24"
)
_IBAN = "|".join(rf"{each[:2]}\d\d(?:[ ]?[A-Z0-9]){{{int(each[2:]) - 4}}}" for each in _IBAN_LENGTHS.split())

_COURT_REGISTERS = (
    r"O|OH|HK ?O|U|C|S|T|W|Wx|UF|WF|F|K|AR|AS|AL|KR|BA|R|RS|SF|SO|Ca|BV|BVGa|Ga|Sa|Ta|TaBV|SaGa|AZR|ABR|AZB|AZN|BvR|BvL"
    r"|BvF|BvE|BvQ|ZR|ZB|ZA|ARZ|StR|ARs|KLs|Ls|Ds|Js|Cs|Ks|OWi|Qs|Ns|Ws|Ss|IN|IK|IE|M|N|L|A|B|D|E|P|VI|XVII|X"
)
_COURT_REFERENCE = (
    rf"(?:[IVX]{{1,5}}|\d{{1,4}}[a-z]?)\s(?i:{_COURT_REGISTERS})\s?(?:\([A-Za-z]{{1,6}}\)\s?)?"
    r"\d{1,6}/\d{2}(?:\d\d)?"
)
# Words and codes that stand before a range or a fraction without naming a file.
_NO_PREFIX_WORDS = (
    "no nr page pages pp p s seite seiten art arts item items rule rules para paras vol day days year years fy q h from"
    " to in on of at by for the a and or is von vom bis am im um und oder seit jahr zum zur der die das rz abs satz"
    " form part phase step table age ages up about ca eur usd gbp chf hra hrb vr gnr gsr tel fax dated date per with"
    " lot suite unit room box apt bldg level covid iso"
)
_NO_PREFIX = frozenset(_NO_PREFIX_WORDS.split())
_FILE_REFERENCE = "|".join(
    (
        # COM-4099/26, COM 4099-26, M-2026-0001, IP--9751/26; a state and its ZIP+4 code is none
        r"(?![A-Z]{2}[ ]\d{5}-\d{4}(?!\d))[A-ZÄÖÜ]{1,6}(?:[ ]|[-–./]{0,2})\d{1,6}(?:[-–/]\d{2,6}){1,3}",
        # typed by hand: com 4099/26, com-4099-26, m-2026-0001
        r"(?:[a-zäöü]{2,6}|[A-ZÄÖÜ][a-zäöü]{1,3})(?:[ ]\d{3,6}/|-{1,2}\d{2,6}[-/])\d{2,4}",
        r"[a-z]-\d{4}-\d{2,6}",
        # INV-2024001, NDA/2024/17
        r"[A-Z]{2,6}(?:[-/][A-Z]{1,5}){0,2}[-/]\d{3,10}(?:[-/][A-Z0-9]{1,8}){0,2}",
        # docket numbers of American courts and commission file numbers
        r"\d:\d\d-(?i:cv|cr|bk|ap|mc|md)-\d{3,6}",
        r"\d{3}-\d{5,6}",
    )
)
_ACCOUNT_LABEL = (
    r"(?i:account|acct|a/c|konto|kto|kontonummer|depot|routing|aba|customer|kunden|kundennummer|policy|police|"
    r"versicherungsschein|steuer|steuernummer)(?:\.|\b)[ -]{0,2}(?i:(?:no|nr|number|nummer)(?:\.|\b))?[ ]?[:#]?[ ]?"
)

_RULES: tuple[tuple[IdentifierKind, re.Pattern[str], Callable[[re.Match[str]], list[str]]], ...] = (
    # September 28, 2018; Sept. 28th 2018
    (
        IdentifierKind.DATE,
        re.compile(
            rf"{_START}(?P<raw>{_MONTH}{_GAP_OR_NONE}{_DAY}(?:st|nd|rd|th)?"
            rf"(?:{_GAP_OR_NONE},{_GAP_OR_NONE}|{_GAP}){_YEAR}){_END}"
        ),
        _named_month,
    ),
    # 28th day of September, 2018; 28. September 2018; 28-Sep-2018
    (
        IdentifierKind.DATE,
        re.compile(
            rf"{_START}(?P<raw>{_DAY}(?:\.|st|nd|rd|th)?(?:{_GAP}(?i:day{_GAP}of|of))?(?:{_GAP_OR_NONE}|-){_MONTH}"
            rf"(?:\s?,)?(?:{_GAP}|-){_YEAR}){_END}"
        ),
        _named_month,
    ),
    (
        IdentifierKind.DATE,
        re.compile(rf"(?<![\w-])(?P<raw>{_YEAR}-(?P<month>[01]\d)-(?P<day>[0-3]\d))(?![\w-])"),
        _numbered_month,
    ),
    # 28.09.2018, 1.2.2018, 28.09.18; but "5.1.12" is a clause
    (
        IdentifierKind.DATE,
        re.compile(
            rf"(?<![\w.])(?P<raw>{_DAY}\.[ ]?(?P<month>[01]?\d)\.[ ]?"
            r"(?P<year>(?:1[6-9]|20|21)\d\d|(?<=\d\d\.\d\d\.)\d\d))(?!\.?\w)"
        ),
        _numbered_month,
    ),
    (
        IdentifierKind.DATE,
        re.compile(
            r"(?<![\w/.-])(?P<raw>(?P<first>[0-3]?\d)/(?P<second>[0-3]?\d)/(?P<year>\d{4}|\d\d))(?![\w/]|[.-]\d)"
        ),
        _either_order,
    ),
    # EUR 1.250.000,00; $5 million
    (
        IdentifierKind.AMOUNT,
        re.compile(rf"(?<![\w$€£])(?P<raw>{_CURRENCY}{_GAP_OR_NONE}{_NUMBER}{_UNIT})(?!\w)"),
        _amount,
    ),
    # 1.250.000,00 EUR; 5 Mio. €
    (
        IdentifierKind.AMOUNT,
        re.compile(rf"(?<![\w.,])(?P<raw>{_NUMBER}(?:,?-{{1,2}})?{_UNIT}(?:\s|-)?{_CURRENCY_BEHIND})(?!\w)"),
        _amount,
    ),
    (IdentifierKind.ACCOUNT_NUMBER, re.compile(rf"{_START}(?P<raw>{_IBAN}){_END}"), _compact),
    (
        IdentifierKind.REGISTER_NUMBER,
        re.compile(
            rf"{_START}(?P<raw>(?P<register>(?i:HR ?[AB]|VR|GnR|GsR)|PR)[ -]?(?:(?i:Nr|No)\.?[ ]?)?"
            r"(?P<number>\d{1,3}(?:[. ]\d{3}){1,2}(?!\d)|\d{1,7})(?:[ ]?[A-Z])?)(?!\w)"
        ),
        _register,
    ),
    (IdentifierKind.FILE_REFERENCE, re.compile(rf"(?<![\w/.-])(?P<raw>{_COURT_REFERENCE})(?![\w/-])"), _groups),
    (
        IdentifierKind.FILE_REFERENCE,
        re.compile(rf"(?<![\w/.-])(?P<raw>{_FILE_REFERENCE})(?![\w/]|[.,-]\d)"),
        _file_reference,
    ),
    # Account No. 123-456-789
    (
        IdentifierKind.ACCOUNT_NUMBER,
        re.compile(rf"{_START}{_ACCOUNT_LABEL}(?P<raw>\d(?:[ /-]?\d){{4,23}})(?![\w/-])"),
        _compact,
    ),
    (IdentifierKind.ACCOUNT_NUMBER, re.compile(r"(?<![\w.,:/+-])(?P<raw>\d{8,20})(?![\w/-]|[.,]\d)"), _compact),
)
