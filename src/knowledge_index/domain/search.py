"""What a search is asked with and what it returns."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from knowledge_index.domain.document_dates import DateEvidence
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.languages import Language
from knowledge_index.domain.versions import VersionStatus


class Leg(StrEnum):
    """The ranked lists that fusion works on."""

    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    IDENTIFIER = "identifier"
    DOCUMENT = "document"


@dataclass(frozen=True)
class SearchFilters:
    """Narrowings of a search, applied inside every leg before it ranks; empty or None means no narrowing.

    Several values of one property are alternatives, several properties have to hold together. ``date_from`` and
    ``date_to`` are days of documents, both included. ``path_prefix`` is how a path begins, character by character.
    ``as_of`` leaves of each paper the latest version that was known on that day, of those with one of
    ``version_statuses`` where these are given. Each is told of the documents that the caller may see.

    ``only_row_keys`` narrows to these passages and profiles, where it is not None. ``excluded_row_keys`` are index rows
    that the catalog does not stand behind at the moment: they are neither ranked nor counted. :class:`RetrievalService`
    sets these two, its callers do not.

    Raises:
        UsageError: ``date_from`` is after ``date_to``, or ``path_prefix`` cannot be written in UTF-8.
    """

    matter_refs: frozenset[str] = frozenset()
    only_row_keys: frozenset[str] | None = None
    excluded_row_keys: frozenset[str] = frozenset()
    document_types: frozenset[DocumentType] = frozenset()
    version_statuses: frozenset[VersionStatus] = frozenset()
    languages: frozenset[Language] = frozenset()
    date_from: date | None = None
    date_to: date | None = None
    path_prefix: str = ""
    as_of: date | None = None

    def __post_init__(self) -> None:
        if self.date_from is not None and self.date_to is not None and self.date_from > self.date_to:
            raise UsageError(f"no day lies from {self.date_from} to {self.date_to}; exchange the two dates")
        if any("\ud800" <= each <= "\udfff" for each in self.path_prefix):
            raise UsageError("the beginning of a path holds bytes that are no text; copy it from a hit")

    @property
    def select_documents(self) -> bool:
        """Whether they narrow to some documents by a property that an index row does not have."""
        asked = (self.document_types, self.version_statuses, self.languages, self.path_prefix)
        return any(asked) or any(each is not None for each in (self.date_from, self.date_to, self.as_of))


@dataclass(frozen=True)
class LegRank:
    """Where one leg had the hit's passage (its document, for ``document``): ``rank`` starts at 1, ``score`` is the
    engine's own."""

    leg: Leg
    rank: int
    score: float


@dataclass(frozen=True)
class OtherVersion:
    """Another version of a hit's paper."""

    path: str
    version_status: VersionStatus


@dataclass(frozen=True)
class SearchHit:
    """One cited passage.

    ``hit_id`` is what ``ki show`` takes. ``passage == text[start_char:end_char]`` of the converted text whose SHA-256
    is ``text_sha256``. ``document_key`` names the logical paper; ``path`` is relative to the source's root, in NFC.
    ``page`` is the page or slide on which the span starts, from 1 in the order of the file, or None where the format
    has none. ``degraded`` says what of the file was repaired, guessed or could not be read. ``date_evidence`` says what
    ``document_date`` was read from.
    ``other_versions`` counts the paper's other versions that the caller may see; ``most_binding`` is the most binding
    of them where the passage is shown in a less binding one.
    """

    hit_id: str
    source: str
    path: str
    document_key: str
    title: str
    heading: str
    version_status: VersionStatus
    matter_ref: str
    matter_title: str
    passage: str
    start_char: int
    end_char: int
    text_sha256: str
    converter: str
    score: float
    legs: tuple[LegRank, ...]
    page: int | None = None
    degraded: tuple[str, ...] = ()
    document_type: DocumentType = DocumentType.UNKNOWN
    language: Language = Language.UNKNOWN
    document_date: date | None = None
    date_evidence: DateEvidence | None = None
    other_versions: int = 0
    most_binding: OtherVersion | None = None


@dataclass(frozen=True)
class QueryExplanation:
    """What was recognised in a query, and what each leg found.

    ``values`` are ``kind: wording`` of references, dates, amounts and quotations. ``mention`` are the words that name a
    paper, ``mentioned`` that paper's title, ``question`` what is asked within it; all three are empty where none is
    named. ``clause_types`` are the kinds of clause that are asked for, with the words that say so. ``leg_sizes`` are
    the passages (for ``document`` the papers) that each leg handed on; ``holds_wording`` counts those that hold the
    query verbatim.
    """

    values: tuple[str, ...]
    mention: tuple[str, ...]
    mentioned: tuple[str, ...]
    clause_types: tuple[str, ...]
    question: str
    leg_sizes: tuple[tuple[Leg, int], ...]
    holds_wording: int


@dataclass(frozen=True)
class SearchResult:
    """The hits, best first, and what a reader has to know about how they came about."""

    hits: tuple[SearchHit, ...]
    notes: tuple[str, ...]
    explanation: QueryExplanation
