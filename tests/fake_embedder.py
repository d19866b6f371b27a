"""An embedder that keeps the contract without a model, and counts what it is asked."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from knowledge_index.embed import EmbeddingSignature, Matrix, ModelFile


class FakeEmbedder:
    signature = EmbeddingSignature("fake", "0" * 64, 8, "mean", 256)

    def __init__(self, fail_at: int | None = None) -> None:
        self.asked: list[str] = []
        self._fail_at = fail_at

    def model_files(self) -> tuple[ModelFile, ...]:
        return (ModelFile("model.safetensors", "0" * 64, 1),)

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        vectors = np.empty((len(texts), 8), dtype=np.float32)
        for position, text in enumerate(texts):
            if len(self.asked) == self._fail_at:
                raise KeyboardInterrupt
            self.asked.append(text)
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]
            values = np.frombuffer(digest, dtype=np.uint8).astype(np.float64) + 1
            vectors[position] = values / np.linalg.norm(values)
            if on_done:
                on_done(1)
        return vectors
