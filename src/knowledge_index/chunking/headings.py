"""Where a clause begins, and what its heading says."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Inside a header, white space is blanks and tabs: a line break would join a page number to the page after it.
_BLANK = r"[ \t]"
# Quantifiers are possessive throughout: a line of five million digits or blanks is read once.
PUBLISHED_HEADER = (
    rf"(?:(?:ARTICLE|Article){_BLANK}++(?:[IVXLC]{{1,6}}|\d++)"
    rf"|(?:SECTION|Section){_BLANK}++\d++(?:\.\d++)*+"
    rf"|\d++(?:\.\d++)*+{_BLANK}*+(?:\.{_BLANK}*+)?+[\"“”(]?[A-Z]"
    rf"|[IVXLC]{{1,6}}\.{_BLANK}++[A-Z])"
)
"""The header of the clause rule as it was published for the CUAD span table."""

_STATUTES = "AktG|AO|BDSG|BetrVG|BGB|EGBGB|EStG|GmbHG|GWB|HGB|InsO|KSchG|MarkenG|PatG|StGB|UrhG|UStG|UWG|VVG|WEG|ZPO"
# "§ 5 Abs. 2 gilt" at the start of a wrapped line cites a paragraph; "§ 5 Haftung" opens one.
_CITATION = (
    rf"(?!{_BLANK}*+(?:(?:Abs|Absatz|Absätze|Satz|Sätze|S|Nr|Nrn|Nummer|Alt|Var|Buchst|{_STATUTES})\b|[a-zäöüß]))"
)
_TITLE_FOLLOWS = rf"(?={_BLANK}*+(?:$|[:.,–—-]{_BLANK}*+(?:$|[\"“„(]?[^\W\d_])|[\"“„(]?[A-ZÄÖÜ]))"
_GERMAN_HEADER = (
    rf"(?:(?:§{_BLANK}*+|(?:ARTIKEL|Artikel|ZIFFER|Ziffer){_BLANK}++)\d++[a-z]?\b{_CITATION}{_TITLE_FOLLOWS}"
    rf"|\d++(?:\.\d++)*+{_BLANK}*+(?:\.{_BLANK}*+)?+[„(]?[A-ZÄÖÜ])"
)
_ATTACHMENT_HEADER = (
    r"(?:ANLAGE|Anlage|ANHANG|Anhang|SCHEDULE|Schedule|EXHIBIT|Exhibit|ANNEX|Annex|APPENDIX|Appendix)"
    rf"{_BLANK}++(?:\d{{1,3}}(?:[.-]\d{{1,3}}){{0,2}}|[A-Z](?:-?\d{{1,2}})?|[IVXLC]{{1,6}})\b{_TITLE_FOLLOWS}"
)
# Papers made from running text have their subclauses one blank behind a sentence: "… is final. 5.2 Delivery. …". The
# dotted number tells them from a cardinal one, unless an abbreviation calls for it or a quantity follows.
_NO_CITATION = "".join(
    rf"(?<!\b{word}\.)" for word in ("Nr", "No", "Art", "Ziff", "Sec", "Sect", "Abs", "ca", "approx")
)
_SUBCLAUSE_HEADER = (
    rf"\d{{1,2}}(?:\.\d{{1,2}}){{1,3}}\.?{_BLANK}++(?!Mi[ol]|Mrd|EUR|Euro|USD|Prozent|Uhr)[\"“„]?[A-ZÄÖÜ]"
)
_HEADER = re.compile(
    rf"^{_BLANK}*+(?P<line>{PUBLISHED_HEADER}|{_GERMAN_HEADER}|{_ATTACHMENT_HEADER})"
    rf"|(?<=[.;:\]]){_BLANK}{{2,}}+(?P<inline>{PUBLISHED_HEADER})"
    rf"|(?<=[.;:\]]){_NO_CITATION}{_BLANK}(?P<subclause>{_SUBCLAUSE_HEADER})",
    re.MULTILINE,
)
_BARE_NUMBER = re.compile(rf"\d++{_BLANK}++[^\W\d_]")
_MAX_HEADING_CHARS = 120
# The period of "Section 5." or "ARTICLE II." ends no sentence.
_ROMAN_NUMERAL = re.compile(r"(?:^|\s)[IVXLC]+$")
_SENTENCE_END = re.compile(r"(?:(?<=[^\W\d_][^\W\d_])|(?<=[)\"”“]))[.:;](?=\s)")


@dataclass(frozen=True)
class Heading:
    """A clause's beginning: ``boundary`` is where its chunk may start, ahead of the blanks that lead to the header."""

    boundary: int
    text: str


def find_headings(text: str) -> Iterator[Heading]:
    """The headings of a text in order; linear in its length."""
    for match in _HEADER.finditer(text):
        place = match.lastgroup or "line"
        start = match.start(place)
        if place != "line" or not _continues_a_sentence(text, match.start(), start):
            yield Heading(match.start(), _heading_text(text, start))


def _continues_a_sentence(text: str, line_start: int, header_start: int) -> bool:
    """Whether the line goes on from the one above: "… innerhalb von / 14 Tagen" is no heading 14."""
    above = text[max(0, line_start - 2) : line_start]
    return len(above) == 2 and (above[0].islower() or above[0] == ",") and bool(_BARE_NUMBER.match(text, header_start))


def _heading_text(text: str, start: int) -> str:
    # The look-ahead is bounded, or a single endless line with many headers would be read once for each of them.
    line = text[start : start + 4 * _MAX_HEADING_CHARS].split("\n", 1)[0]
    ends = (match.start() for match in _SENTENCE_END.finditer(line) if not _ROMAN_NUMERAL.search(line[: match.start()]))
    words = " ".join(line[: next(ends, None)].split())
    if len(words) <= _MAX_HEADING_CHARS:
        return words
    return words[: _MAX_HEADING_CHARS + 1].rpartition(" ")[0] or words[:_MAX_HEADING_CHARS]
