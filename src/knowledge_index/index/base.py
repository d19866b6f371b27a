"""The contracts of the lexical and the vector index; both are projections of the catalog."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.languages import Language
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed.base import Vector

# How much of a document's beginning its profile knows by itself: title, parties, date.
OPENING_CHARS = 600


@dataclass(frozen=True)
class LexicalRow:
    """One distinct passage of one ACL class.

    ``text`` is the context header, a line break and the chunk's text. ``identifiers`` are ``kind:normalised`` terms.
    ``language`` is the document's: the words of a German one are found in other forms, and by their compounds' parts.
    """

    row_key: str
    acl_class_id: str
    matter_ref: str
    text: str
    identifiers: tuple[str, ...]
    language: Language = Language.UNKNOWN


@dataclass(frozen=True)
class VectorRow:
    """The unit-length vector of one distinct passage of one ACL class."""

    row_key: str
    acl_class_id: str
    matter_ref: str
    vector: Vector


@dataclass(frozen=True)
class ProfileRow:
    """What one distinct document of one ACL class is known by.

    ``names`` are its title, its matter's and its file's; ``text`` is all of it, in ``language``.
    """

    row_key: str
    acl_class_id: str
    matter_ref: str
    names: str
    text: str
    language: Language = Language.UNKNOWN


class ScoredRow(NamedTuple):
    """A row that a search found; higher is better.

    ``holds_wording``: the row has all words of the query one after the other, as they were typed.
    """

    row_key: str
    score: float
    holds_wording: bool = False


@dataclass(frozen=True)
class GermanWeights:
    """What counts beside a word itself in German documents, as shares of what the word counts; 0 is not looked for.

    ``form`` is another form of the word. ``part`` is a compound that has the word as a part, and each part of a
    compound that the query has.
    """

    form: float
    part: float


NO_GERMAN = GermanWeights(0.0, 0.0)


@dataclass(frozen=True)
class Expansion:
    """What else to look for than the words of the query, and what else to count.

    ``alternatives`` are further words, each as the index terms that stand for it; ``weight`` is that of one of them.
    ``german`` are other forms and parts of the query's own. ``contract_rows`` are how many rows of contracts at large
    tell how rare a word is, beside the visible rows.
    """

    alternatives: tuple[tuple[str, ...], ...]
    weight: float
    german: GermanWeights = NO_GERMAN
    contract_rows: int = 0


NO_EXPANSION = Expansion((), 0.0)


@dataclass(frozen=True)
class ProfileMatches:
    """Profiles that a query's words name, best first.

    ``share_of`` gives for each term of the query the share of the ``documents`` visible ones that hold it anywhere.
    """

    rows: tuple[ScoredRow, ...]
    share_of: dict[str, float]
    documents: int


@dataclass(frozen=True)
class RowDifferences:
    """How an index differs from the rows that it should hold, by row key.

    ``altered`` rows are there with another ACL class, matter or content. ``damaged`` says what could not be read, in
    words for an operator; rows in it count as missing.
    """

    missing: frozenset[str]
    extra: frozenset[str]
    altered: frozenset[str]
    damaged: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra or self.altered or self.damaged)


class LexicalIndex(Protocol):
    """Words and identifiers.

    Writes are durable when a call returns and idempotent: a row key names its content, so a key that is present is
    left alone. Every search takes the scope and sees rows of its ACL classes only; an empty scope finds nothing without
    asking the engine. Results are ordered by score, then by row key.

    A result is a function of the rows of the scope's classes less the filters' ``excluded_row_keys``, whatever else the
    index holds or held: term statistics are counted over these rows alone.
    """

    def add(self, rows: Sequence[LexicalRow]) -> int:
        """Add the rows whose keys are absent; returns how many were written."""
        ...

    def remove(self, row_keys: Collection[str]) -> None:
        """Remove the rows, and every trace of them from the statistics; unknown keys are ignored."""
        ...

    def rebuild(self, rows: Iterable[LexicalRow]) -> None:
        """Replace the whole content atomically: a reader or a crash sees the old or the new one."""
        ...

    def compare(self, rows: Iterable[LexicalRow]) -> RowDifferences:
        """How the index differs from these rows; raises for no damage, but reports it."""
        ...

    def row_keys(self) -> set[str]:
        """The keys of all rows."""
        ...

    def search_text(
        self,
        query: str,
        scope: Scope,
        filters: SearchFilters,
        pool: int,
        expansion: Expansion = NO_EXPANSION,
    ) -> list[ScoredRow]:
        """The best rows for the words of ``query``, which may hold any characters and is never parsed as syntax.

        The words of ``expansion`` count too, each for less than one of the query's own.

        At least ``pool`` rows where so many match; the list ends at a strict drop of score, so that no tie is cut.
        """
        ...

    def search_identifiers(
        self, identifiers: Collection[str], scope: Scope, filters: SearchFilters, pool: int
    ) -> list[ScoredRow]:
        """The rows that hold at least one of the ``kind:normalised`` terms, rarest first; pool as in search_text."""
        ...


class ProfileIndex(Protocol):
    """Which documents a query names; the same rules as for :class:`LexicalIndex`."""

    def add(self, rows: Sequence[ProfileRow]) -> int:
        """Add the rows whose keys are absent; returns how many were written."""
        ...

    def remove(self, row_keys: Collection[str]) -> None:
        """Remove the rows, and every trace of them from the statistics; unknown keys are ignored."""
        ...

    def rebuild(self, rows: Iterable[ProfileRow]) -> None:
        """Replace the whole content atomically."""
        ...

    def compare(self, rows: Iterable[ProfileRow]) -> RowDifferences:
        """How the index differs from these rows; raises for no damage, but reports it."""
        ...

    def row_keys(self) -> set[str]:
        """The keys of all rows."""
        ...

    def search(
        self, query: str, scope: Scope, filters: SearchFilters, pool: int, german: GermanWeights = NO_GERMAN
    ) -> ProfileMatches:
        """The documents whose names or opening hold words of ``query`` that few documents hold.

        A word counts by how few of the visible documents hold it anywhere in their text: a party's name weighs much,
        what every contract says next to nothing. A word of the opening counts 0.6 of one of the names. In German
        documents other forms and compounds of a word count as ``german`` says.
        """
        ...


class VectorIndex(Protocol):
    """Vectors; the same rules as for :class:`LexicalIndex`."""

    def add(self, rows: Sequence[VectorRow]) -> int:
        """Add the rows whose keys are absent; returns how many were written."""
        ...

    def remove(self, row_keys: Collection[str]) -> None:
        """Remove the rows; unknown keys are ignored."""
        ...

    def row_keys(self) -> set[str]:
        """The keys of all rows."""
        ...

    def compare(self, rows: Iterable[tuple[str, str, str]]) -> RowDifferences:
        """How the index differs from rows of these keys, ACL classes and matters; a row whose vector has not length 1
        is altered; raises for no damage, but reports it."""
        ...

    def discard(self) -> None:
        """Throw the whole content away, which needs nothing of it to be readable."""
        ...

    def compact(self) -> None:
        """Merge what many small writes left behind, and prepare for searches; changes no result."""
        ...

    def search(self, vector: Vector, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        """The nearest rows by exact cosine similarity, recomputed row by row in float64; pool as in search_text."""
        ...
