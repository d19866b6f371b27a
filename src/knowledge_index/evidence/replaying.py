"""What changed between a receipt and the same search, run again."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.evidence.issuing import filters_of
from knowledge_index.evidence.receipt import ResultRecord, SearchReceipt


class ReplayState(StrEnum):
    """What became of a result."""

    SAME = "same"
    MOVED = "moved"
    BELOW = "below"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True)
class ReplayedResult:
    """One passage, then and now; ranks count from 1, scores are in parts per million.

    ``BELOW`` is still among what the caller sees, and no longer among the results; ``GONE`` is not there as it was:
    changed, removed, or no longer to be seen. ``path`` is that of a result of now, as a receipt holds no names.
    """

    state: ReplayState
    document_sha256: str
    start_char: int
    end_char: int
    rank_before: int | None
    rank_now: int | None
    score_before_ppm: int | None
    score_now_ppm: int | None
    path: str | None


@dataclass(frozen=True)
class ReplayedDocument:
    """A document with its passages, in the order of the receipt, the new ones last."""

    document_sha256: str
    path: str | None
    results: tuple[ReplayedResult, ...]


@dataclass(frozen=True)
class Replay:
    """``changes`` are lines on the index, the models and the product; ``documents`` what became of the results."""

    changes: tuple[str, ...]
    documents: tuple[ReplayedDocument, ...]

    @property
    def is_same(self) -> bool:
        """Whether each result stands where it stood, with the same score."""
        return all(
            result.state is ReplayState.SAME and result.score_before_ppm == result.score_now_ppm
            for document in self.documents
            for result in document.results
        )


def refuse_another_request(receipt: SearchReceipt, query: str, caller_hash: str) -> None:
    """Refuse to replay a receipt with another query, or as somebody else.

    Raises:
        UsageError: a hash does not match; the message tells nothing of the receipt.
    """
    if sha256_text(query) != receipt.query_sha256:
        raise UsageError("--query: is not the query of this receipt, to the letter; its hash is another")
    if caller_hash != receipt.caller:
        raise UsageError("--as: the receipt was issued to another caller, or by another installation")


def settings_of(receipt: SearchReceipt) -> tuple[RetrievalSettings, SearchFilters]:
    """The settings and filters that a receipt states.

    Raises:
        UsageError: they are of a version with other settings.
    """
    try:
        return RetrievalSettings.model_validate(receipt.settings), filters_of(receipt.filters)
    except ValueError as error:
        raise UsageError(
            f"the receipt's settings are those of ki {receipt.product_version} and not known here: {error}"
        ) from error


def compare(before: SearchReceipt, now: SearchReceipt, hits: Sequence[SearchHit], leaves_now: frozenset[str]) -> Replay:
    """What changed; ``hits`` are those of ``now``, ``leaves_now`` those leaves of ``before`` that are still there."""
    paths = {each.document_sha256: hit.path for each, hit in zip(now.results, hits, strict=True)}
    ranks_now = {each.leaf: rank for rank, each in enumerate(now.results, start=1)}
    found: list[ReplayedResult] = []
    for rank, each in enumerate(before.results, start=1):
        rank_now = ranks_now.pop(each.leaf, None)
        result_now = None if rank_now is None else now.results[rank_now - 1]
        if rank_now is None:
            state = ReplayState.BELOW if each.leaf in leaves_now else ReplayState.GONE
        else:
            state = ReplayState.SAME if rank_now == rank else ReplayState.MOVED
        found.append(_replayed(state, each, rank, rank_now, each.score_ppm, result_now, paths))
    for leaf, rank_now in ranks_now.items():
        result = now.results[rank_now - 1]
        assert result.leaf == leaf
        found.append(_replayed(ReplayState.NEW, result, None, rank_now, None, result, paths))
    by_document: dict[str, list[ReplayedResult]] = {}
    for replayed in found:
        by_document.setdefault(replayed.document_sha256, []).append(replayed)
    documents = tuple(ReplayedDocument(key, paths.get(key), tuple(held)) for key, held in by_document.items())
    return Replay(tuple(_changes(before, now)), documents)


def _replayed(
    state: ReplayState,
    each: ResultRecord,
    rank_before: int | None,
    rank_now: int | None,
    score_before: int | None,
    result_now: ResultRecord | None,
    paths: dict[str, str],
) -> ReplayedResult:
    return ReplayedResult(
        state=state,
        document_sha256=each.document_sha256,
        start_char=each.start_char,
        end_char=each.end_char,
        rank_before=rank_before,
        rank_now=rank_now,
        score_before_ppm=score_before,
        score_now_ppm=None if result_now is None else result_now.score_ppm,
        path=paths.get(each.document_sha256),
    )


def _changes(before: SearchReceipt, now: SearchReceipt) -> list[str]:
    pairs: list[tuple[str, Any, Any]] = [
        ("product version", before.product_version, now.product_version),
        ("passages that the caller sees", before.index.chunk_count, now.index.chunk_count),
        ("Merkle root", before.index.merkle_root, now.index.merkle_root),
        ("chunker", before.index.chunker, now.index.chunker),
        ("index format", before.index.format, now.index.format),
        ("embedder", before.index.embedder.model, now.index.embedder.model),
        ("embedder's weights root", before.index.embedder.weights_root, now.index.embedder.weights_root),
        ("embedder's parameters", before.index.embedder.parameters, now.index.embedder.parameters),
        ("reranker", before.reranker and before.reranker.model, now.reranker and now.reranker.model),
        (
            "reranker's weights root",
            before.reranker and before.reranker.weights_root,
            now.reranker and now.reranker.weights_root,
        ),
        ("answer", before.answer and before.answer.text_sha256, now.answer and now.answer.text_sha256),
    ]
    return [f"{name}: {old}, now {new}" for name, old, new in pairs if old != new]
