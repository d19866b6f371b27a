"""Which language a text is written in, as far as a filter needs to know."""

import re
from enum import StrEnum


class DocumentLanguage(StrEnum):
    """The language of most of a text; ``unknown`` for others, for mixed texts, and where too little tells."""

    ENGLISH = "en"
    GERMAN = "de"
    UNKNOWN = "unknown"


LANGUAGE_RULES_VERSION = "1"

# Words that one of the two languages has and the other has not, nor any neighbour as often: "in", "an" and "die" say
# nothing, and without "des" no French text looks German.
_ENGLISH = (
    "the of and to that is with by this which shall any such from are not have has been will its their they would under"
    " between upon for or be on as at it other hereby"
)
_GERMAN = (
    "der das und oder nicht ist mit von dem den eine einer einem einen eines sich auf für wird werden durch bei nach"
    " zum zur als auch dieser diese dieses sowie wurde sind über ein zu im ihre seine kein keine wir nur"
)
_ENGLISH_WORDS, _GERMAN_WORDS = frozenset(_ENGLISH.split()), frozenset(_GERMAN.split())
_WORD = re.compile(r"[^\W\d_]+")
_READ_CHARS = 20_000
_FEWEST_WORDS = 4
# Running text has a quarter of such words or more, a table of German and English names next to none.
_LEAST_SHARE = 0.12
_CLEAR_MAJORITY = 0.75


def language_of(text: str) -> DocumentLanguage:
    """The language of the first 20,000 characters, told by its function words."""
    words = [each.lower() for each in _WORD.findall(text[:_READ_CHARS])]
    english = sum(each in _ENGLISH_WORDS for each in words)
    german = sum(each in _GERMAN_WORDS for each in words)
    found, language = max((english, DocumentLanguage.ENGLISH), (german, DocumentLanguage.GERMAN))
    is_clear = found >= _CLEAR_MAJORITY * (english + german) and found >= _LEAST_SHARE * len(words)
    return language if found >= _FEWEST_WORDS and is_clear else DocumentLanguage.UNKNOWN
