"""Embeddings on the CPU, by the runtime that the model's files allow."""

import dataclasses
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from knowledge_index.config.settings import EmbeddingSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import EmbeddingSignature, Matrix, ModelFile, Runtime, TextModel, Vector
from knowledge_index.embed.bert_files import BertArchitecture, read_bert_architecture
from knowledge_index.embed.model_files import model_folder, read_signature, snapshot_files

_UNIT_TOLERANCE = 1e-5


@dataclass(frozen=True)
class LocatedModel:
    """A model that was found and not loaded yet."""

    folder: Path
    signature: EmbeddingSignature
    load: Callable[[], TextModel]


class ModelEmbedder:
    """Keeps :class:`~knowledge_index.embed.base.Embedder`.

    A BERT whose files say nothing unknown is computed by ONNX Runtime, every other model by sentence-transformers. The
    signature is read from the model's files; the model itself is loaded at the first text. Texts go through it one at
    a time, since a batch's padding changes the last bits, ``settings.threads`` of them side by side.
    """

    def __init__(
        self, settings: EmbeddingSettings, locate: Callable[[EmbeddingSettings], LocatedModel] | None = None
    ) -> None:
        self._settings = settings
        self._locator = locate or locate_model
        self._lock = threading.Lock()
        self._found: LocatedModel | None = None
        self._model: TextModel | None = None
        self._files: tuple[ModelFile, ...] | None = None

    @property
    def signature(self) -> EmbeddingSignature:
        """See :attr:`Embedder.signature`; needs a tenth of a second for 90 MB of weights, and no model library."""
        return self._locate().signature

    def model_files(self) -> tuple[ModelFile, ...]:
        """See :meth:`Embedder.model_files`; hashed once, as long as the model stays loaded."""
        if self._files is None:
            self._files = snapshot_files(self._locate().folder)
        return self._files

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """See :meth:`Embedder.embed`; ``on_done`` is called from the calling thread.

        Raises:
            ModelError: the model cannot be loaded, or makes something that is no unit vector.
        """
        vectors = np.empty((len(texts), self.signature.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        model = self._load()

        def encode(text: str) -> Vector:
            # No tokenizer takes lone surrogates.
            return self._checked(model.encode(text.encode("utf-8", "replace").decode("utf-8")))

        if len(texts) == 1:
            vectors[0] = encode(texts[0])
            if on_done:
                on_done(1)
            return vectors
        executor = ThreadPoolExecutor(self._settings.threads, thread_name_prefix="embed")
        try:
            for position, vector in enumerate(executor.map(encode, texts)):
                vectors[position] = vector
                if on_done:
                    on_done(1)
        finally:
            # An interrupt is not to wait for the texts that are still queued.
            executor.shutdown(cancel_futures=True)
        return vectors

    def _checked(self, vector: Vector) -> Vector:
        length = float(np.linalg.norm(vector.astype(np.float64)))
        if not abs(length - 1.0) <= _UNIT_TOLERANCE:
            raise ModelError(
                f"model '{self._settings.model}' made a vector of length {length} instead of 1: name another"
            )
        return vector

    def _locate(self) -> LocatedModel:
        if self._found is None:
            self._found = self._locator(self._settings)
        return self._found

    def _load(self) -> TextModel:
        located = self._locate()
        with self._lock:
            if self._model is None:
                self._model = located.load()
            return self._model


def locate_model(settings: EmbeddingSettings) -> LocatedModel:
    """The model that the settings name, by the runtime that its files allow.

    Raises:
        ModelError: it cannot be had, or its weights are not the pinned ones.
    """
    folder = model_folder(settings.model)
    signature = read_signature(settings, folder)
    architecture = read_bert_architecture(folder, signature)
    if architecture is not None:
        signature = dataclasses.replace(signature, runtime=Runtime.ONNX_BERT)
    return LocatedModel(folder, signature, lambda: _load_model(folder, signature, architecture))


def _load_model(folder: Path, signature: EmbeddingSignature, architecture: BertArchitecture | None) -> TextModel:
    if architecture is not None:
        from knowledge_index.embed.onnx_bert import OnnxBert

        return OnnxBert(folder, architecture)
    from knowledge_index.embed.sentence_transformer import SentenceTransformerModel

    return SentenceTransformerModel(folder, signature.dimensions)
