"""Whether a model folder holds a BERT that is known in every detail: told from its files, without loading it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge_index.embed.base import EmbeddingSignature
from knowledge_index.embed.model_files import read_json

_EMBEDDINGS = (
    "embeddings.word_embeddings.weight",
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
    "embeddings.LayerNorm.weight",
    "embeddings.LayerNorm.bias",
)
_LAYER_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
_MODULES = ("Transformer", "Pooling", "Normalize")


@dataclass(frozen=True)
class BertArchitecture:
    """The figures that, with the weights, say what a BERT computes: Devlin et al. 2019, https://arxiv.org/abs/1810.04805.

    Position and type embeddings are learned, the activation is the exact GELU, the layers normalise after they add.
    ``hidden_size`` is the length of a token's vector, ``layer_norm_epsilon`` stands under the root of each
    normalisation, ``max_tokens`` is where a text is cut off, its two marks included.
    """

    layers: int
    heads: int
    hidden_size: int
    layer_norm_epsilon: float
    max_tokens: int

    def tensor_names(self) -> tuple[str, ...]:
        """The weights that the computation takes, by their names in the model's file."""
        layers = [
            f"encoder.layer.{layer}.{part}.{kind}"
            for layer in range(self.layers)
            for part in _LAYER_PARTS
            for kind in ("weight", "bias")
        ]
        return (*_EMBEDDINGS, *layers)


def read_bert_architecture(folder: Path, signature: EmbeddingSignature) -> BertArchitecture | None:
    """The architecture of the mean-pooled BERT in ``folder``, or None where anything in its files says otherwise.

    A setting that is not known here counts as saying otherwise.

    Raises:
        ModelError: a file cannot be read.
    """
    config = read_json(folder / "config.json")
    if not (
        _is_plain_bert(config)
        and _is_plain_pipeline(folder, signature, config["hidden_size"])
        and _is_plain_tokenizer(folder)
    ):
        return None
    architecture = BertArchitecture(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        hidden_size=config["hidden_size"],
        layer_norm_epsilon=config["layer_norm_eps"],
        max_tokens=signature.max_tokens,
    )
    return architecture if _holds_weights(folder, architecture) else None


def _is_plain_bert(config: dict[str, Any]) -> bool:
    figures = ("num_hidden_layers", "num_attention_heads", "hidden_size", "layer_norm_eps")
    return (
        config.get("model_type") == "bert"
        and config.get("architectures") == ["BertModel"]
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not any(config.get(each) for each in ("is_decoder", "add_cross_attention", "quantization_config"))
        and all(each in config for each in figures)
    )


def _is_plain_pipeline(folder: Path, signature: EmbeddingSignature, hidden_size: object) -> bool:
    modules_file = folder / "modules.json"
    modules = read_json(modules_file) if modules_file.exists() else []
    kinds = tuple(str(module["type"]).rpartition(".")[2] for module in modules)
    settings = _read_optional(folder / "sentence_bert_config.json")
    pipeline = _read_optional(folder / "config_sentence_transformers.json")
    return (
        (signature.pooling, signature.dimensions) == ("mean", hidden_size)
        # The vector is brought to unit length in any case, so the last module may be missing.
        and kinds in ((), _MODULES[:2], _MODULES)
        and set(settings) <= {"max_seq_length", "do_lower_case"}
        and not settings.get("do_lower_case")
        and pipeline.get("model_type", "SentenceTransformer") == "SentenceTransformer"
        and pipeline.get("default_prompt_name") is None
    )


def _is_plain_tokenizer(folder: Path) -> bool:
    """Whether ``tokenizer.json`` does what the settings beside it ask for; transformers let these overrule it."""
    file = folder / "tokenizer.json"
    if not file.exists():
        return False
    tokenizer = read_json(file)
    settings = _read_optional(folder / "tokenizer_config.json")
    stated = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": settings.get("tokenize_chinese_chars", True),
        "strip_accents": settings.get("strip_accents"),
        "lowercase": settings.get("do_lower_case", True),
    }
    return (
        settings.get("tokenizer_class") in ("BertTokenizer", "BertTokenizerFast")
        and tokenizer.get("normalizer") == stated
        and tokenizer.get("pre_tokenizer") == {"type": "BertPreTokenizer"}
        and (tokenizer.get("model") or {}).get("type", "WordPiece") == "WordPiece"
        and (tokenizer.get("post_processor") or {}).get("type") in ("TemplateProcessing", "BertProcessing")
    )


def _holds_weights(folder: Path, architecture: BertArchitecture) -> bool:
    file = folder / "model.safetensors"
    if not file.exists():
        return False
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as weights:
            if not set(architecture.tensor_names()) <= set(weights.keys()):
                return False
            if any(weights.get_slice(name).get_dtype() != "F32" for name in architecture.tensor_names()):
                return False
            positions = weights.get_slice("embeddings.position_embeddings.weight").get_shape()
    except SafetensorError:
        return False
    return 0 < architecture.max_tokens <= int(positions[0])


def _read_optional(file: Path) -> dict[str, Any]:
    return read_json(file) if file.exists() else {}
