"""Which paper a question names, and what it asks once the name is taken off.

A mention is found by matching the question against the titles, file names, matters and openings of the documents that
the caller may see; no form of question is presupposed.
"""

import re
from dataclasses import dataclass

from knowledge_index.index.analysis import is_stop_word, term_of
from knowledge_index.index.base import ProfileMatches
from knowledge_index.index.profiles import name_terms, terms_of

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_BREAK = re.compile(r"[;?!]")
_EDGE = " \t\r\n,;:.-–—|()[]"
# Words that hold a mention together without naming anything.
_JOINING = frozenset(
    ("between", "entered", "into", "dated", "s", "agreement", "contract", "zwischen", "vertrag", "vereinbarung")
)
_NAMING_SHARE = 0.1
_NAMING_DOCUMENTS = 2
# Papers whose names fit the question as well as the best one's are all meant.
_NEAR = 0.99


@dataclass(frozen=True)
class Named:
    """The document that fits best: its names and its opening."""

    names: str
    opening: str


@dataclass(frozen=True)
class Mention:
    """What names the paper, in the question's words; ``rest`` is the question without it, or whole if none is left."""

    words: tuple[str, ...]
    rest: str


def near_best(matches: ProfileMatches) -> frozenset[str]:
    """The row keys of the profiles that fit the question best."""
    if not matches.rows:
        return frozenset()
    least = _NEAR * matches.rows[0].score
    return frozenset(row.row_key for row in matches.rows if row.score >= least)


def find_mention(query: str, named: Named, matches: ProfileMatches) -> Mention | None:
    """The mention of ``named`` in the query, or None where no word of it names this document rather than any other.

    A word names a document when it stands in its names or its opening, and few of the visible documents hold it at all;
    a word in lower case, in a query that has capitals, only when hardly any other document holds it.
    """
    names, opening = name_terms(named.names), terms_of(named.opening)
    words = list(_WORD.finditer(query))
    has_capitals = any(word[0][0].isupper() for word in words[1:])
    kinds = [_kind(word[0], names, opening, matches, has_capitals) for word in words]
    spans: list[tuple[int, int]] = []
    naming: list[str] = []
    place = 0
    while place < len(words):
        end = place
        while end < len(words) and kinds[end] and (end == place or not _breaks(query, words[end - 1], words[end])):
            end += 1
        run = range(place, end)
        if any(kinds[each] == "naming" for each in run):
            spans.append((words[place].start(), words[end - 1].end()))
            naming.extend(words[each][0] for each in run if kinds[each] == "naming")
        place = max(end, place + 1)
    if not spans:
        return None
    rest = query
    for start, end in reversed(spans):
        rest = f"{rest[:start]} {rest[end:]}"
    rest = " ".join(rest.split()).strip(_EDGE)
    asks_something = any(not is_stop_word(word[0]) for word in _WORD.finditer(rest))
    return Mention(tuple(dict.fromkeys(naming)), rest if asks_something else query)


def _kind(
    word: str, names: frozenset[str], opening: frozenset[str], matches: ProfileMatches, has_capitals: bool
) -> str:
    """``naming``, ``joining`` or nothing."""
    term = term_of(word)
    share = matches.share_of.get(term, 0.0)
    documents = share * matches.documents
    hardly_anywhere = documents <= _NAMING_DOCUMENTS
    if (
        # A word that was not looked up is one that every document may hold.
        term in matches.share_of
        and not is_stop_word(word)
        and (term in names or term in opening)
        and (hardly_anywhere or share <= _NAMING_SHARE)
        and (hardly_anywhere or not has_capitals or not word[0].islower())
    ):
        return "naming"
    if term in names or is_stop_word(word) or word.lower() in _JOINING or (term in opening and word[0].isupper()):
        return "joining"
    return ""


def _breaks(query: str, before: re.Match[str], after: re.Match[str]) -> bool:
    return _SENTENCE_BREAK.search(query, before.end(), after.start()) is not None
