"""A mean-pooled BERT that ONNX Runtime computes, from a graph that is put together around the model's own weights.

It needs no PyTorch, and nothing is exported or kept: the graph is written in milliseconds at each start, and its
weights are read from the pinned file itself, so that no second form of the model can grow stale or be tampered with.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import Vector
from knowledge_index.embed.bert_files import BertArchitecture

_LOG_ERRORS_ONLY = 3


class OnnxBert:
    """Keeps :class:`~knowledge_index.embed.base.TextModel`.

    Raises:
        ModelError: the folder cannot be loaded.
    """

    def __init__(self, folder: Path, architecture: BertArchitecture) -> None:
        # Builds newer than the declared ones send usage data to their maker from the import on, unless told not to.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        from onnxruntime import InferenceSession, OrtValue, SessionOptions, set_default_logger_severity
        from safetensors import safe_open
        from tokenizers import Tokenizer

        from knowledge_index.embed.bert_graph import bert_graph

        set_default_logger_severity(_LOG_ERRORS_ONLY)
        options = SessionOptions()
        # On one thread the bits cannot depend on how work was shared out; texts run side by side instead.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        names = list(architecture.tensor_names())
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(architecture.max_tokens)
            with safe_open(folder / "model.safetensors", "np") as weights:
                tensors = {name: weights.get_tensor(name) for name in names}
            # The session reads these buffers in place, so they have to outlive it.
            self._weights = [OrtValue.ortvalue_from_numpy(tensors[name]) for name in names]
            options.add_external_initializers(names, self._weights)
            shapes = {name: tensor.shape for name, tensor in tensors.items()}
            self._session: Any = InferenceSession(
                bert_graph(architecture, shapes), options, providers=["CPUExecutionProvider"]
            )
            self.encode("probe")
        except Exception as error:
            raise ModelError(
                f"{folder}: cannot be loaded as a BERT model ({error}): install it anew, or name another "
                "embedding.model"
            ) from error

    def encode(self, text: str) -> Vector:
        """See :meth:`TextModel.encode`."""
        token_ids = np.asarray(self._tokenizer.encode(text).ids, dtype=np.int64)
        (hidden,) = self._session.run(None, {"token_ids": token_ids})
        mean = hidden.mean(axis=0, dtype=np.float64)
        vector: Vector = (mean / np.linalg.norm(mean)).astype(np.float32)
        return vector
