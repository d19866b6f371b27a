"""What a question asks for, and how far a text speaks of it."""

import re
from dataclasses import dataclass
from functools import lru_cache

from knowledge_index.answers.names import is_german
from knowledge_index.answers.rewriting import Rewriting, rewrite
from knowledge_index.answers.wording import normalise, words
from knowledge_index.index.analysis import query_terms

_WORD = re.compile(r"[^\W_]+(?:[-'./&][^\W_]+)*")
_SHORTEST_STEM = 5
# Words that ask, and words that every contract has: they say nothing of what is asked.
_EMPTY_WORDS = (
    "a an the and or of in on at to for from by with under as is are was were be been does do did has have had"
    " can could may must shall should will would what when where which who whom whose why how much many there any"
    " it its this that these those if into about between per say says said state stated states provide provides"
    " give gives given tell me our my your their his her he she they we you i get gets take takes make made than"
    " then also not no agreement contract agreements contracts document documents paper clause according long high"
    " big large old often far wer was wann wo wie warum wieso welche welcher welches welchen welchem wem wen"
    " wessen ist sind war wird werden hat haben kann können muss müssen soll sollen darf dürfen gibt es der die"
    " das dem den des ein eine einen einem einer eines und oder von vom zu zum zur im in an am auf aus bei beim"
    " mit nach für über um unter vor durch gegen ohne bis sich nicht laut gemäß viel viele hoch lange oft sein"
    " ihre ihr seine er sie man wurde wurden vertrag vertrages vertrags dokument sieht steht vorgesehen vereinbart"
    " gelten gilt beträgt betragen"
    " being automatically automatisch total exactly exact currently still amount sum figure value betrag summe höhe"
    " fällt fallen anfällt worth name named called heißt did"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_ASKS_FIGURE = re.compile(
    r"\b(?:how (?:much|many|long|high|often|large|big)|when|by when|until when|what (?:is|are|was) the (?:\w+ ){0,3}"
    r"(?:rent|price|amount|fee|cap|rate|period|deposit|salary|date|bonus|limit|term|number|sum)|"
    r"wie (?:hoch|viel|viele|lange|oft|groß)|wann|bis wann|ab wann|seit wann)\b",
    re.IGNORECASE,
)

_ASKS_PARTY = re.compile(r"\b(?:who|whom|parties|wer|wen|wem|parteien)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """A question taken apart: the words that count, what stands for each, and which of them are names.

    ``names`` are the places (in ``rewriting.words``) of words that only a text about the same thing has: in English a
    capitalised word that does not open the question, in both languages a word with a digit. ``nouns`` are the other
    capitalised words, as German has them.
    """

    text: str
    rewriting: Rewriting
    names: frozenset[int]
    nouns: frozenset[int]
    asks_figure: bool
    asks_party: bool

    @property
    def possible_names(self) -> frozenset[int]:
        """The places of names, and of nouns that no rewriting knows: "Brüggensüß" may be one, "Kaufpreis" is none."""
        known = {place for place, terms in enumerate(self.rewriting.alternatives) if terms}
        return self.names | (self.nouns - known)

    def covered(self, text: str) -> frozenset[int]:
        """The places of the words that a text has, in any of the spellings and aliases that stand for them."""
        terms = text_terms(text)
        by_alias = (not terms.isdisjoint(each) for each in self.rewriting.alternatives)
        return self.covered_literally(text) | {place for place, is_met in enumerate(by_alias) if is_met}

    def covered_literally(self, text: str) -> frozenset[int]:
        """The places of the words that a text has in their own spelling or inflection, without aliases."""
        terms = text_terms(text)
        return frozenset(
            place for place, own in enumerate(self.rewriting.own) if any(_is_met(term, terms) for term in own)
        )

    def rewritten(self, mention: frozenset[int]) -> str:
        """What is asked, without the words that name a paper and with the words that the rewriting adds."""
        asked = [word for place, word in enumerate(self.rewriting.words) if place not in mention]
        return " ".join([*(asked or self.rewriting.words), *self.rewriting.aliases]) or self.text

    def weight(self, place: int) -> float:
        """How much a word counts: names double."""
        return 2.0 if place in self.names else 1.3 if place in self.nouns else 1.0

    def share(self, places: frozenset[int]) -> float:
        """The weight of these words in that of all, 0 to 1; 1 where no word counts."""
        total = sum(map(self.weight, range(len(self.rewriting.words))))
        return sum(map(self.weight, places)) / total if total else 1.0


def read_question(text: str) -> Question:
    """Take a question apart; no character of it has a meaning of its own."""
    plain = normalise(text)
    german = is_german(words(plain))
    counting: list[str] = []
    names: set[int] = set()
    nouns: set[int] = set()
    for number, match in enumerate(_WORD.finditer(plain)):
        word = match[0].removesuffix("'s")
        if word.casefold() in _EMPTY or not query_terms(word).wording or word in counting:
            continue
        place = len(counting)
        counting.append(word)
        if any(each.isdigit() for each in word) or (word[0].isupper() and number and not german):
            names.add(place)
        elif word[0].isupper() and number:
            nouns.add(place)
    return Question(
        text=text,
        rewriting=rewrite(plain, tuple(counting)),
        names=frozenset(names),
        nouns=frozenset(nouns),
        asks_figure=bool(_ASKS_FIGURE.search(plain)),
        asks_party=bool(_ASKS_PARTY.search(plain)),
    )


@lru_cache(maxsize=4096)
def text_terms(text: str) -> frozenset[str]:
    """The index terms of a text."""
    return frozenset(query_terms(text).wording)


def _is_met(term: str, terms: frozenset[str]) -> bool:
    """Whether a term of the asker's own words stands in a text's terms, or inside a longer or inflected one.

    Inflection and compounds of German are not reduced by the index: "Kaufpreis" is met by "Kaufpreises", "Miete" by
    "Monatsmiete".
    """
    if term in terms:
        return True
    if len(term) < _SHORTEST_STEM:
        return False
    return any(
        each.startswith(term) or (len(each) >= _SHORTEST_STEM and term.startswith(each) and len(term) - len(each) <= 3)
        or each.endswith(term)
        for each in terms
    )  # fmt: skip
