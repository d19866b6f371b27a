"""One key for the forms and spellings of a German word."""

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tantivy

_FOLDS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
# Not after a vowel or q: "neue", "Steuer" and "Quelle" spell no umlaut.
_DIGRAPH = re.compile("(?<![aeiouq])([aou])e")
_REMEMBERED_WORDS = 100_000


def folded(word: str) -> str:
    """In lower case without umlauts, however they were spelled: ``Verträge``, ``Vertraege`` are ``vertrage``.

    A few words lose an ``e`` that spells no umlaut (``aktuell``); they do so everywhere, which is all that counts.
    """
    return _DIGRAPH.sub(r"\1", unicodedata.normalize("NFC", word).lower().translate(_FOLDS))


@lru_cache(maxsize=_REMEMBERED_WORDS)
def key_of(word: str) -> str:
    """The stem of the folded word, by the Snowball stemmer for German."""
    return stem(folded(word))


@lru_cache(maxsize=_REMEMBERED_WORDS)
def stem(folded_word: str) -> str:
    """The stem of a word that is folded already."""
    return "".join(_stemmer().analyze(folded_word))


@lru_cache(maxsize=1)
def _stemmer() -> "tantivy.TextAnalyzer":
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("german"))
        .build()
    )
