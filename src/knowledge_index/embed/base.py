"""The contracts of embedders and rerankers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


class Runtime(StrEnum):
    """What computes a model.

    Two runtimes make vectors of the same weights that agree to rounding and not to the bit, so a signature names its
    runtime, and no cache or index ever mixes them. ``ONNX_BERT`` ends in the revision of the graph: whoever changes
    what it computes, be it in the last bit, raises it.
    """

    ONNX_BERT = "onnx-bert-1"
    SENTENCE_TRANSFORMERS = "sentence-transformers"
    LAST_TOKEN = "last-token"


@dataclass(frozen=True)
class EmbeddingSignature:
    """What makes two vectors comparable: an index refuses to be read or written with another signature."""

    model: str
    weights_sha256: str
    dimensions: int
    pooling: str
    max_tokens: int
    runtime: Runtime = Runtime.SENTENCE_TRANSFORMERS
    computed_on: str = "cpu float32"

    @property
    def id(self) -> str:
        """One line that names the signature, for storage and messages."""
        name = f"{self.model}|{self.weights_sha256}|{self.dimensions}|{self.pooling}|{self.max_tokens}|{self.runtime}"
        # Left out where it is what it always was, so that vectors that were paid for stay known.
        return name if self.computed_on == "cpu float32" else f"{name}|{self.computed_on}"


@dataclass(frozen=True)
class ModelFile:
    """One file of a loaded model: its path in the model's folder, with ``/``, and what its bytes hash to (hex)."""

    path: str
    sha256: str
    size_bytes: int


class TextModel(Protocol):
    """A loaded model. May be called from several threads at once."""

    def encode(self, text: str) -> Vector:
        """The text's vector of unit length; a function of the text alone."""
        ...


class Embedder(Protocol):
    """Makes unit-length vectors; a vector is a function of its text alone, never of its neighbours in a batch."""

    @property
    def signature(self) -> EmbeddingSignature:
        """The signature of the loaded model.

        Raises:
            ModelError: the model cannot be loaded or its weights are not the pinned ones.
        """
        ...

    def model_files(self) -> tuple[ModelFile, ...]:
        """The files that the loaded model is read from, by path.

        Raises:
            ModelError: as :attr:`signature`.
        """
        ...

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """Vectors of shape (len(texts), dimensions), float32, unit length.

        ``on_done`` is called with the number of texts finished since its last call.
        """
        ...


class Reranker(Protocol):
    """Scores how well each passage answers a query."""

    @property
    def name(self) -> str:
        """The model's name as the settings have it."""
        ...

    def model_files(self) -> tuple[ModelFile, ...]:
        """See :meth:`Embedder.model_files`."""
        ...

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, higher is better; comparable within one call only."""
        ...
