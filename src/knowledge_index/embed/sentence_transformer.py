"""Embeddings from a sentence-transformers model on the CPU."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from knowledge_index.config.settings import EmbeddingSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import EmbeddingSignature, Matrix, Vector
from knowledge_index.embed.model_files import model_folder, read_signature
from knowledge_index.embed.quiet import silence_model_libraries

_UNIT_TOLERANCE = 1e-5


class SentenceTransformerEmbedder:
    """Keeps :class:`~knowledge_index.embed.base.Embedder`.

    The signature is read from the model's files; the model itself is loaded at the first text. Texts go through it one
    at a time, since a batch's padding changes the last bits, ``settings.threads`` of them side by side.
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._located: tuple[Path, EmbeddingSignature] | None = None
        self._model: Any = None

    @property
    def signature(self) -> EmbeddingSignature:
        """See :attr:`Embedder.signature`; needs a tenth of a second for 90 MB of weights, and no model library."""
        return self._locate()[1]

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """See :meth:`Embedder.embed`; ``on_done`` is called from the calling thread.

        Raises:
            ModelError: the model cannot be loaded, or makes something that is no unit vector.
        """
        signature = self.signature
        vectors = np.empty((len(texts), signature.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        self._load()
        if len(texts) == 1:
            vectors[0] = self._embed_one(texts[0])
            if on_done:
                on_done(1)
            return vectors
        executor = ThreadPoolExecutor(self._settings.threads, thread_name_prefix="embed")
        try:
            for position, vector in enumerate(executor.map(self._embed_one, texts)):
                vectors[position] = vector
                if on_done:
                    on_done(1)
        finally:
            # An interrupt is not to wait for the texts that are still queued.
            executor.shutdown(cancel_futures=True)
        return vectors

    def _embed_one(self, text: str) -> Vector:
        # The tokenizer takes no lone surrogates.
        encodable = text.encode("utf-8", "replace").decode("utf-8")
        encoded = self._model.encode(
            [encodable], normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        vector: Vector = encoded[0].astype(np.float32)
        length = float(np.linalg.norm(vector.astype(np.float64)))
        if not abs(length - 1.0) <= _UNIT_TOLERANCE:
            raise ModelError(
                f"model '{self._settings.model}' made a vector of length {length} instead of 1: name another"
            )
        return vector

    def _locate(self) -> tuple[Path, EmbeddingSignature]:
        if self._located is None:
            folder = model_folder(self._settings.model)
            self._located = (folder, read_signature(self._settings, folder))
        return self._located

    def _load(self) -> None:
        folder, signature = self._locate()
        with self._lock:
            if self._model is not None:
                return
            import torch
            from sentence_transformers import SentenceTransformer

            silence_model_libraries()
            # Threads over texts beat threads inside one text: 2 by 1 embeds half as much again as 1 by 2.
            torch.set_num_threads(1)
            try:
                model = SentenceTransformer(
                    str(folder), device="cpu", local_files_only=True, model_kwargs={"use_safetensors": True}
                )
                # The first call sets the tokenizer's truncation, which no two threads may do at once.
                probe = model.encode(["probe"], convert_to_numpy=True, show_progress_bar=False)
            except Exception as error:
                raise ModelError(
                    f"{folder}: cannot be loaded as a sentence-transformers model ({error}): "
                    "name another embedding.model"
                ) from error
            if probe.shape != (1, signature.dimensions):
                raise ModelError(
                    f"{folder}: makes vectors of {probe.shape[1]} dimensions where its files say "
                    f"{signature.dimensions}: the model folder is not consistent, install it anew"
                )
            self._model = model
