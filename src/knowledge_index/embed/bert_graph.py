"""The computation of a BERT as an ONNX model, in standard operators alone, its weights left outside.

Operators: https://onnx.ai/onnx/operators/.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from knowledge_index.embed.bert_files import BertArchitecture

_OPSET = 23
_IR_VERSION = 11


def bert_graph(architecture: BertArchitecture, shapes: Mapping[str, Sequence[int]]) -> bytes:
    """A serialised model from ``token_ids``, int64 of shape (tokens,), to ``hidden``, float32 (tokens, hidden size).

    One text, so that nothing is padded and nothing masked. The weights are initializers with external data, float32 of
    ``shapes`` and named as in the model's file; whoever opens a session has to supply them.
    """
    serialised: bytes = _Writer(architecture).model(shapes).SerializeToString()
    return serialised


class _Writer:
    def __init__(self, architecture: BertArchitecture) -> None:
        self._architecture = architecture
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def model(self, shapes: Mapping[str, Sequence[int]]) -> onnx.ModelProto:
        self._write()
        size = self._architecture.hidden_size
        graph = helper.make_graph(
            self._nodes,
            "bert",
            inputs=[helper.make_tensor_value_info("token_ids", onnx.TensorProto.INT64, ["tokens"])],
            outputs=[helper.make_tensor_value_info("hidden", onnx.TensorProto.FLOAT, ["tokens", size])],
            initializer=[*self._constants, *(_external(name, shape) for name, shape in shapes.items())],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)

    def _write(self) -> None:
        self._constant("first", np.array([0]))
        self._constant("type", np.array(0))
        hidden = self._embeddings()
        for layer in range(self._architecture.layers):
            prefix = f"encoder.layer.{layer}."
            attended = self._dense(self._attention(hidden, prefix), prefix + "attention.output.dense")
            hidden = self._normalised_sum(attended, hidden, prefix + "attention.output.LayerNorm")
            wide = self._node("Gelu", [self._dense(hidden, prefix + "intermediate.dense")], prefix + "gelu")
            hidden = self._normalised_sum(
                self._dense(wide, prefix + "output.dense"), hidden, prefix + "output.LayerNorm"
            )
        self._node("Identity", [hidden], "hidden")

    def _embeddings(self) -> str:
        words = self._node("Gather", ["embeddings.word_embeddings.weight", "token_ids"], "words")
        length = self._node("Shape", ["token_ids"], "length")
        positions = self._node(
            "Slice", ["embeddings.position_embeddings.weight", "first", length, "first"], "positions"
        )
        first_type = self._node("Gather", ["embeddings.token_type_embeddings.weight", "type"], "first_type")
        typed = self._node("Add", [words, first_type], "typed_words")
        return self._normalised_sum(typed, positions, "embeddings.LayerNorm")

    def _attention(self, hidden: str, prefix: str) -> str:
        # The operator scales by one over the root of a head's size, as BERT does.
        projections = [
            self._node("Unsqueeze", [self._dense(hidden, f"{prefix}attention.self.{each}"), "first"], prefix + each)
            for each in ("query", "key", "value")
        ]
        heads = self._architecture.heads
        attended = self._node("Attention", projections, prefix + "attention", q_num_heads=heads, kv_num_heads=heads)
        return self._node("Squeeze", [attended, "first"], prefix + "context")

    def _dense(self, value: str, weights: str) -> str:
        return self._node("Gemm", [value, f"{weights}.weight", f"{weights}.bias"], f"{weights}.out", transB=1)

    def _normalised_sum(self, left: str, right: str, weights: str) -> str:
        total = self._node("Add", [left, right], f"{weights}.in")
        return self._node(
            "LayerNormalization",
            [total, f"{weights}.weight", f"{weights}.bias"],
            f"{weights}.out",
            epsilon=self._architecture.layer_norm_epsilon,
        )

    def _constant(self, name: str, value: np.ndarray) -> None:
        self._constants.append(numpy_helper.from_array(value.astype(np.int64), name))

    def _node(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output


def _external(name: str, shape: Sequence[int]) -> onnx.TensorProto:
    tensor = onnx.TensorProto(name=name, data_type=onnx.TensorProto.FLOAT, dims=shape)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    # The standard asks for a location; it is never opened.
    tensor.external_data.add(key="location", value="model.safetensors")
    return tensor
