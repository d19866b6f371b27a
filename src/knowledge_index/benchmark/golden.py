"""Runs golden questions and counts what was found, said and cited."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from knowledge_index.access.recording import AccessRecorder
from knowledge_index.answers import Answer, AnswerKind, Gateway, answer_question
from knowledge_index.answers.wording import normalise
from knowledge_index.benchmark.golden_file import GoldenQuestion
from knowledge_index.catalog import CatalogSession
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.principals import Principal, parse_principals
from knowledge_index.domain.progress import Progress
from knowledge_index.domain.search import SearchFilters
from knowledge_index.retrieval import RetrievalService
from knowledge_index.retrieval.hit_ids import parse_hit_id
from knowledge_index.retrieval.showing import ShownPassage, show_hit


@dataclass(frozen=True)
class QuestionOutcome:
    """One question: ``is_hit`` and ``answer_holds`` are None where nothing of the kind is asserted.

    ``is_hit``: every wording stands in a retrieved passage that counts. ``answer_holds``: every wording stands in the
    answer. ``refused_rightly``: for a question without an answer, whether the reply was that the documents do not say
    and no passage held what it must not. ``invalid_citations`` counts citations whose quoted words do not stand at
    their offsets in the catalog's text, read anew. ``latency_ms`` is the whole answer.
    """

    question: str
    kind: str
    answer_kind: AnswerKind
    answer: str
    is_hit: bool | None
    answer_holds: bool | None
    refused_rightly: bool | None
    citations: int
    invalid_citations: int
    latency_ms: float


@dataclass(frozen=True)
class GoldenCounts:
    """Shares from 0 to 1, or None where no question asserts the thing; latencies in milliseconds, p95 by rank."""

    questions: int
    hit_rate: float | None
    answer_rate: float | None
    refusal_rate: float | None
    citation_validity: float | None
    mean_ms: float
    p95_ms: float


@dataclass(frozen=True)
class GoldenReport:
    """The counts of all questions and of each kind, by name, and what came of each question."""

    k: int
    total: GoldenCounts
    by_kind: tuple[tuple[str, GoldenCounts], ...]
    outcomes: tuple[QuestionOutcome, ...]


def run_golden(
    service: RetrievalService,
    recorder: AccessRecorder,
    questions: Sequence[GoldenQuestion],
    caller: frozenset[Principal] | None,
    settings: RetrievalSettings,
    k: int,
    gateway: Gateway | None,
    monotonic_s: Callable[[], float],
    progress: Progress,
) -> GoldenReport:
    """Ask every question as its own caller, else as ``caller``; ``k`` passages are read for each.

    Raises:
        UsageError: a question names no caller and there is none for the run.
    """
    callers = [parse_principals(each.principals) if each.principals else caller for each in questions]
    outcomes = []
    with progress.task("golden questions", len(questions)) as task:
        for question, who in zip(questions, callers, strict=True):
            if who is None:
                raise UsageError(f"'{question.question}': nobody is named to ask as; give --as, or 'as' in the file")
            started = monotonic_s()
            answer = answer_question(
                service, recorder, who, question.question, settings, SearchFilters(), limit=k, gateway=gateway
            )
            outcomes.append(_outcome(service, question, who, answer, (monotonic_s() - started) * 1000))
            task.advance()
    kinds: defaultdict[str, list[QuestionOutcome]] = defaultdict(list)
    for each in outcomes:
        kinds[each.kind].append(each)
    by_kind = tuple((kind, _counts(kinds[kind])) for kind in sorted(kinds))
    return GoldenReport(k, _counts(outcomes), by_kind, tuple(outcomes))


def _outcome(
    service: RetrievalService, question: GoldenQuestion, who: frozenset[Principal], answer: Answer, latency_ms: float
) -> QuestionOutcome:
    shown = [show_hit(service.catalog, hit_id, who) for hit_id in answer.searched.passages]
    counting = [each for each in shown if question.document is None or question.document in each.occurrence.path]
    read = [_comparable(each.passage) for each in counting]
    said = _comparable(" ".join(each.text for each in answer.sentences))
    is_hit = answer_holds = refused = None
    if question.not_said:
        leaked = any(_comparable(each) in text for each in question.must_not_contain for text in map(_text, shown))
        refused = answer.kind is AnswerKind.NOT_SAID and not leaked
    else:
        is_hit = all(any(_comparable(each) in text for text in read) for each in question.must_contain)
        if question.answer_must_contain:
            answer_holds = all(_comparable(each) in said for each in question.answer_must_contain)
    with service.catalog.transaction() as session:
        invalid = sum(not _is_valid(session, answer, place, shown) for place in range(len(answer.citations)))
    return QuestionOutcome(
        question.question,
        question.kind,
        answer.kind,
        answer.text,
        is_hit,
        answer_holds,
        refused,
        len(answer.citations),
        invalid,
        latency_ms,
    )


def _text(shown: ShownPassage) -> str:
    return _comparable(shown.passage)


def _comparable(text: str) -> str:
    return normalise(text).casefold()


def _is_valid(session: CatalogSession, answer: Answer, place: int, shown: Sequence[ShownPassage]) -> bool:
    """Whether the citation's words stand at its offsets in the catalog's text, and inside a passage that was read."""
    citation = answer.citations[place]
    of_passage = {each: parse_hit_id(each) for each in answer.searched.passages}
    parts = of_passage.get(citation.hit_id)
    if parts is None or not parts.start_char <= citation.start_char < citation.end_char <= parts.end_char:
        return False
    occurrence = next((each.occurrence for each in shown if each.occurrence.object_key == parts.object_key), None)
    if occurrence is None or occurrence.text_sha256 != citation.text_sha256:
        return False
    text = session.passages.text_between(occurrence.object_id, citation.start_char, citation.end_char)
    return bool(citation.quoted.strip()) and normalise(text) == normalise(citation.quoted)


def _counts(outcomes: Sequence[QuestionOutcome]) -> GoldenCounts:
    latencies = sorted(each.latency_ms for each in outcomes)
    citations = sum(each.citations for each in outcomes)
    invalid = sum(each.invalid_citations for each in outcomes)
    return GoldenCounts(
        questions=len(outcomes),
        hit_rate=_share([each.is_hit for each in outcomes]),
        answer_rate=_share([each.answer_holds for each in outcomes]),
        refusal_rate=_share([each.refused_rightly for each in outcomes]),
        citation_validity=1 - invalid / citations if citations else None,
        mean_ms=statistics.fmean(latencies),
        p95_ms=latencies[max(0, -(-95 * len(latencies) // 100) - 1)],
    )


def _share(values: Sequence[bool | None]) -> float | None:
    stated = [value for value in values if value is not None]
    return sum(stated) / len(stated) if stated else None
