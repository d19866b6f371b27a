"""Phrases of the clause library, and how they are found among the words of a query."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from knowledge_index.index.analysis import normalised, query_terms

GAP = "..."
_MAX_GAP_WORDS = 10
# Between two words of a phrase a query may have function words more: "terminate this contract".
_MAX_SKIPPED_WORDS = 2
_WORD = re.compile(r"[^\W_]+")
_PHRASE_PART = re.compile(r"\.\.\.|\*?[^\W_]+\*?")
# British to American, on English stems, where lawyers use both.
_BRITISH = {"licenc": "licens", "sublicenc": "sublicens", "favour": "favor", "honour": "honor", "programm": "program"}
# German inflection, which the index does not stem; on both sides, so that only what is common to two forms counts.
_GERMAN_ENDING = re.compile(r"(?:en|es|er|em|e|n|s)$")
_MIN_ROOT_CHARS = 5
_ANY = "*"
# Inflection and stemming leave so many letters alone.
_BEGINNING_CHARS = 3
ANY_BEGINNING = ""
# Umlauts, however they are spelled, as their vowels; both sides are treated alike, so that "neue" as "nu" does no harm.
_DIGRAPH = re.compile(r"([aou])e")


class Form(StrEnum):
    """How a word of a phrase stands for words of a query."""

    WHOLE = "whole"
    BEGINNING = "beginning"
    END = "end"


@dataclass(frozen=True)
class Word:
    """A word of a query: as typed, what it is matched by, whether it counts.

    ``keys`` are its index terms and their like, ``spelling`` is the whole word folded, not stemmed.
    """

    typed: str
    keys: frozenset[str]
    spelling: str
    is_function_word: bool

    @property
    def beginning(self) -> str:
        """See :func:`first_word_beginning`."""
        return self.spelling[:_BEGINNING_CHARS]


@dataclass(frozen=True)
class PhraseWord:
    """A word of a phrase; ``after_gap``: other words may stand before it."""

    keys: frozenset[str]
    spelling: str
    form: Form
    after_gap: bool

    def matches(self, word: Word) -> bool:
        """Whether ``word`` is a form of this one."""
        if self.form == Form.BEGINNING:
            return word.spelling.startswith(self.spelling)
        if self.form == Form.END:
            return word.spelling.endswith(self.spelling)
        return not self.keys.isdisjoint(word.keys)


@dataclass(frozen=True)
class Phrase:
    """Words in order, as :mod:`~knowledge_index.retrieval.clauses.library` writes them."""

    words: tuple[PhraseWord, ...]

    @classmethod
    @lru_cache(maxsize=8192)
    def of(cls, text: str) -> "Phrase":
        """Read a phrase."""
        words = []
        after_gap = False
        for part in _PHRASE_PART.findall(normalised(text)):
            if part == GAP:
                after_gap = True
                continue
            form = Form.BEGINNING if part.endswith(_ANY) else Form.END if part.startswith(_ANY) else Form.WHOLE
            word = part.strip(_ANY)
            words.append(PhraseWord(word_keys(word), _folded(word), form, after_gap))
            after_gap = False
        return cls(tuple(words))

    def find(self, words: Sequence[Word], start: int) -> tuple[int, ...] | None:
        """The places of the phrase's words in ``words`` if its first word stands at ``start``, else None."""
        if not self.words[0].matches(words[start]):
            return None
        places = [start]
        for wanted in self.words[1:]:
            place = _next_place(words, places[-1] + 1, wanted)
            if place is None:
                return None
            places.append(place)
        return tuple(places)


def first_word_beginning(text: str) -> str:
    """The letters that every form of a phrase's first word begins with; ANY_BEGINNING where it is known by its end."""
    first = next(part for part in _PHRASE_PART.findall(normalised(text)) if part != GAP)
    return ANY_BEGINNING if first.startswith(_ANY) else _folded(first.rstrip(_ANY))[:_BEGINNING_CHARS]


def is_plain(text: str) -> bool:
    """Whether a phrase is made of whole words only."""
    return _ANY not in text


def words_of(text: str) -> list[Word]:
    """The words of a query in order."""
    text = normalised(text)
    counting = {alternatives[0] for alternatives in query_terms(text).alternatives}
    return [
        Word(
            match[0],
            word_keys(match[0]),
            _folded(match[0]),
            is_function_word=_alternatives(match[0].lower())[0] not in counting,
        )
        for match in _WORD.finditer(text)
        if _alternatives(match[0].lower())
    ]


@lru_cache(maxsize=8192)
def word_keys(word: str) -> frozenset[str]:
    """The index terms of a word and of its other spellings, British made American, and German roots."""
    keys = set()
    for term in _alternatives(word.lower()):
        keys.add(_BRITISH.get(term, term))
        root = _GERMAN_ENDING.sub("", term)
        # A licensee is no licence.
        if len(root) >= _MIN_ROOT_CHARS and not word.lower().endswith("ee"):
            keys.add(root)
    return frozenset(keys)


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return _DIGRAPH.sub(r"\1", "".join(each for each in decomposed if not unicodedata.combining(each)))


@lru_cache(maxsize=8192)
def _alternatives(word: str) -> tuple[str, ...]:
    # A word alone is never dropped as a function word. A run of letters that is no word to the index has none.
    return tuple(term for alternatives in query_terms(word).alternatives for term in alternatives)


def _next_place(words: Sequence[Word], first: int, wanted: PhraseWord) -> int | None:
    reach = _MAX_GAP_WORDS if wanted.after_gap else _MAX_SKIPPED_WORDS
    for place in range(first, min(first + reach + 1, len(words))):
        if wanted.matches(words[place]):
            return place
        if not wanted.after_gap and not words[place].is_function_word:
            return None
    return None
