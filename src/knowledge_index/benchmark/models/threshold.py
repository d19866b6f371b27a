"""When may a library's best answer be filled in? Above a score that is chosen on dev, and measured on test."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.benchmark.models.answer_library import AnswerLibrary, AskedQuestion


class Outcome(StrEnum):
    """What the best answer is to a question."""

    RIGHT = "right"
    STALE = "stale"
    WRONG = "wrong"


@dataclass(frozen=True)
class TopAnswer:
    """The best answer to a question, by its place in the library, its score, and what it is."""

    question: AskedQuestion
    place: int
    score: float
    outcome: Outcome


@dataclass(frozen=True)
class ThresholdFigures:
    """What filling in above ``threshold`` comes to; with None nothing is filled in.

    ``precision`` is right over filled (None where nothing is filled) with its Wilson interval; ``coverage`` filled over
    all questions, ``abstention`` the rest. A stale answer is one that has been superseded: it counts as filled and not
    as right. ``withheld`` are right answers below the threshold.
    """

    threshold: float | None
    questions: int
    filled: int
    right: int
    stale: int
    wrong: int
    withheld: int
    precision: float | None
    precision_low: float | None
    precision_high: float | None
    coverage: float
    abstention: float


def outcome_of(question: AskedQuestion, library: AnswerLibrary, place: int) -> Outcome:
    """A superseded answer of the right topic is stale, one of another topic wrong."""
    answer = library.answers[place]
    if question.topic is None or answer.topic != question.topic:
        return Outcome.WRONG
    return Outcome.STALE if answer.is_superseded else Outcome.RIGHT


def figures_at(tops: Sequence[TopAnswer], threshold: float | None) -> ThresholdFigures:
    """The figures of filling in where the score is the threshold or above."""
    filled = [each for each in tops if threshold is not None and each.score >= threshold]
    counts = {outcome: sum(each.outcome is outcome for each in filled) for outcome in Outcome}
    right = counts[Outcome.RIGHT]
    low = high = None
    if filled:
        from scipy.stats import binomtest

        # Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22, 1927.
        interval = binomtest(right, len(filled)).proportion_ci(0.95, method="wilson")
        low, high = float(interval.low), float(interval.high)
    return ThresholdFigures(
        threshold,
        len(tops),
        len(filled),
        right,
        counts[Outcome.STALE],
        counts[Outcome.WRONG],
        sum(each.outcome is Outcome.RIGHT for each in tops) - right,
        right / len(filled) if filled else None,
        low,
        high,
        len(filled) / len(tops) if tops else 0.0,
        1.0 - len(filled) / len(tops) if tops else 1.0,
    )


def choose_threshold(dev: Sequence[TopAnswer], precision: float) -> float | None:
    """The lowest score of a dev question at which precision on dev is ``precision`` or more; None where there is none.

    Lowest: of all thresholds that are good enough, the one that fills in most.
    """
    good = [
        each.threshold
        for each in curve_of(dev)
        if each.threshold is not None and each.precision is not None and each.precision >= precision
    ]
    return min(good, default=None)


def curve_of(tops: Sequence[TopAnswer]) -> list[ThresholdFigures]:
    """The figures at each score that occurs, the highest first."""
    return [figures_at(tops, score) for score in sorted({each.score for each in tops}, reverse=True)]
