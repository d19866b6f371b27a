"""One key for the forms and spellings of a German word."""

from functools import lru_cache
from typing import TYPE_CHECKING

from knowledge_index.domain.languages import folded_german

if TYPE_CHECKING:
    import tantivy

_REMEMBERED_WORDS = 100_000


@lru_cache(maxsize=_REMEMBERED_WORDS)
def key_of(word: str) -> str:
    """The stem of the folded word, by the Snowball stemmer for German."""
    return stem(folded_german(word))


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
