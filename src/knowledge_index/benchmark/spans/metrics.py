"""What is measured of one ranking, and of a chunking before any ranking.

A chunk is relevant when it shares at least one character with a gold span of the question's document. An undefined
value is None and left out of every mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from knowledge_index.benchmark.spans.eval_set import EvalQuery, EvalSet
from knowledge_index.benchmark.spans.intervals import Span, covered_characters, merge_overlapping, trimmed
from knowledge_index.benchmark.spans.ranking import ChunkPlace, RankedChunk

TOP_K = 5
RECALL_K = 10
POOL = 30
"""How deep every ranking is."""
GROUNDED_SHARE = 0.5
"""The share of a gold span that the top k have to hold for it to count as retrieved; a constant, no setting."""


@dataclass(frozen=True)
class SpanMetrics:
    """The metrics of one question, or their means; each from 0 to 1. ``recall_at_10`` may be undefined."""

    precision_at_5: float
    recall_at_10: float | None
    mrr: float
    span_coverage_at_5: float
    span_recall_at_5: float
    complete_grounding_at_5: float


METRIC_NAMES = {
    "precision_at_5": "precision@5",
    "recall_at_10": "recall@10",
    "mrr": "MRR",
    "span_coverage_at_5": "span_coverage@5",
    "span_recall_at_5": "span_recall@5",
    "complete_grounding_at_5": "complete_grounding@5",
}


@dataclass(frozen=True)
class ChunkingStatistics:
    """What a chunking makes possible and impossible, before any retrieval.

    ``spans_intact`` is the share of gold spans that one chunk holds whole, ``precision_ceiling`` the precision@5 of a
    perfect ranking, ``truncated`` the share of chunks whose indexed text the embedder cuts off, None where the model
    has no tokenizer file to count with.
    """

    chunks: int
    median_chars: float
    spans_intact: float
    relevant_per_query: float
    precision_ceiling: float
    truncated: float | None


def is_relevant(query: EvalQuery, place: ChunkPlace) -> bool:
    """Whether the chunk shares a character with a gold span of the question."""
    return place.doc_id == query.doc_id and any(span.overlap(place.span) for span in query.gold_spans)


def retrieved_shares(query: EvalQuery, top: Sequence[ChunkPlace]) -> list[float]:
    """For each gold span the share of its characters that lie in at least one of the chunks."""
    own = [each.span for each in top if each.doc_id == query.doc_id]
    return [covered_characters(span, own) / span.length for span in query.gold_spans]


def score_ranking(query: EvalQuery, ranking: Sequence[RankedChunk], chunks: Sequence[ChunkPlace]) -> SpanMetrics:
    """The metrics of one question; ``chunks`` are all chunks of its document, best first is ``ranking``'s order."""
    relevant = [is_relevant(query, each.place) for each in ranking]
    total_relevant = sum(is_relevant(query, place) for place in chunks)
    top = [each.place for each in ranking[:TOP_K]]
    shares = retrieved_shares(query, top)
    grounded = [share >= GROUNDED_SHARE for share in shares]
    # Gold characters are counted once, also where two gold spans share some.
    gold = merge_overlapping(query.gold_spans)
    retrieved = sum(
        covered_characters(span, [each.span for each in top if each.doc_id == query.doc_id]) for span in gold
    )
    return SpanMetrics(
        precision_at_5=sum(relevant[:TOP_K]) / TOP_K,
        recall_at_10=sum(relevant[:RECALL_K]) / total_relevant if total_relevant else None,
        mrr=next((1 / rank for rank, found in enumerate(relevant, start=1) if found), 0.0),
        span_coverage_at_5=retrieved / sum(span.length for span in gold),
        span_recall_at_5=sum(grounded) / len(grounded),
        complete_grounding_at_5=float(all(grounded)),
    )


def mean_metrics(values: Sequence[SpanMetrics]) -> SpanMetrics:
    """The mean of each metric over the questions that have it.

    Raises:
        ValueError: there is no question.
    """
    if not values:
        raise ValueError("no questions to take the mean of")
    recalls = [each.recall_at_10 for each in values if each.recall_at_10 is not None]
    return SpanMetrics(
        precision_at_5=fmean([each.precision_at_5 for each in values]),
        recall_at_10=fmean(recalls) if recalls else None,
        mrr=fmean([each.mrr for each in values]),
        span_coverage_at_5=fmean([each.span_coverage_at_5 for each in values]),
        span_recall_at_5=fmean([each.span_recall_at_5 for each in values]),
        complete_grounding_at_5=fmean([each.complete_grounding_at_5 for each in values]),
    )


def metric_value(metrics: SpanMetrics, name: str) -> float | None:
    """One metric by its field's name."""
    value: float | None = getattr(metrics, name)
    return value


def chunking_statistics(
    eval_set: EvalSet, chunks: Sequence[ChunkPlace], truncated_share: float | None
) -> ChunkingStatistics:
    """The statistics of one chunking of the set's documents."""
    by_document = chunks_by_document(chunks)
    texts = {each.doc_id: each.text for each in eval_set.documents}
    intact = [
        is_intact(texts[query.doc_id], span, by_document.get(query.doc_id, ()))
        for query in eval_set.queries
        for span in query.gold_spans
    ]
    relevant = [
        sum(is_relevant(query, place) for place in by_document.get(query.doc_id, ())) for query in eval_set.queries
    ]
    return ChunkingStatistics(
        chunks=len(chunks),
        median_chars=float(median(place.span.length for place in chunks)),
        spans_intact=fmean(intact),
        relevant_per_query=fmean(relevant),
        precision_ceiling=fmean([min(count, TOP_K) / TOP_K for count in relevant]),
        truncated=truncated_share,
    )


def is_intact(text: str, span: Span, chunks: Sequence[ChunkPlace]) -> bool:
    """Whether one of the chunks holds the whole span, white space at the span's ends aside."""
    wanted = trimmed(text, span)
    return any(place.span.holds(wanted) for place in chunks)


def chunks_by_document(chunks: Sequence[ChunkPlace]) -> dict[str, list[ChunkPlace]]:
    """The chunks of each document, in order."""
    found: dict[str, list[ChunkPlace]] = {}
    for place in sorted(chunks):
        found.setdefault(place.doc_id, []).append(place)
    return found
