"""The language that a text is written in, told by its function words, and how German spells one word in two ways."""

import re
import unicodedata
from enum import StrEnum

# Raised whenever the same text may be given another language: what depends on it is then made anew.
LANGUAGE_RULES_VERSION = 1


class Language(StrEnum):
    """A language whose words the product knows, or none of them: too few words, figures, another language."""

    ENGLISH = "en"
    GERMAN = "de"
    UNKNOWN = "unknown"


# Words that the other language lacks or hardly uses; so neither "die", "in", "an", "was" nor "war".
_ENGLISH_WORDS = (
    "the of and to for by or be is are that this with as it shall on from any which not have has its under between"
    " such other their upon been were where there into if at our you your we they would may can"
)
_GERMAN_WORDS = (
    "der das den dem des und oder zu zur zum von vom mit für auf bei ist sind wird werden nicht ein eine einer eines"
    " einem einen sich nach durch über aus als auch im ins dass daß sowie wenn nur kann haben hat er sie es wir ich"
    " sein seine ihre ihrer diese dieser dieses sofern soweit gemäß gegen unter zwischen bis fuer ueber gemaess"
)
_FUNCTION_WORDS = {
    Language.ENGLISH: frozenset(_ENGLISH_WORDS.split()),
    Language.GERMAN: frozenset(_GERMAN_WORDS.split()),
}
_WORD = re.compile(r"[^\W\d_]+")
_UMLAUT = re.compile("[äöüß]|[aou]\u0308", re.IGNORECASE)
_FOLDS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
# Not after a vowel or q: "neue", "Steuer" and "Quelle" spell no umlaut.
_DIGRAPH = re.compile("(?<![aeiouq])([aou])e")
# A paper keeps to its language; what follows this much of it changes nothing.
_LOOKED_AT_CHARS = 50_000
_LEAST_WORDS = 2
_LEAST_SHARE = 0.05


def language_of(text: str) -> Language:
    """The language of most function words among the first 50,000 characters.

    At least two function words and 5 % of all words have to speak for it. Where no word is English, a word with an
    umlaut speaks for German too, so that a table of German headings is told from figures.
    """
    words = [match[0].lower() for match in _WORD.finditer(text[:_LOOKED_AT_CHARS])]
    english, german = (sum(word in known for word in words) for known in _FUNCTION_WORDS.values())
    if not english:
        german += len(_UMLAUT.findall(text[:_LOOKED_AT_CHARS]))
    most = max(english, german)
    if english == german or most < max(_LEAST_WORDS, _LEAST_SHARE * len(words)):
        return Language.UNKNOWN
    return Language.GERMAN if german > english else Language.ENGLISH


def folded_german(word: str) -> str:
    """In lower case without umlauts, however they were spelled: ``Verträge``, ``Vertraege`` are ``vertrage``.

    A few words lose an ``e`` that spells no umlaut (``aktuell``); they do so everywhere, which is all that counts.
    """
    return _DIGRAPH.sub(r"\1", unicodedata.normalize("NFC", word).lower().translate(_FOLDS))
