"""Embedders that put a text's meaning into the hidden state of its last token, such as Qwen3-Embedding."""

from pathlib import Path
from typing import Any

import numpy as np

from knowledge_index.config.settings import ModelSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import Vector
from knowledge_index.embed.devices import torch_device, torch_dtype
from knowledge_index.embed.quiet import silence_model_libraries


class LastTokenModel:
    """Keeps :class:`~knowledge_index.embed.base.TextModel`.

    One text at a time, so that nothing is padded and the last token is the last position. The tokenizer ends each text
    with its own mark, and a text that is too long loses its end but not that mark.

    Raises:
        ModelError: the folder cannot be loaded, or the device is not there.
    """

    def __init__(self, folder: Path, max_tokens: int, settings: ModelSettings) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        silence_model_libraries()
        self._torch: Any = torch
        self._device = torch_device(settings)
        self._max_tokens = max_tokens
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            model: Any = AutoModel.from_pretrained(
                str(folder), local_files_only=True, use_safetensors=True, dtype=torch_dtype(settings)
            )
            self._model: Any = model.to(self._device).eval()
            self.encode("probe")
        except Exception as error:
            raise ModelError(f"{folder}: cannot be loaded as a last-token embedder ({error})") from error

    def encode(self, text: str) -> Vector:
        """See :meth:`TextModel.encode`."""
        encoded = self._tokenizer(text, truncation=True, max_length=self._max_tokens, return_tensors="pt")
        with self._torch.inference_mode():
            hidden = self._model(
                input_ids=encoded["input_ids"].to(self._device),
                attention_mask=encoded["attention_mask"].to(self._device),
                use_cache=False,
            ).last_hidden_state
        last = hidden[0, -1].float().cpu().numpy().astype(np.float64)
        vector: Vector = (last / np.linalg.norm(last)).astype(np.float32)
        return vector
