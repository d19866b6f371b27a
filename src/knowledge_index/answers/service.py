"""Retrieve, word, check, and only then answer."""

from collections.abc import Sequence

from knowledge_index.access import compile_scope
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.answers.answer import (
    Answer,
    AnswerKind,
    AnswerSentence,
    Citation,
    CitedSpan,
    Draft,
    Evidence,
    Searched,
)
from knowledge_index.answers.extractive import extract_answer, uncovered_words
from knowledge_index.answers.gateway import Gateway, GatewayError
from knowledge_index.answers.question import Question, read_question
from knowledge_index.answers.reading import Reading, read_for
from knowledge_index.answers.untrusted import harmless, is_opposing
from knowledge_index.answers.validator import Fault, find_faults
from knowledge_index.catalog.status_records import UnreadObject
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import NotVisibleError, UsageError
from knowledge_index.domain.matters import matter_of
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters
from knowledge_index.retrieval import RetrievalService, show_as

DEFAULT_PASSAGES = 8
_MAX_QUESTION_CHARS = 4000
NOT_SAID = "The documents do not say."


def answer_question(
    service: RetrievalService,
    recorder: AccessRecorder,
    principals: frozenset[Principal],
    question: str,
    settings: RetrievalSettings,
    filters: SearchFilters,
    limit: int = DEFAULT_PASSAGES,
    gateway: Gateway | None = None,
) -> Answer:
    """Answer ``question`` from what a caller under ``principals`` may see now.

    Searched is through ``search_as`` alone, and each of the ``limit`` passages is read through ``show_as``, so that the
    audit log has every search and every passage that an answer was made from. With a
    ``gateway``, a model words the answer; what it writes is checked, sent back once with the reasons, and replaced by
    the extractive answer where it fails again or the gateway gives none. The answer says which it is. Cited texts are
    read from the catalog under the scope of that moment, before the check.

    Raises:
        UsageError: the question is blank or longer than 4,000 characters, or the limit is not positive.
        AuditLogError: the search could not be recorded.
    """
    if len(question) > _MAX_QUESTION_CHARS:
        raise UsageError(f"the question has {len(question)} characters; ask in at most {_MAX_QUESTION_CHARS}")
    asked = read_question(question)
    reading = read_for(service, recorder, principals, asked, settings, filters, limit)
    retrieved, unread = _reread(service, recorder, principals, reading, filters)
    notes = list(reading.notes)
    by_id = {each.hit.hit_id: each for each in retrieved}

    draft, kind = Draft(()), AnswerKind.EXTRACTIVE
    if gateway is not None and retrieved:
        draft, kind, note = _worded(gateway, asked, retrieved)
        notes.extend(note)
    if kind is AnswerKind.EXTRACTIVE:
        draft = extract_answer(asked, retrieved, service.embedder)
        if find_faults(draft, by_id):
            # The sentences are the catalog's own, so a fault here is one of this program: rather no answer.
            draft = Draft(())
            notes.append("the extractive answer did not stand the check of its citations and was withheld")
    searched = Searched(
        reading.queries, asked.rewriting.aliases, tuple(by_id), uncovered_words(asked, retrieved), tuple(unread)
    )
    return _answer(question, kind, draft, by_id, searched, tuple(notes))


def _reread(
    service: RetrievalService,
    recorder: AccessRecorder,
    principals: frozenset[Principal],
    reading: Reading,
    filters: SearchFilters,
) -> tuple[list[Evidence], list[UnreadObject]]:
    """The hits with the catalog's own text, as far as the caller may still see them, and what nobody can search."""
    retrieved = []
    for hit in reading.hits:
        try:
            shown = show_as(service.catalog, recorder, principals, hit.hit_id)
        except NotVisibleError:
            # Taken away between the search and now: it is not cited, and nothing says that it was there.
            continue
        retrieved.append(Evidence(hit, shown.passage, is_opposing(hit.path), reading.named[hit.document_key]))
    with service.catalog.transaction() as session:
        scope = compile_scope(session, principals, recorder.clock())
        unread = [
            each
            for each in session.passages.unread(scope)
            if not filters.matter_refs or matter_of(each.path).ref in filters.matter_refs
        ]
    return retrieved, unread


def _worded(gateway: Gateway, asked: Question, retrieved: Sequence[Evidence]) -> tuple[Draft, AnswerKind, list[str]]:
    """A model's answer that has stood the check, else none and the reason."""
    by_id = {each.hit.hit_id: each for each in retrieved}
    faults: tuple[Fault, ...] = ()
    for _attempt in range(2):
        try:
            draft = gateway.draft_answer(asked.text, retrieved, faults)
        except GatewayError as error:
            if not error.can_be_corrected:
                return Draft(()), AnswerKind.EXTRACTIVE, [f"the gateway gave no answer: {error}"]
            faults = (Fault(0, str(error)),)
            continue
        faults = find_faults(draft, by_id)
        if not faults:
            return draft, AnswerKind.MODEL, []
    reasons = "; ".join(dict.fromkeys(fault.reason for fault in faults))
    return Draft(()), AnswerKind.EXTRACTIVE, [f"the model's answer was refused twice ({harmless(reasons)[:400]})"]


def _answer(
    question: str,
    kind: AnswerKind,
    draft: Draft,
    by_id: dict[str, Evidence],
    searched: Searched,
    notes: tuple[str, ...],
) -> Answer:
    if not draft.sentences:
        return Answer(question, AnswerKind.NOT_SAID, NOT_SAID, (), (), searched, notes)
    numbers: dict[CitedSpan, int] = {}
    sentences = []
    for sentence in draft.sentences:
        marks = tuple(dict.fromkeys(numbers.setdefault(span, len(numbers) + 1) for span in sentence.spans))
        sentences.append(AnswerSentence(" ".join(harmless(sentence.text).split()), marks))
    text = " ".join(f"{each.text} {''.join(f'[{number}]' for number in each.citations)}" for each in sentences)
    citations = tuple(_citation(number, span, by_id[span.hit_id]) for span, number in numbers.items())
    return Answer(question, kind, text, tuple(sentences), citations, searched, notes)


def _citation(number: int, span: CitedSpan, evidence: Evidence) -> Citation:
    hit = evidence.hit
    return Citation(
        number=number,
        hit_id=hit.hit_id,
        source=hit.source,
        path=hit.path,
        title=harmless(hit.title),
        version_status=hit.version_status,
        matter_ref=hit.matter_ref,
        heading=harmless(hit.heading),
        start_char=span.start_char,
        end_char=span.end_char,
        text_sha256=hit.text_sha256,
        converter=hit.converter,
        quoted=harmless(span.quoted),
        is_opposing=evidence.is_opposing,
    )
