"""Which clause types does a query ask for? Precision first: a query that asks for none is left alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from knowledge_index.domain.languages import Language
from knowledge_index.retrieval.clauses.library import ClauseLibrary, ClauseType, alias_phrases
from knowledge_index.retrieval.clauses.phrases import ANY_BEGINNING, Phrase, Word, first_word_beginning, words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A longer text that is no question is a pasted passage or a task, which names clauses in passing.
_MAX_REQUEST_WORDS = 12
# A query that names more types is a list: the mean of them all is like nothing.
_MAX_TYPES = 3

_QUESTION_WORDS = _words(
    "who whom whose what which when where why how is are does do did can could may must should has have was were will"
    " wer wem wen wessen was welche welcher welches welchen welchem wann wo woher wohin warum wie ist sind hat haben"
    " kann darf dürfen muss müssen gibt besteht bestehen gilt gelten wird werden"
)
_CLAUSE_WORDS = _words(
    "clause clauses provision provisions section sections article paragraph klausel klauseln regelung regelungen"
    " bestimmung bestimmungen paragraf absatz ziffer abschnitt"
)
# What stands beside a clause's name in a request without saying more.
_FILLER_WORDS = _CLAUSE_WORDS | _words(
    "contract contracts agreement agreements document party parties contain contains containing find show list give"
    " please about all any there die vertrag vertrags vertrages verträge vereinbarung vertragsklausel vertragsklauseln"
    " enthält enthalten finde zeige suche bitte alle zur zum"
)


# "non-disclosure agreement" is the name of a paper, which the query mentions.
_PAPER_WORDS = _words("agreement agreements contract contracts letter deed vertrag vereinbarung")
# Examples of what is asked for, within brackets or to the end of the sentence.
_EXAMPLE = r"(?:such as|including|incl\.|e\.\s?g\.|for example|insbesondere|einschließlich|beispielsweise|z\.\s?B\.)"
_EXAMPLES = re.compile(rf"\(\s*{_EXAMPLE}[^)]*\)|\b(?:{_EXAMPLE}|this (?:also )?includes)\s[^?!.]*", re.IGNORECASE)
_QUESTION_MARK = re.compile(r"\w[\"'”’»)\]]*\?(?=\s|$)")


class Strength(StrEnum):
    """How a clause type was recognised; best first."""

    NAME = "name"
    QUESTION = "question"
    WEAK = "weak"


@dataclass(frozen=True)
class RecognisedClause:
    """A clause type that a query asks for, and the words of the query that say so, as they were typed."""

    type: ClauseType
    matched_words: tuple[str, ...]
    language: Language
    strength: Strength


@dataclass(frozen=True)
class _Pattern:
    clause: ClauseType
    text: str
    language: Language
    strength: Strength

    @property
    def phrase(self) -> Phrase:
        return Phrase.of(self.text)


@dataclass(frozen=True)
class _Match:
    pattern: _Pattern
    places: tuple[int, ...]
    words: tuple[Word, ...]


def recognise(library: ClauseLibrary, query: str) -> tuple[RecognisedClause, ...]:
    """The clause types that ``query`` asks for, in the order of their words; longest names win over what they contain.

    Names are read anywhere, ways of asking in questions only, and weak names where the query has a word like "clause"
    beside them, asks for nothing else, or is a short question that names no type otherwise. Examples that follow what
    was asked for ("such as …", "including …") count for nothing.
    """
    words = words_of(query)
    is_question = bool(words) and (bool(_QUESTION_MARK.search(query)) or words[0].typed.lower() in _QUESTION_WORDS)
    if not is_question and _counting_words(words) > _MAX_REQUEST_WORDS:
        return ()
    without_examples = _EXAMPLES.sub(" ", query)
    has_examples = without_examples != query
    chosen = _chosen(library, words_of(without_examples) if has_examples else words, is_question)
    if not chosen and has_examples:
        chosen = _chosen(library, words, is_question)
    if len(chosen) > _MAX_TYPES:
        return ()
    return tuple(
        RecognisedClause(
            each.pattern.clause,
            tuple(word.typed for word in each.words),
            each.pattern.language,
            each.pattern.strength,
        )
        for each in sorted(chosen, key=lambda each: each.places)
    )


def _counting_words(words: Sequence[Word]) -> int:
    return sum(not word.is_function_word for word in words)


def _chosen(library: ClauseLibrary, words: Sequence[Word], is_question: bool) -> list[_Match]:
    matches = [
        each
        for each in _matches(library, words)
        if (is_question or each.pattern.strength != Strength.QUESTION) and not _names_a_paper(words, each)
    ]
    return _asked_for(words, _longest(matches), is_question)


@lru_cache(maxsize=4)
def _patterns_by_beginning(library: ClauseLibrary) -> dict[str, list[_Pattern]]:
    """Patterns by how their first word begins, so that a search reads no more phrases than its words call for."""
    patterns: dict[str, list[_Pattern]] = {}
    for pattern in _all_patterns(library):
        patterns.setdefault(first_word_beginning(pattern.text), []).append(pattern)
    return patterns


def _all_patterns(library: ClauseLibrary) -> Iterator[_Pattern]:
    for clause in library.types:
        for field, alias in alias_phrases(clause):
            language = Language.GERMAN if field.endswith("_de") else Language.ENGLISH
            yield _Pattern(clause, alias, language, Strength.NAME)
        for language, forms in ((Language.ENGLISH, clause.english), (Language.GERMAN, clause.german)):
            for text in forms.asked_as:
                yield _Pattern(clause, text, language, Strength.QUESTION)
            for text in forms.weak_aliases:
                yield _Pattern(clause, text, language, Strength.WEAK)


def _matches(library: ClauseLibrary, words: Sequence[Word]) -> Iterator[_Match]:
    patterns = _patterns_by_beginning(library)
    for start, word in enumerate(words):
        for pattern in (*patterns.get(word.beginning, ()), *patterns.get(ANY_BEGINNING, ())):
            places = pattern.phrase.find(words, start)
            if places is not None:
                yield _Match(pattern, places, tuple(words[place] for place in places))


def _longest(matches: Sequence[_Match]) -> list[_Match]:
    """One match a type, none that shares a word with a longer one."""
    strengths = list(Strength)
    ordered = sorted(
        matches,
        key=lambda each: (
            -_counting_words(each.words),
            -len(each.places),
            strengths.index(each.pattern.strength),
            # Of two that are as long, the one whose words stand closer together.
            each.places[-1] - each.places[0],
            each.places,
            each.pattern.clause.id,
        ),
    )
    chosen: list[_Match] = []
    taken: set[int] = set()
    for match in ordered:
        if taken.isdisjoint(match.places):
            if all(match.pattern.clause.id != each.pattern.clause.id for each in chosen):
                chosen.append(match)
            taken.update(match.places)
    return chosen


def _asked_for(words: Sequence[Word], chosen: Sequence[_Match], is_question: bool) -> list[_Match]:
    """Those that are asked for: weak names have to show it."""
    clear = [each for each in chosen if each.pattern.strength != Strength.WEAK]
    covered = {place for each in chosen for place in each.places}
    nothing_else = all(_says_nothing_more(word) for place, word in enumerate(words) if place not in covered)
    is_short_question = is_question and _counting_words(words) <= _MAX_REQUEST_WORDS and not clear
    return [
        each
        for each in chosen
        if each.pattern.strength != Strength.WEAK
        or nothing_else
        or _beside_a_clause_word(words, each)
        or (is_short_question and not _in_a_name(words, each))
    ]


def _names_a_paper(words: Sequence[Word], match: _Match) -> bool:
    following = words[match.places[-1] + 1 : match.places[-1] + 2]
    return any(word.typed.lower() in _PAPER_WORDS for word in following)


def _beside_a_clause_word(words: Sequence[Word], match: _Match) -> bool:
    """Whether "clause" or the like stands next to the name, words that say nothing aside."""
    for step, place in ((-1, match.places[0] - 1), (1, match.places[-1] + 1)):
        while 0 <= place < len(words) and _says_nothing_more(words[place]):
            if words[place].typed.lower() in _CLAUSE_WORDS:
                return True
            place += step
    return False


def _says_nothing_more(word: Word) -> bool:
    typed = word.typed.lower()
    return word.is_function_word or typed in _FILLER_WORDS or typed in _QUESTION_WORDS


def _in_a_name(words: Sequence[Word], match: _Match) -> bool:
    """Whether the words look like a part of a proper name: an English word with a capital, beside another one."""
    if match.pattern.language != Language.ENGLISH:
        return False
    first, last = match.places[0], match.places[-1]
    if not words[first].typed[0].isupper():
        return False
    neighbours = [*words[max(1, first - 1) : first], *words[last + 1 : last + 2]]
    return any(word.typed[0].isupper() for word in neighbours)
