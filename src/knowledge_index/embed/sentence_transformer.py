"""A model that sentence-transformers computes."""

from pathlib import Path
from typing import Any

import numpy as np

from knowledge_index.config.settings import CPU_FLOAT32, ModelSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import Vector
from knowledge_index.embed.devices import torch_device, torch_dtype
from knowledge_index.embed.quiet import silence_model_libraries


class SentenceTransformerModel:
    """Keeps :class:`~knowledge_index.embed.base.TextModel`.

    Raises:
        ModelError: the folder cannot be loaded, or its files do not agree on ``dimensions``.
    """

    def __init__(self, folder: Path, dimensions: int, settings: ModelSettings = CPU_FLOAT32) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        silence_model_libraries()
        self._float32: Any = torch.float32
        # Threads over texts beat threads inside one text: 2 by 1 embeds half as much again as 1 by 2.
        torch.set_num_threads(1)
        try:
            self._model: Any = SentenceTransformer(
                str(folder),
                device=torch_device(settings),
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": torch_dtype(settings)},
            )
            # The first call sets the tokenizer's truncation, which no two threads may do at once.
            probe = self.encode("probe")
        except Exception as error:
            raise ModelError(
                f"{folder}: cannot be loaded as a sentence-transformers model ({error}): name another embedding.model"
            ) from error
        if probe.shape != (dimensions,):
            raise ModelError(
                f"{folder}: makes vectors of {probe.shape[0]} dimensions where its files say {dimensions}: "
                "the model folder is not consistent, install it anew"
            )

    def encode(self, text: str) -> Vector:
        """See :meth:`TextModel.encode`."""
        encoded = self._model.encode([text], normalize_embeddings=True, convert_to_tensor=True, show_progress_bar=False)
        # NumPy has no bfloat16, and a unit vector rounded to it is one no more.
        numbers = encoded[0].float().cpu().numpy().astype(np.float32)
        vector: Vector = numbers / np.linalg.norm(numbers) if encoded.dtype != self._float32 else numbers
        return vector
