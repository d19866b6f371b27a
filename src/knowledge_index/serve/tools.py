"""The tools: what an agent may ask, and what answers it. All of them only read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from knowledge_index.access import caller_notes
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.answers import DEFAULT_PASSAGES, Gateway, answer_question
from knowledge_index.answers.receipts import answer_with_receipt
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.filter_words import parsed_filters
from knowledge_index.domain.identifiers import extract_identifiers
from knowledge_index.domain.languages import Language
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.evidence.issuing import ReceiptIssuer
from knowledge_index.retrieval import RetrievalService, search_as, show_as
from knowledge_index.retrieval.browsing import list_matters_as, list_versions_as, read_document_as
from knowledge_index.retrieval.receipts import search_with_receipt_as
from knowledge_index.serve.results import (
    AskAnswer,
    DocumentAnswer,
    MattersAnswer,
    PassageAnswer,
    SearchAnswer,
    VersionsAnswer,
    ask_answer,
    document_answer,
    encodable,
    found_passage,
    matter,
    passage_answer,
    version,
)

MAX_HITS = 50
MAX_QUERY_CHARS = 2000
MAX_PAGE_CHARS = 20_000
MAX_MATTERS = 200
_MAX_NAME_CHARS = 300
# A call has 30 seconds, of which the searches and the check need some.
_GATEWAY_TIME_S = 20.0

_Limit = Annotated[int, Field(ge=1, le=MAX_HITS, description="how many passages at most")]
_MatterRef = Annotated[str, Field(max_length=_MAX_NAME_CHARS)]
_Matters = Annotated[list[_MatterRef], Field(max_length=50, description="only these matter references; none: all")]
_Receipt = Annotated[bool, Field(description="also return a signed receipt of the result, for checking it elsewhere")]
_Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="a day, as 2026-03-31")]
_Id = Annotated[str, Field(max_length=_MAX_NAME_CHARS)]


@dataclass(frozen=True)
class Caller:
    """Whoever a session belongs to. ``through`` is the door, as the audit log keeps it: the id of a token, or stdio."""

    principals: frozenset[Principal]
    through: tuple[tuple[str, str], ...]


class _Arguments(BaseModel):
    # Whatever is not declared is refused, a principal above all: who asks is the session's affair.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SearchArguments(_Arguments):
    """Arguments of ``search``."""

    query: str = Field(max_length=MAX_QUERY_CHARS, description="words, a question, a quotation or a reference")
    limit: _Limit = 10
    matters: _Matters = []
    receipt: _Receipt = False
    document_types: list[Annotated[DocumentType, Field(strict=False)]] = Field([], max_length=50)
    version_statuses: list[Annotated[VersionStatus, Field(strict=False)]] = Field([], max_length=50)
    languages: list[Annotated[Language, Field(strict=False)]] = Field([], max_length=50)
    date_from: _Day | None = Field(None, description="only documents of this day or later")
    date_to: _Day | None = Field(None, description="only documents of this day or earlier")
    path_prefix: str = Field("", max_length=1000, description="only documents whose path begins so")
    as_of: _Day | None = Field(
        None,
        description="of each paper only the latest version of that day, of those with one of version_statuses if given",
    )

    def filters(self) -> SearchFilters:
        """The filters that they ask for."""
        return parsed_filters(
            matters=self.matters,
            document_types=self.document_types,
            version_statuses=self.version_statuses,
            languages=self.languages,
            date_from=self.date_from,
            date_to=self.date_to,
            path_prefix=self.path_prefix,
            as_of=self.as_of,
        )


class FindIdentifierArguments(_Arguments):
    """Arguments of ``find_identifier``."""

    identifier: str = Field(
        max_length=_MAX_NAME_CHARS, description="such as HRB 12345, 3 O 12/24, an IBAN, an amount, a date or an address"
    )
    limit: _Limit = 10
    matters: _Matters = []
    receipt: _Receipt = False


class GetPassageArguments(_Arguments):
    """Arguments of ``get_passage``."""

    hit_id: _Id


class GetDocumentArguments(_Arguments):
    """Arguments of ``get_document``."""

    document_id: _Id
    start_char: int = Field(0, ge=0, le=10**9, description="where the page begins")
    length_chars: int = Field(MAX_PAGE_CHARS, ge=1, le=MAX_PAGE_CHARS, description="how long it may be")


class ListVersionsArguments(_Arguments):
    """Arguments of ``list_versions``."""

    document_id: _Id


class ListMattersArguments(_Arguments):
    """Arguments of ``list_matters``."""

    after: str = Field("", max_length=_MAX_NAME_CHARS, description="next_after of the page before")
    limit: int = Field(MAX_MATTERS, ge=1, le=MAX_MATTERS)


class AskArguments(_Arguments):
    """Arguments of ``ask``."""

    question: str = Field(max_length=MAX_QUERY_CHARS)
    matters: _Matters = []
    receipt: _Receipt = False


@dataclass(frozen=True)
class Tool:
    """A tool: ``run`` takes the caller and validated ``arguments`` and returns a ``result``."""

    name: str
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    run: Callable[[Caller, Any], BaseModel]


@dataclass(frozen=True)
class Toolbox:
    """The tools over one installation; each call compiles the caller's scope anew and is in the audit log.

    ``settings`` are those of a search. With a ``gateway``, a model words the answers, within the time of a call.
    ``issuer`` signs receipts on request; where it is None, a call that asks for one is refused.
    """

    service: RetrievalService
    recorder: AccessRecorder
    settings: RetrievalSettings
    gateway: Gateway | None = None
    issuer: ReceiptIssuer | None = None

    def tools(self) -> tuple[Tool, ...]:
        """All tools that there are."""
        return (
            Tool(
                "search",
                "Search the documents that you may see, by words, by meaning and by references. Returns passages with "
                "citations, the best first.",
                SearchArguments,
                SearchAnswer,
                self._search,
            ),
            Tool(
                "find_identifier",
                "Find the passages that hold a reference, a number, an amount, a date or an address, however it is "
                "punctuated there.",
                FindIdentifierArguments,
                SearchAnswer,
                self._find_identifier,
            ),
            Tool(
                "get_passage",
                "Show one passage of a search again, with the text before and behind it.",
                GetPassageArguments,
                PassageAnswer,
                self._get_passage,
            ),
            Tool(
                "get_document",
                f"Read a document's text, up to {MAX_PAGE_CHARS} characters at a time; next_start_char says where the "
                "next page begins.",
                GetDocumentArguments,
                DocumentAnswer,
                self._get_document,
            ),
            Tool(
                "list_versions",
                "List the versions of a document's paper that you may see, the earliest first.",
                ListVersionsArguments,
                VersionsAnswer,
                self._list_versions,
            ),
            Tool(
                "list_matters",
                "List the matters in which you may see a document, by reference.",
                ListMattersArguments,
                MattersAnswer,
                self._list_matters,
            ),
            Tool(
                "ask",
                "Answer a question from the documents that you may see. Every citation was checked; where they do not "
                "say, kind is not_said.",
                AskArguments,
                AskAnswer,
                self._ask,
            ),
        )

    def _search(self, caller: Caller, arguments: SearchArguments) -> SearchAnswer:
        return self._found(caller, arguments.query, self.settings, arguments.filters(), arguments)

    def _find_identifier(self, caller: Caller, arguments: FindIdentifierArguments) -> SearchAnswer:
        if not extract_identifiers(arguments.identifier):
            raise UsageError("no reference of a known form was given; use search for words")
        alone = {"weight_lexical": 0.0, "weight_semantic": 0.0, "weight_identifier": 1.0, "rerank_enabled": False}
        settings = RetrievalSettings.model_validate({**self.settings.model_dump(), **alone})
        filters = SearchFilters(frozenset(arguments.matters))
        return self._found(caller, arguments.identifier, settings, filters, arguments)

    def _found(
        self,
        caller: Caller,
        query: str,
        settings: RetrievalSettings,
        filters: SearchFilters,
        arguments: SearchArguments | FindIdentifierArguments,
    ) -> SearchAnswer:
        asked = (caller.principals, query, settings, filters, arguments.limit)
        receipt = None
        if arguments.receipt:
            result, signed = search_with_receipt_as(self.service, self._recorder(caller), self._issuer(), *asked)
            receipt = signed.decode("utf-8")
        else:
            result = search_as(self.service, self._recorder(caller), *asked)
        notes = (*self._caller_notes(caller), *result.notes)
        return SearchAnswer(hits=tuple(map(found_passage, result.hits)), notes=notes, receipt=receipt)

    def _get_passage(self, caller: Caller, arguments: GetPassageArguments) -> PassageAnswer:
        hit_id = arguments.hit_id.strip()
        return passage_answer(show_as(self.service.catalog, self._recorder(caller), caller.principals, hit_id), hit_id)

    def _get_document(self, caller: Caller, arguments: GetDocumentArguments) -> DocumentAnswer:
        page = read_document_as(
            self.service.catalog,
            self._recorder(caller),
            caller.principals,
            arguments.document_id,
            arguments.start_char,
            arguments.length_chars,
        )
        return document_answer(page)

    def _list_versions(self, caller: Caller, arguments: ListVersionsArguments) -> VersionsAnswer:
        versions = list_versions_as(
            self.service.catalog, self._recorder(caller), caller.principals, arguments.document_id
        )
        return VersionsAnswer(versions=tuple(map(version, versions)))

    def _list_matters(self, caller: Caller, arguments: ListMattersArguments) -> MattersAnswer:
        # One more than asked for tells whether there is another page.
        found = list_matters_as(
            self.service.catalog, self._recorder(caller), caller.principals, arguments.after, arguments.limit + 1
        )
        page = found[: arguments.limit]
        next_after = encodable(page[-1].ref) if len(found) > len(page) else None
        return MattersAnswer(matters=tuple(map(matter, page)), next_after=next_after)

    def _ask(self, caller: Caller, arguments: AskArguments) -> AskAnswer:
        filters = SearchFilters(frozenset(arguments.matters))
        gateway = None if self.gateway is None else self.gateway.within(_GATEWAY_TIME_S)
        asked = (caller.principals, arguments.question, self.settings, filters, DEFAULT_PASSAGES, gateway)
        receipt = None
        if arguments.receipt:
            receipted = answer_with_receipt(self.service, self._recorder(caller), self._issuer(), *asked)
            answer, receipt = receipted.answer, receipted.receipt.decode("utf-8")
        else:
            answer = answer_question(self.service, self._recorder(caller), *asked)
        return ask_answer(answer, self._caller_notes(caller), receipt)

    def _issuer(self) -> ReceiptIssuer:
        if self.issuer is None:
            raise UsageError("receipts are not issued here; ask without one")
        return self.issuer

    def _caller_notes(self, caller: Caller) -> tuple[str, ...]:
        with self.service.catalog.transaction() as session:
            return tuple(caller_notes(session, caller.principals))

    def _recorder(self, caller: Caller) -> AccessRecorder:
        return replace(self.recorder, through=caller.through)
