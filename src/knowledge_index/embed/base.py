"""The contracts of embedders and rerankers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class EmbeddingSignature:
    """What makes two vectors comparable: an index refuses to be read or written with another signature."""

    model: str
    weights_sha256: str
    dimensions: int
    pooling: str
    max_tokens: int

    @property
    def id(self) -> str:
        """One line that names the signature, for storage and messages."""
        return f"{self.model}|{self.weights_sha256}|{self.dimensions}|{self.pooling}|{self.max_tokens}"


class Embedder(Protocol):
    """Makes unit-length vectors; a vector is a function of its text alone, never of its neighbours in a batch."""

    @property
    def signature(self) -> EmbeddingSignature:
        """The signature of the loaded model.

        Raises:
            ModelError: the model cannot be loaded or its weights are not the pinned ones.
        """
        ...

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """Vectors of shape (len(texts), dimensions), float32, unit length.

        ``on_done`` is called with the number of texts finished since its last call.
        """
        ...


class Reranker(Protocol):
    """Scores how well each passage answers a query."""

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, higher is better; comparable within one call only."""
        ...
