"""What each lever did to the failures of one configuration."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_index.benchmark.spans.comparing import paired_difference
from knowledge_index.benchmark.spans.configurations import Lever, differing_levers
from knowledge_index.benchmark.spans.failure_labels import FailureLabel
from knowledge_index.benchmark.spans.metrics import metric_value
from knowledge_index.benchmark.spans.running import ConfigurationOutcome, QueryOutcome, SpanRun
from knowledge_index.benchmark.statistics import Difference

LEVERS_AGAINST: dict[FailureLabel, tuple[Lever, ...]] = {
    FailureLabel.CEILING_BOUND: (),
    FailureLabel.CHUNK_SEVERANCE: (Lever.CHUNKING,),
    FailureLabel.RETRIEVAL_MISS: (Lever.RETRIEVER, Lever.CONTEXT_HEADER, Lever.DOCUMENT_SCOPE, Lever.METADATA_FILTER),
    FailureLabel.RANK_MISS: (Lever.RERANK, Lever.RETRIEVER, Lever.CONTEXT_HEADER),
    FailureLabel.PARTIAL_GROUNDING: (Lever.CHUNKING,),
}
"""The levers that can do something about a failure; against a ceiling there is none."""


@dataclass(frozen=True)
class LeverDelta:
    """What another configuration gave that differs from the baseline in ``lever`` alone.

    ``difference`` is in complete_grounding@5 over all questions. ``resolved`` counts those of the pattern's questions
    that have complete grounding there.
    """

    lever: Lever
    configuration: str
    difference: Difference
    resolved: int


@dataclass(frozen=True)
class BacklogEntry:
    """One failure pattern of the baseline: its questions, and the levers against it.

    A lever without a delta in ``deltas`` was not measured by this run.
    """

    label: FailureLabel
    failures: tuple[QueryOutcome, ...]
    levers: tuple[Lever, ...]
    deltas: tuple[LeverDelta, ...]


def single_lever(run: SpanRun, outcome: ConfigurationOutcome) -> Lever | None:
    """The one lever in which a configuration differs from the baseline; None where it is not exactly one."""
    levers = differing_levers(run.baseline.configuration, outcome.configuration)
    return levers[0] if len(levers) == 1 else None


def difference_from_baseline(run: SpanRun, outcome: ConfigurationOutcome, metric: str) -> Difference | None:
    """How far a configuration lies above the baseline in one metric, documents resampled whole."""
    return paired_difference(
        [metric_value(each.metrics, metric) for each in run.baseline.queries],
        [metric_value(each.metrics, metric) for each in outcome.queries],
        [each.query.doc_id for each in outcome.queries],
    )


def fix_backlog(run: SpanRun) -> tuple[BacklogEntry, ...]:
    """The baseline's failure patterns, most failures first, then in the labels' order."""
    entries = [_entry(run, label) for label in FailureLabel]
    return tuple(sorted((each for each in entries if each.failures), key=lambda each: -len(each.failures)))


def _entry(run: SpanRun, label: FailureLabel) -> BacklogEntry:
    failures = tuple(each for each in run.baseline.queries if each.failure and each.failure.label is label)
    levers = LEVERS_AGAINST[label]
    deltas = [
        delta
        for lever in levers
        for outcome in run.outcomes
        if single_lever(run, outcome) is lever and (delta := _delta(run, outcome, lever, failures))
    ]
    return BacklogEntry(label, failures, levers, tuple(deltas))


def _delta(
    run: SpanRun, outcome: ConfigurationOutcome, lever: Lever, failures: Sequence[QueryOutcome]
) -> LeverDelta | None:
    difference = difference_from_baseline(run, outcome, "complete_grounding_at_5")
    if difference is None:
        return None
    grounded = {each.query.query_id for each in outcome.queries if each.failure is None}
    resolved = sum(each.query.query_id in grounded for each in failures)
    return LeverDelta(lever, outcome.configuration.name, difference, resolved)
