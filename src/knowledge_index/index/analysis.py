"""How text becomes terms, at indexing and at query time.

Indexed terms: NFC, split at whatever is neither letter nor digit, lower case, folded to ASCII (``ä`` to ``a``, ``ß`` to
``ss``), English stems. Stop words stay in the index and are dropped from queries instead, so that a query of stop words
alone still finds something and phrases keep their wording. Numbers stay: ``12/24`` is the terms ``12`` and ``24``.

German: folding makes ``Müller`` and ``Muller`` one term. The spelling ``Mueller`` is met at query time: a query word
with an umlaut also asks for its digraph, one with a digraph also for its folded vowel.

These terms are made alike of every text, so that phrases and pasted values meet whatever they stand in. Documents in
German have terms of their own beside them: the key of each word (:mod:`~knowledge_index.index.german.keys`), which all
its forms share, and the keys of the parts of its compounds. They are looked for below the words themselves, and neither
count as words of the row nor stand in its order, so that a document in another language scores as if there were none.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from knowledge_index.index.german import key_of, parts_of

if TYPE_CHECKING:
    import tantivy

ANALYZER_NAME = "knowledge_index"

# Longer runs of letters and digits (base64, hashes of signatures) are no words; Tantivy refuses terms of 64 KB.
_MAX_TERM_BYTES = 255

# Function words and the words that open a question. "will", "no", "not", "may" and "die" carry meaning in contracts,
# in one language or the other, and are kept: a frequent word weighs next to nothing anyway.
_ENGLISH_STOP_WORDS = (
    "a an and are as at be been being but by can could did do does for from had has have he her his how i if in into is"
    " it its me my of on or our she should such that the their them then there these they this those to us was we were"
    " what when where which who whom whose why with would you your"
)
_GERMAN_STOP_WORDS = (
    "auf aus bei beim bis das dass dem den der des durch ein eine einem einen einer eines er es für ich ihr im ist mit"
    " nach nicht oder sich sie sind über um und vom von vor welche welcher welches werden wie wir wird zu zum zur"
)
_STOP_WORDS = frozenset(f"{_ENGLISH_STOP_WORDS} {_GERMAN_STOP_WORDS}".split())

_UMLAUT_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
# Not after a vowel or q (neue, Frequenz), not at the end of a word (value, issues), where German spells no umlaut.
_DIGRAPH = re.compile(r"(?<![aeiouq])([aou])e(?!s?$)")
_MIN_DIGRAPH_WORD_CHARS = 5
_MIN_GERMAN_WORD_CHARS = 3
_REMEMBERED_WORDS = 100_000
# One search asks for the terms of one query several times; no more, since whole papers are pasted too.
_REMEMBERED_QUERIES = 64


@dataclass(frozen=True)
class QueryTerms:
    """A query as terms of the index.

    ``alternatives`` holds, for each distinct word that counts, the terms that stand for it, the word's own first.
    ``wording`` holds every term in order, stop words and repetitions included. ``german_keys`` has, for each of the
    ``alternatives``, the keys of the words behind it; ``german_parts`` are the keys of the parts of compounds.
    """

    alternatives: tuple[tuple[str, ...], ...]
    wording: tuple[str, ...]
    german_keys: tuple[tuple[str, ...], ...]
    german_parts: tuple[str, ...]


@dataclass(frozen=True)
class GermanTerms:
    """The German terms of a text, repetitions included: the keys of its words, and of the parts of its compounds."""

    keys: tuple[str, ...]
    parts: tuple[str, ...]


_NO_TERMS = GermanTerms((), ())


def storable(text: str) -> str:
    """The text with lone surrogates, which no UTF-8 store can hold, written as ``\\udc80``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def normalised(text: str) -> str:
    """What the analyzer is given, at indexing and at query time: storable, in NFC."""
    return unicodedata.normalize("NFC", storable(text))


@lru_cache(maxsize=1)
def indexing_analyzer() -> "tantivy.TextAnalyzer":
    """The analyzer of the text field, to be registered as :data:`ANALYZER_NAME`."""
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(_MAX_TERM_BYTES))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


@lru_cache(maxsize=1)
def _word_analyzer() -> "tantivy.TextAnalyzer":
    """The first half of the indexing analyzer: words as they were typed, in lower case."""
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(_MAX_TERM_BYTES))
        .filter(tantivy.Filter.lowercase())
        .build()
    )


@lru_cache(maxsize=1)
def _term_analyzer() -> "tantivy.TextAnalyzer":
    """The second half: one word to its term."""
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


@lru_cache(maxsize=_REMEMBERED_QUERIES)
def query_terms(query: str) -> QueryTerms:
    """Analyse a query as the index analyses its text; no character has a meaning of its own."""
    words = _word_analyzer().analyze(normalised(query))
    term_of = {word: _term(word) for word in dict.fromkeys(words)}
    counting = [word for word in term_of if word not in _STOP_WORDS] or list(term_of)
    alternatives: dict[str, list[str]] = {}
    german_keys: dict[str, dict[str, None]] = {}
    german_parts: dict[str, None] = {}
    for word in counting:
        terms = alternatives.setdefault(term_of[word], [term_of[word]])
        terms.extend(term for term in map(_term, _respelled(word)) if term not in terms)
        german = german_terms_of_word(word)
        german_keys.setdefault(term_of[word], {}).update(dict.fromkeys(german.keys))
        german_parts.update(dict.fromkeys(german.parts))
    asked = {key for keys in german_keys.values() for key in keys}
    return QueryTerms(
        alternatives=tuple(tuple(terms) for terms in alternatives.values()),
        wording=tuple(term_of[word] for word in words),
        german_keys=tuple(tuple(keys) for keys in german_keys.values()),
        german_parts=tuple(part for part in german_parts if part not in asked),
    )


def german_terms(text: str) -> GermanTerms:
    """The German terms of a text; function words and what is no word have none."""
    found = [german_terms_of_word(word) for word in _word_analyzer().analyze(normalised(text))]
    return GermanTerms(
        tuple(key for each in found for key in each.keys), tuple(key for each in found for key in each.parts)
    )


@lru_cache(maxsize=_REMEMBERED_WORDS)
def german_terms_of_word(word: str) -> GermanTerms:
    """The German terms of one word in lower case."""
    if len(word) < _MIN_GERMAN_WORD_CHARS or not word.isalpha() or word in _STOP_WORDS:
        return _NO_TERMS
    return GermanTerms((key_of(word),), parts_of(word))


def term_of(word: str) -> str:
    """The index term of one word as it was typed."""
    return _term(normalised(word).lower())


def is_stop_word(word: str) -> bool:
    """Whether a query's word is dropped beside others."""
    return word.lower() in _STOP_WORDS


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _term(word: str) -> str:
    return "".join(_term_analyzer().analyze(word))


def _respelled(word: str) -> list[str]:
    """The other German spellings of a word."""
    spellings = []
    with_digraphs = word.translate(_UMLAUT_DIGRAPHS)
    if with_digraphs != word:
        spellings.append(with_digraphs)
    if len(word) >= _MIN_DIGRAPH_WORD_CHARS:
        folded = _DIGRAPH.sub(r"\1", word)
        if folded != word:
            spellings.append(folded)
    return spellings
