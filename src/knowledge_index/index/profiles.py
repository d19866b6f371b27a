"""Which documents a query names: names, openings and words of documents, as terms of a compartmented index."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.languages import Language
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index.analysis import german_terms, indexing_analyzer, normalised, query_terms
from knowledge_index.index.base import (
    NO_GERMAN,
    OPENING_CHARS,
    GermanWeights,
    LexicalRow,
    ProfileMatches,
    ProfileRow,
    RowDifferences,
)
from knowledge_index.index.bm25 import GERMAN_KEY, GERMAN_PART
from knowledge_index.index.compartments import CompartmentedLexicalIndex

_NAMES = "names:"
_OPENING = "opening:"
_TEXT = "text:"
# A word of the opening names a paper less surely than one of its title: an opening tells of other papers too.
_FIELDS = ((_NAMES, 1.0), (_OPENING, 0.6), (_TEXT, 0.0))
# "CopAcc_NDA-ToPMentors" is written together in a file's name only.
_CASE_CHANGE = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_|%20")


class CompartmentedProfileIndex:
    """Keeps :class:`~knowledge_index.index.base.ProfileIndex` in ``folder``; errors as of the lexical index."""

    def __init__(self, folder: Path) -> None:
        self._index = CompartmentedLexicalIndex(folder)

    def add(self, rows: Sequence[ProfileRow]) -> int:
        """See :meth:`ProfileIndex.add`."""
        return self._index.add([_as_terms(row) for row in rows])

    def remove(self, row_keys: Collection[str]) -> None:
        """See :meth:`ProfileIndex.remove`."""
        self._index.remove(row_keys)

    def rebuild(self, rows: Iterable[ProfileRow]) -> None:
        """See :meth:`ProfileIndex.rebuild`."""
        self._index.rebuild(map(_as_terms, rows))

    def compare(self, rows: Iterable[ProfileRow]) -> RowDifferences:
        """See :meth:`ProfileIndex.compare`."""
        return self._index.compare(map(_as_terms, rows))

    def row_keys(self) -> set[str]:
        """See :meth:`ProfileIndex.row_keys`."""
        return self._index.row_keys()

    def search(
        self, query: str, scope: Scope, filters: SearchFilters, pool: int, german: GermanWeights = NO_GERMAN
    ) -> ProfileMatches:
        """See :meth:`ProfileIndex.search`."""
        return self._index.search_profiles(query_terms(query), _FIELDS, scope, filters, pool, german)


def name_terms(names: str) -> frozenset[str]:
    """The terms of a document's names, of words that are written together both as they stand and apart."""
    return terms_of(names) | terms_of(_CASE_CHANGE.sub(" ", names))


def terms_of(text: str) -> frozenset[str]:
    """The distinct terms of a text."""
    return frozenset(indexing_analyzer().analyze(normalised(text)))


def _as_terms(row: ProfileRow) -> LexicalRow:
    names = name_terms(row.names)
    terms = [
        *(f"{_NAMES}{term}" for term in names),
        *(f"{_OPENING}{term}" for term in terms_of(row.text[:OPENING_CHARS])),
        *(f"{_TEXT}{term}" for term in names | terms_of(row.text)),
    ]
    if row.language is Language.GERMAN:
        spread_names = f"{row.names} {_CASE_CHANGE.sub(' ', row.names)}"
        for field, text in (
            (_NAMES, spread_names),
            (_OPENING, row.text[:OPENING_CHARS]),
            (_TEXT, f"{spread_names} {row.text}"),
        ):
            german = german_terms(text)
            terms += {f"{field}{GERMAN_KEY}{key}" for key in german.keys}
            terms += {f"{field}{GERMAN_PART}{key}" for key in german.parts}
    return LexicalRow(row.row_key, row.acl_class_id, row.matter_ref, "", tuple(sorted(terms)))
