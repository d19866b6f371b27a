"""Takes German compounds apart, by a list of parts.

Tantivy has a filter for this, which takes the longest listed beginning and never goes back: with ``erbschafts`` in the
list it reads ``Erbschaftsteuer`` as ``erbschafts`` and ``teuer``, and leaves it whole. So the parts are found here, as
the fewest that cover the word.
"""

from functools import lru_cache

from knowledge_index.domain.languages import folded_german
from knowledge_index.index.german.keys import stem
from knowledge_index.index.german.word_list import listed_parts

_REMEMBERED_WORDS = 100_000
_MIN_WORD_CHARS = 6
_MAX_WORD_CHARS = 80
_MIN_PART_CHARS = 3
# What may join a part to the next: Vertrag-s-strafe, Bund-es-gericht, Kunde-n-liste, Frau-en-quote, Kind-er-geld.
_LINKS = ("", "s", "es", "n", "en", "ns", "er", "e")
# What declines the last part; plurals with an umlaut are folded already.
_ENDINGS = ("", "s", "es", "e", "n", "en", "er", "ern", "se", "ses", "sen", "nen")
# Words that stand before a part without being one that anyone looks for: Unter-miet-vertrag, Darlehens-rück-zahlung.
_PREFIXES = (
    "allein ander dauer eigen einzel fern fort gegen gesamt grund haupt hinter mehr mit nach neben ober rest rück"
    " sonder teil unter ur vize vor weiter wieder zurück zusammen zwischen über"
)
# A word of which the list knows the end only still has that end as a part, if it is long enough to be no accident.
_MIN_HEAD_CHARS = 6
_MIN_UNKNOWN_CHARS = 4
_PREFIX_COST = 3
_PART_COST = 4
_LINK_COST = 1


@lru_cache(maxsize=_REMEMBERED_WORDS)
def parts_of(word: str) -> tuple[str, ...]:
    """The keys of a compound's parts, in order; empty where the word is no compound of listed parts.

    The fewest parts that cover the word, of at least three letters each, with the fewest linking letters between them.
    Where no parts cover it, a listed word of six letters or more at its end is its one part.
    """
    whole = folded_german(word)
    if not _MIN_WORD_CHARS <= len(whole) <= _MAX_WORD_CHARS or not whole.isalpha():
        return ()
    # best[end]: the cheapest reading of the first ``end`` letters, its cost and its parts.
    best: dict[int, tuple[int, tuple[str, ...]]] = {0: (0, ())}
    for end in range(_MIN_PART_CHARS - 1, len(whole) - _MIN_PART_CHARS + 1):
        for start in [place for place in best if place < end]:
            cost, parts = best[start]
            between = whole[start:end]
            if between in _folded_prefixes():
                _keep(best, end, cost + _PREFIX_COST, parts)
            found = _joined_part(between)
            if found is not None:
                link_cost, part = found
                _keep(best, end, cost + _PART_COST + link_cost, (*parts, part))
    readings = []
    for start, (cost, parts) in best.items():
        last = _last_part(whole[start:])
        if last is not None:
            readings.append((cost + _PART_COST, (*parts, last)))
    if not readings:
        return _known_head(whole)
    _, parts = min(readings)
    return () if parts == (stem(whole),) else tuple(dict.fromkeys(parts))


def _keep(best: dict[int, tuple[int, tuple[str, ...]]], end: int, cost: int, parts: tuple[str, ...]) -> None:
    if end not in best or (cost, parts) < best[end]:
        best[end] = (cost, parts)


def _joined_part(text: str) -> tuple[int, str] | None:
    """The cost of the linking letters and the key of a part that is followed by another."""
    for link in _LINKS:
        base = text.removesuffix(link) if link else text
        if (not link or base != text) and len(base) >= _MIN_PART_CHARS:
            if base in listed_parts():
                return len(link) * _LINK_COST, stem(base)
            # Miet(e)vertrag, Klag(e)schrift
            if not link and f"{base}e" in listed_parts():
                return _LINK_COST, stem(f"{base}e")
    return None


def _last_part(text: str) -> str | None:
    """The key of the part that ends a word, in any of its forms."""
    if len(text) < _MIN_PART_CHARS:
        return None
    for ending in _ENDINGS:
        base = text.removesuffix(ending)
        if (not ending or base != text) and len(base) >= _MIN_PART_CHARS and base in listed_parts():
            return stem(text)
    return None


def _known_head(whole: str) -> tuple[str, ...]:
    for start in range(_MIN_UNKNOWN_CHARS, len(whole) - _MIN_HEAD_CHARS + 1):
        head = _last_part(whole[start:])
        if head is not None and len(head) >= _MIN_HEAD_CHARS:
            return (head,)
    return ()


@lru_cache(maxsize=1)
def _folded_prefixes() -> frozenset[str]:
    return frozenset(map(folded_german, _PREFIXES.split()))
