"""How does text become a vector, and how is a passage judged against a query? Embedders and rerankers."""

from knowledge_index.config.settings import EmbeddingSettings, RetrievalSettings
from knowledge_index.embed.base import Embedder, EmbeddingSignature, Matrix, ModelFile, Reranker, Vector
from knowledge_index.embed.model_files import weights_root
from knowledge_index.embed.vector_cache import CachedEmbedder, MemoisedEmbedder, VectorCache

__all__ = [
    "CachedEmbedder",
    "Embedder",
    "EmbeddingSignature",
    "Matrix",
    "MemoisedEmbedder",
    "ModelFile",
    "Reranker",
    "Vector",
    "VectorCache",
    "build_embedder",
    "build_reranker",
    "weights_root",
]


def build_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder that the settings name; nothing is loaded before it is asked for something."""
    from knowledge_index.embed.model_embedder import ModelEmbedder

    return ModelEmbedder(settings)


def build_reranker(settings: RetrievalSettings) -> Reranker | None:
    """The reranker that the settings name, or None where reranking is off; nothing is loaded yet."""
    if not settings.rerank_enabled or settings.rerank_model is None:
        return None
    from knowledge_index.embed.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(settings.rerank_model)
