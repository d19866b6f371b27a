"""What a question is answered with, and what synthesis hands to the validator."""

from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.catalog.status_records import UnreadObject
from knowledge_index.domain.search import SearchHit
from knowledge_index.domain.versions import VersionStatus


class AnswerKind(StrEnum):
    """How the answer was made; ``not_said`` is the reply that the documents do not say."""

    EXTRACTIVE = "extractive"
    MODEL = "model"
    NOT_SAID = "not_said"


@dataclass(frozen=True)
class Evidence:
    """A retrieved hit and the text that the catalog has at its offsets, read again after retrieval.

    ``is_opposing`` marks paper of the other side; see :func:`knowledge_index.answers.untrusted.is_opposing`. ``named``
    are the places of the question's words that name its paper; see :class:`knowledge_index.answers.reading.Reading`.
    """

    hit: SearchHit
    text: str
    is_opposing: bool
    named: frozenset[int] = frozenset()


@dataclass(frozen=True)
class CitedSpan:
    """What a draft cites: characters of the converted text that ``hit_id`` belongs to, and the words said to be there.

    Offsets count from the start of the document's text, as those of a hit do.
    """

    hit_id: str
    start_char: int
    end_char: int
    quoted: str


@dataclass(frozen=True)
class DraftSentence:
    """One sentence of an answer that nobody has checked yet."""

    text: str
    spans: tuple[CitedSpan, ...]


@dataclass(frozen=True)
class Draft:
    """An answer before the validator; no sentences means that nothing retrieved supports one."""

    sentences: tuple[DraftSentence, ...]


@dataclass(frozen=True)
class AnswerSentence:
    """One sentence and the numbers of the citations that carry it."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True)
class Citation:
    """Where cited words stand.

    ``quoted`` are the words of ``text[start_char:end_char]``, made harmless for display: without markup, invisible
    characters and live links. The text is the one of SHA-256 ``text_sha256``; ``hit_id`` is what ``ki show`` takes.
    """

    number: int
    hit_id: str
    source: str
    path: str
    title: str
    version_status: VersionStatus
    matter_ref: str
    heading: str
    start_char: int
    end_char: int
    text_sha256: str
    converter: str
    quoted: str
    is_opposing: bool


@dataclass(frozen=True)
class Searched:
    """What an answer rests on: the queries put, the passages that came back, and what the question was taken to mean.

    ``aliases`` are the words that the rewriting added. ``uncovered`` are words of the question that no passage had.
    ``unread`` lists files that the caller may see and no search can find.
    """

    queries: tuple[str, ...]
    aliases: tuple[str, ...]
    passages: tuple[str, ...]
    uncovered: tuple[str, ...]
    unread: tuple[UnreadObject, ...]


@dataclass(frozen=True)
class Answer:
    """A checked answer: ``text`` has [1] marks, and every mark is the number of a citation."""

    question: str
    kind: AnswerKind
    text: str
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    searched: Searched
    notes: tuple[str, ...]
