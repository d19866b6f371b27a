"""What the ``ask`` tool needs of whoever answers questions."""

# The members of the two shapes say what they are by name; the classes say the rest.
# ruff: noqa: D102

from collections.abc import Sequence
from typing import Protocol

from knowledge_index.access.recording import AccessRecorder
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters
from knowledge_index.retrieval.browsing import document_id_of
from knowledge_index.serve.results import AskAnswer, AskCitation, encodable


class CitedWords(Protocol):
    """A citation of a checked answer; ``number`` is its mark, ``quoted`` are the words."""

    @property
    def number(self) -> int: ...
    @property
    def hit_id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def heading(self) -> str: ...
    @property
    def version_status(self) -> str: ...
    @property
    def matter_ref(self) -> str: ...
    @property
    def start_char(self) -> int: ...
    @property
    def end_char(self) -> int: ...
    @property
    def text_sha256(self) -> str: ...
    @property
    def converter(self) -> str: ...
    @property
    def quoted(self) -> str: ...
    @property
    def is_opposing(self) -> bool: ...


class CheckedAnswer(Protocol):
    """An answer that stood the check of its citations; ``kind`` is as :class:`AskAnswer` has it."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def citations(self) -> Sequence[CitedWords]: ...
    @property
    def notes(self) -> Sequence[str]: ...


class Answerer(Protocol):
    """Answers a question from the documents that a caller may see, through ``RetrievalService`` alone."""

    def __call__(
        self, recorder: AccessRecorder, principals: frozenset[Principal], question: str, filters: SearchFilters
    ) -> CheckedAnswer:
        """The answer, its citations checked; in the audit log before it is returned.

        Raises:
            AuditLogError: it could not be recorded, so nothing is returned.
        """
        ...


def ask_answer(answer: CheckedAnswer) -> AskAnswer:
    """A checked answer as the tool returns it."""
    return AskAnswer(
        untrusted_answer=encodable(answer.text),
        kind=str(answer.kind),
        citations=tuple(map(_ask_citation, answer.citations)),
        notes=tuple(map(encodable, answer.notes)),
    )


def _ask_citation(cited: CitedWords) -> AskCitation:
    names = ("hit_id", "source", "path", "title", "heading", "version_status", "matter_ref", "text_sha256", "converter")
    return AskCitation(
        mark=cited.number,
        document_id=document_id_of(cited.hit_id.partition(".")[0], cited.text_sha256),
        start_char=cited.start_char,
        end_char=cited.end_char,
        is_opposing=cited.is_opposing,
        untrusted_text=encodable(cited.quoted),
        **{name: encodable(str(getattr(cited, name))) for name in names},
    )
