"""One run over an eval set: every configuration's rankings, metrics and failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge_index.benchmark.spans.configurations import Configuration
from knowledge_index.benchmark.spans.eval_set import EvalQuery, EvalSet
from knowledge_index.benchmark.spans.failure_labels import Failure, label_failure
from knowledge_index.benchmark.spans.metrics import (
    POOL,
    ChunkingStatistics,
    SpanMetrics,
    chunking_statistics,
    chunks_by_document,
    mean_metrics,
    score_ranking,
)
from knowledge_index.benchmark.spans.ranking import ChunkPlace, RankedChunk, Ranker
from knowledge_index.benchmark.spans.working import Workshop
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.progress import Progress


@dataclass(frozen=True)
class QueryOutcome:
    """One question under one configuration; ``failure`` is None where grounding is complete."""

    query: EvalQuery
    ranking: tuple[RankedChunk, ...]
    metrics: SpanMetrics
    failure: Failure | None


@dataclass(frozen=True)
class ConfigurationOutcome:
    """One configuration that ran."""

    configuration: Configuration
    chunker_signature: str
    statistics: ChunkingStatistics
    means: SpanMetrics
    queries: tuple[QueryOutcome, ...]
    chunks: Mapping[str, Sequence[ChunkPlace]]


@dataclass(frozen=True)
class NotRun:
    """A configuration that did not, and why."""

    configuration: Configuration
    reason: str


@dataclass(frozen=True)
class SpanRun:
    """Everything that a run found, a function of set, settings and models."""

    eval_set: EvalSet
    outcomes: tuple[ConfigurationOutcome, ...]
    not_run: tuple[NotRun, ...]
    baseline: ConfigurationOutcome
    embedding_signature: str
    settings: str

    def outcome(self, name: str) -> ConfigurationOutcome | None:
        """What the configuration of that name gave, or None where it did not run."""
        return next((each for each in self.outcomes if each.configuration.name == name), None)


DEFAULT_BASELINE = "clause"


def run_spans(
    eval_set: EvalSet, workshop: Workshop, configurations: Sequence[Configuration], baseline: str | None
) -> SpanRun:
    """Run every configuration that can run.

    Raises:
        UsageError: none can, or the baseline is not among those that did.
        InputError: a document does not pass the product's pipeline.
    """
    wanted = [workshop.as_run(each) for each in configurations]
    not_run = [NotRun(each, reason) for each in wanted if (reason := _not_run_reason(eval_set, workshop, each))]
    left_out = {each.configuration.name: each.reason for each in not_run}
    runnable = [each for each in wanted if each.name not in left_out]
    if not runnable:
        raise UsageError(f"no configuration can run: {not_run[0].configuration.name}: {not_run[0].reason}")
    names = [each.name for each in runnable]
    if baseline is None:
        baseline = DEFAULT_BASELINE if DEFAULT_BASELINE in names else names[0]
    elif baseline not in names:
        why = f" ({left_out[baseline]})" if baseline in left_out else "; name it with --config too"
        raise UsageError(f"--baseline {baseline}: is not among the configurations of this run{why}")
    workshop.embed_queries([query.query for query in eval_set.queries])
    outcomes = []
    for configuration in runnable:
        with workshop.ranker(configuration) as ranker:
            outcomes.append(
                evaluate(eval_set, configuration, ranker, workshop.truncated_share(ranker), workshop.progress)
            )
    return SpanRun(
        eval_set,
        tuple(outcomes),
        tuple(not_run),
        next(each for each in outcomes if each.configuration.name == baseline),
        workshop.embedder.signature.id,
        workshop.config.model_dump_json(),
    )


def evaluate(
    eval_set: EvalSet, configuration: Configuration, ranker: Ranker, truncated_share: float | None, progress: Progress
) -> ConfigurationOutcome:
    """Ask every question of one configuration, and score what it ranks."""
    places = [each.place for each in ranker.chunks]
    chunks = chunks_by_document(places)
    texts = {each.doc_id: each.text for each in eval_set.documents}
    outcomes = []
    with progress.task(f"search {configuration.name}", len(eval_set.queries)) as task:
        for query in eval_set.queries:
            ranking = ranker.rank(query.query, searched_documents(eval_set, configuration, query), POOL)
            own = chunks.get(query.doc_id, [])
            outcomes.append(
                QueryOutcome(
                    query,
                    ranking,
                    score_ranking(query, ranking, own),
                    label_failure(query, texts[query.doc_id], ranking, own),
                )
            )
            task.advance()
    return ConfigurationOutcome(
        configuration,
        ranker.chunker_signature,
        chunking_statistics(eval_set, places, truncated_share),
        mean_metrics([each.metrics for each in outcomes]),
        tuple(outcomes),
        chunks,
    )


def searched_documents(eval_set: EvalSet, configuration: Configuration, query: EvalQuery) -> frozenset[str] | None:
    """The documents that the configuration lets a question search; None for all, without a filter."""
    if not configuration.document_scope and not configuration.metadata_filter:
        return None
    return frozenset(
        document.doc_id
        for document in eval_set.documents
        if (not configuration.document_scope or document.doc_id == query.doc_id)
        and (
            not configuration.metadata_filter
            or all(document.metadata.get(name) == value for name, value in query.filters.items())
        )
    )


def _not_run_reason(eval_set: EvalSet, workshop: Workshop, configuration: Configuration) -> str | None:
    if configuration.metadata_filter and not any(query.filters for query in eval_set.queries):
        return "no question of the set has filters"
    return workshop.not_run_reason(configuration)
