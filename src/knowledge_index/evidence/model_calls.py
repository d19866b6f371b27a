"""Receipts of model calls, and wrappers that note what a search asks of its models.

The receipt of an embedded text is made when it is needed and stored nowhere: it follows from the model, the text and
the vector, whether that was computed now or years ago and served from the cache since.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from knowledge_index.domain.documents import sha256_text
from knowledge_index.embed import Embedder, EmbeddingSignature, Matrix, ModelFile, Reranker, Vector, weights_root
from knowledge_index.evidence.canonical import canonical_sha256

MODEL_CALL = "ki.model-call.v1"


def embedder_record(signature: EmbeddingSignature, root: str) -> dict[str, Any]:
    """The embedder as a receipt states it."""
    return {
        "model": signature.model,
        "weights_root": root,
        "parameters": {
            "dimensions": signature.dimensions,
            "max_tokens": signature.max_tokens,
            "pooling": signature.pooling,
            "runtime": str(signature.runtime),
        },
    }


def reranker_record(reranker: Reranker) -> dict[str, Any]:
    """The reranker as a receipt states it."""
    return {"model": reranker.name, "weights_root": weights_root(reranker.model_files()), "parameters": {}}


def embedding_call(record: dict[str, Any], text: str, vector: Vector) -> dict[str, Any]:
    """The receipt of one embedded text; the output is the vector's little-endian 32-bit floats."""
    output = hashlib.sha256(np.asarray(vector, np.dtype("<f4")).tobytes()).hexdigest()
    return {
        **record,
        "type": MODEL_CALL,
        "kind": "embed",
        "item_count": 1,
        "input_sha256": sha256_text(text),
        "output_sha256": output,
    }


def reranking_call(
    record: dict[str, Any], query: str, passages: Sequence[str], scores: Sequence[float]
) -> dict[str, Any]:
    """The receipt of one reranking.

    The input is the canonical JSON of the hashes of the query and of each passage, the output that of the scores.
    """
    return {
        **record,
        "type": MODEL_CALL,
        "kind": "rerank",
        "item_count": len(passages),
        "input_sha256": canonical_sha256([sha256_text(query), *map(sha256_text, passages)]),
        "output_sha256": canonical_sha256(list(scores)),
    }


@dataclass
class ModelCalls:
    """What one search or question asked of its models.

    ``embedded`` are the texts and their vectors, each text once; ``reranked`` are query, passages and scores;
    ``other`` are finished receipts.
    """

    embedded: dict[str, Vector] = field(default_factory=dict)
    reranked: list[tuple[str, Sequence[str], Sequence[float]]] = field(default_factory=list)
    other: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class ObservedEmbedder:
    """Keeps :class:`~knowledge_index.embed.base.Embedder` over another one, and notes each text with its vector."""

    embedder: Embedder
    calls: ModelCalls

    @property
    def signature(self) -> EmbeddingSignature:
        """The signature of the embedder beneath."""
        return self.embedder.signature

    def model_files(self) -> tuple[ModelFile, ...]:
        """The files of the embedder beneath."""
        return self.embedder.model_files()

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """See :meth:`Embedder.embed`."""
        matrix = self.embedder.embed(texts, on_done)
        self.calls.embedded.update(zip(texts, matrix, strict=True))
        return matrix


@dataclass(frozen=True)
class ObservedReranker:
    """Keeps :class:`~knowledge_index.embed.base.Reranker` over another one, and notes each call."""

    reranker: Reranker
    calls: ModelCalls

    @property
    def name(self) -> str:
        """The name of the reranker beneath."""
        return self.reranker.name

    def model_files(self) -> tuple[ModelFile, ...]:
        """The files of the reranker beneath."""
        return self.reranker.model_files()

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See :meth:`Reranker.score`."""
        scores = self.reranker.score(query, passages)
        if passages:
            self.calls.reranked.append((query, tuple(passages), tuple(scores)))
        return scores
