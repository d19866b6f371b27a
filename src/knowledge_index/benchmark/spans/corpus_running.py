"""One run over a whole corpus: its rankings and its metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from knowledge_index.benchmark.spans.configurations import Configuration
from knowledge_index.benchmark.spans.corpus import (
    DEPTH,
    CorpusBenchmark,
    CorpusMetrics,
    mean_corpus_metrics,
    score_corpus_ranking,
)
from knowledge_index.benchmark.spans.metrics import chunks_by_document, is_intact
from knowledge_index.benchmark.spans.ranking import RankedChunk, Ranker
from knowledge_index.benchmark.spans.working import Workshop, settings_of


@dataclass(frozen=True)
class CorpusOutcome:
    """One configuration: ``rankings`` and ``metrics`` follow the benchmark's questions."""

    configuration: Configuration
    chunker_signature: str
    chunk_count: int
    median_chars: float
    snippets_intact: float
    truncated: float | None
    settings: str
    rankings: tuple[tuple[RankedChunk, ...], ...]
    metrics: tuple[CorpusMetrics, ...]

    @property
    def means(self) -> CorpusMetrics:
        """The mean of each metric over the questions."""
        return mean_corpus_metrics(self.metrics)


@dataclass(frozen=True)
class CorpusRun:
    """Everything that a run over a corpus found; ``outcomes`` is not empty."""

    benchmark: CorpusBenchmark
    outcomes: tuple[CorpusOutcome, ...]
    embedding_signature: str


def run_corpus(benchmark: CorpusBenchmark, workshop: Workshop, configurations: Sequence[Configuration]) -> CorpusRun:
    """Ask every question of every configuration.

    Raises:
        InputError: a document does not pass the product's pipeline.
    """
    workshop.embed_queries([query.query for query in benchmark.queries])
    outcomes = []
    for configuration in map(workshop.as_run, configurations):
        with workshop.ranker(configuration) as ranker:
            outcomes.append(_outcome(benchmark, workshop, configuration, ranker))
    return CorpusRun(benchmark, tuple(outcomes), workshop.embedder.signature.id)


def _outcome(
    benchmark: CorpusBenchmark, workshop: Workshop, configuration: Configuration, ranker: Ranker
) -> CorpusOutcome:
    rankings = []
    with workshop.progress.task(f"search {configuration.name}", len(benchmark.queries)) as task:
        for query in benchmark.queries:
            rankings.append(ranker.rank(query.query, None, DEPTH))
            task.advance()
    metrics = tuple(
        score_corpus_ranking(query, [each.place for each in ranking])
        for query, ranking in zip(benchmark.queries, rankings, strict=True)
    )
    places = [each.place for each in ranker.chunks]
    by_document = chunks_by_document(places)
    texts = {each.doc_id: each.text for each in benchmark.documents}
    return CorpusOutcome(
        configuration,
        ranker.chunker_signature,
        len(places),
        float(median(place.span.length for place in places)),
        fmean(
            is_intact(texts[gold.doc_id], gold.span, by_document.get(gold.doc_id, ()))
            for query in benchmark.queries
            for gold in query.gold
        ),
        workshop.truncated_share(ranker),
        settings_of(configuration, workshop.config).model_dump_json() if configuration.through_product else "",
        tuple(rankings),
        metrics,
    )
