"""Why a question has no complete grounding: one label each, by rule, the first that fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.benchmark.spans.eval_set import EvalQuery
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.metrics import GROUNDED_SHARE, TOP_K, is_intact, retrieved_shares
from knowledge_index.benchmark.spans.ranking import ChunkPlace, RankedChunk

_OPENING_CHARS = 120


class FailureLabel(StrEnum):
    """The labels, in the order in which they are tried; docs/spans.md defines each."""

    CEILING_BOUND = "ceiling-bound"
    CHUNK_SEVERANCE = "chunk-severance"
    RETRIEVAL_MISS = "retrieval-miss"
    RANK_MISS = "rank-miss"
    PARTIAL_GROUNDING = "partial-grounding"


@dataclass(frozen=True)
class ChunkEvidence:
    """A chunk that shares characters with a failed span; ``rank`` is None where it is not among the ranked."""

    place: ChunkPlace
    rank: int | None
    opening_words: str


@dataclass(frozen=True)
class SpanEvidence:
    """A gold span of which the top k hold less than half; ``coverage`` is the share they hold."""

    span: Span
    coverage: float
    intact: bool
    opening_words: str
    chunks: tuple[ChunkEvidence, ...]


@dataclass(frozen=True)
class Failure:
    """Why one question failed, and the spans that show it."""

    label: FailureLabel
    failed_spans: tuple[SpanEvidence, ...]


def label_failure(
    query: EvalQuery, text: str, ranking: Sequence[RankedChunk], chunks: Sequence[ChunkPlace]
) -> Failure | None:
    """The failure of one question, or None where it has complete grounding.

    ``text`` and ``chunks`` are those of the question's document, ``ranking`` the whole pool, best first.
    """
    shares = retrieved_shares(query, [each.place for each in ranking[:TOP_K]])
    ranks = {each.place: rank for rank, each in enumerate(ranking, start=1)}
    failed = tuple(
        _evidence(text, span, share, ranks, chunks)
        for span, share in zip(query.gold_spans, shares, strict=True)
        if share < GROUNDED_SHARE
    )
    return Failure(_label(failed), failed) if failed else None


def _label(failed: Sequence[SpanEvidence]) -> FailureLabel:
    relevant = {chunk.place: chunk.rank for span in failed for chunk in span.chunks}
    if len(relevant) < TOP_K and all(_in_top(rank) for rank in relevant.values()):
        return FailureLabel.CEILING_BOUND
    if any(not span.intact for span in failed):
        return FailureLabel.CHUNK_SEVERANCE
    if any(all(chunk.rank is None for chunk in span.chunks) for span in failed):
        return FailureLabel.RETRIEVAL_MISS
    if any(not any(_in_top(chunk.rank) for chunk in span.chunks) for span in failed):
        return FailureLabel.RANK_MISS
    return FailureLabel.PARTIAL_GROUNDING


def _in_top(rank: int | None) -> bool:
    return rank is not None and rank <= TOP_K


def _evidence(
    text: str, span: Span, share: float, ranks: dict[ChunkPlace, int], chunks: Sequence[ChunkPlace]
) -> SpanEvidence:
    return SpanEvidence(
        span=span,
        coverage=share,
        intact=is_intact(text, span, chunks),
        opening_words=opening_words(text, span),
        chunks=tuple(
            ChunkEvidence(place, ranks.get(place), opening_words(text, place.span))
            for place in chunks
            if place.span.overlap(span)
        ),
    )


def opening_words(text: str, span: Span) -> str:
    """The first words of a span on one line."""
    words = " ".join(text[span.start : span.end].split())
    if len(words) <= _OPENING_CHARS:
        return words
    return words[: _OPENING_CHARS + 1].rpartition(" ")[0] + " …"
