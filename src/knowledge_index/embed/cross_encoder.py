"""Reranking with a sentence-transformers cross-encoder."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from knowledge_index.config.settings import CPU_FLOAT32, ModelSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import ModelFile
from knowledge_index.embed.devices import torch_device, torch_dtype
from knowledge_index.embed.model_files import model_folder, snapshot_files, weights_sha256
from knowledge_index.embed.quiet import silence_model_libraries


class CrossEncoderReranker:
    """Keeps :class:`~knowledge_index.embed.base.Reranker`; ``model`` is a local folder or a hub name, loaded lazily."""

    def __init__(self, model: str, settings: ModelSettings = CPU_FLOAT32) -> None:
        self._name = model
        self._settings = settings
        self._lock = threading.Lock()
        self._model: Any = None
        self._files: tuple[ModelFile, ...] | None = None

    @property
    def name(self) -> str:
        """See :attr:`Reranker.name`; a local model is named by its folder's last part."""
        folder = Path(self._name).expanduser()
        return folder.resolve().name if folder.is_dir() else self._name

    def model_files(self) -> tuple[ModelFile, ...]:
        """See :meth:`Reranker.model_files`; hashed once, as long as the model stays loaded."""
        if self._files is None:
            self._files = snapshot_files(model_folder(self._name))
        return self._files

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See :meth:`Reranker.score`; pairs are scored one at a time, so that neighbours do not change a score.

        Raises:
            ModelError: the model cannot be had, or does not give one score a pair.
        """
        if not passages:
            return []
        self._load()
        pairs = [(_encodable(query), _encodable(passage)) for passage in passages]
        return [float(score) for score in self._model.predict(pairs, batch_size=1, show_progress_bar=False)]

    def _load(self) -> None:
        with self._lock:
            if self._model is not None:
                return
            folder = model_folder(self._name)
            # Refuses a folder without safetensors before a model library is imported.
            weights_sha256(folder)
            from sentence_transformers import CrossEncoder

            silence_model_libraries()
            try:
                model = CrossEncoder(
                    str(folder),
                    device=torch_device(self._settings),
                    local_files_only=True,
                    model_kwargs={"use_safetensors": True, "dtype": torch_dtype(self._settings)},
                )
                labels = int(model.num_labels)
            except Exception as error:
                raise ModelError(
                    f"{folder}: cannot be loaded as a cross-encoder ({error}): name another retrieval.rerank_model"
                ) from error
            if labels != 1:
                raise ModelError(
                    f"{folder}: gives {labels} labels a pair, not one score: name a cross-encoder made for ranking"
                )
            self._model = model


def _encodable(text: str) -> str:
    # The tokenizer takes no lone surrogates.
    return text.encode("utf-8", "replace").decode("utf-8")
