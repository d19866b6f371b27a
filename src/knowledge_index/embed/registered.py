"""Opens registered models in their cards' own form, from weights that are on this machine."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from knowledge_index.config.settings import DEFAULT_EMBEDDING_MODEL, EmbeddingSettings, ModelSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import Embedder, EmbeddingSignature, Matrix, ModelFile, Reranker, Runtime, TextModel
from knowledge_index.embed.model_embedder import LocatedModel, ModelEmbedder, locate_model
from knowledge_index.embed.model_files import model_folder, read_json, read_signature, weights_sha256
from knowledge_index.embed.registry import (
    AskedModel,
    EmbedderCard,
    EmbedderFamily,
    RerankerCard,
    RerankerFamily,
)


class PromptedEmbedder:
    """Keeps :class:`~knowledge_index.embed.base.Embedder` over another one; ``prompt`` goes before each text.

    What lies beneath is given the whole text, so a cache there tells queries from documents by their prompts.
    """

    def __init__(self, embedder: Embedder, prompt: str) -> None:
        self._embedder = embedder
        self._prompt = prompt

    @property
    def signature(self) -> EmbeddingSignature:
        """The signature of the embedder beneath."""
        return self._embedder.signature

    def model_files(self) -> tuple[ModelFile, ...]:
        """The files of the embedder beneath."""
        return self._embedder.model_files()

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """See :meth:`Embedder.embed`."""
        return self._embedder.embed([self._prompt + text for text in texts], on_done)


def open_embedder(card: EmbedderCard, asked: AskedModel, settings: ModelSettings, threads: int) -> Embedder:
    """The embedder of a card, without prompts: :class:`PromptedEmbedder` adds the card's.

    On the CPU in float32 a model is computed as searches compute it.

    Raises:
        ModelError: its weights are not on this machine, or not of the form that the card states.
    """
    folder = _folder(card.name, asked.folder)
    is_packaged = asked.folder is None and card.name == DEFAULT_EMBEDDING_MODEL
    base = EmbeddingSettings(
        model=card.name if is_packaged else str(folder),
        weights_sha256=None,
        # Threads over texts are for cores; one device is not faster for two callers.
        threads=threads if settings.device == "cpu" else 1,
    )
    embedder = ModelEmbedder(base, lambda each: _locate(card, each, folder, settings))
    # Raises here, before anything is computed.
    _ = embedder.signature
    return embedder


def open_reranker(card: RerankerCard, asked: AskedModel, settings: ModelSettings) -> Reranker:
    """The reranker of a card; loaded at the first score.

    Raises:
        ModelError: its weights are not on this machine.
    """
    folder = _folder(card.name, asked.folder)
    weights_sha256(folder)
    if card.family is RerankerFamily.YES_NO:
        from knowledge_index.embed.yes_no_reranker import YesNoReranker

        return YesNoReranker(card, folder, settings)
    from knowledge_index.embed.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(str(folder), settings)


def _folder(name: str, folder: Path | None) -> Path:
    if folder is None:
        return model_folder(name, download=False)
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no such folder; name the one that holds the weights of '{name}'")
    return folder


def _locate(card: EmbedderCard, base: EmbeddingSettings, folder: Path, settings: ModelSettings) -> LocatedModel:
    computed_on = f"{settings.device} {settings.precision}"
    if card.family is EmbedderFamily.LAST_TOKEN:
        assert card.max_tokens is not None, "the registry refuses such a card"
        signature = EmbeddingSignature(
            model=card.name,
            weights_sha256=weights_sha256(folder),
            dimensions=int(read_json(folder / "config.json").get("hidden_size", 0)),
            pooling=card.pooling,
            max_tokens=card.max_tokens,
            runtime=Runtime.LAST_TOKEN,
            computed_on=computed_on,
        )
        return LocatedModel(folder, signature, lambda: _last_token(folder, card, settings))
    if computed_on == "cpu float32":
        located = locate_model(base)
    else:
        signature = dataclasses.replace(read_signature(base, folder), computed_on=computed_on)
        located = LocatedModel(folder, signature, lambda: _on_device(folder, signature.dimensions, settings))
    if located.signature.pooling != card.pooling:
        raise ModelError(
            f"{folder}: states {located.signature.pooling} pooling where the card of '{card.name}' has {card.pooling}: "
            "these are not the weights of that model, or the folder is not complete"
        )
    return located


def _last_token(folder: Path, card: EmbedderCard, settings: ModelSettings) -> TextModel:
    from knowledge_index.embed.last_token import LastTokenModel

    assert card.max_tokens is not None
    return LastTokenModel(folder, card.max_tokens, settings)


def _on_device(folder: Path, dimensions: int, settings: ModelSettings) -> TextModel:
    from knowledge_index.embed.sentence_transformer import SentenceTransformerModel

    return SentenceTransformerModel(folder, dimensions, settings)
