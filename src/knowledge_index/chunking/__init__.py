"""Text becomes chunks with offsets: clause-aware, or fixed windows."""

from knowledge_index.chunking.base import Chunker
from knowledge_index.chunking.clause import ClauseChunker
from knowledge_index.chunking.fixed import FixedWindowChunker
from knowledge_index.config import ChunkingSettings

__all__ = ["build_chunker"]


def build_chunker(settings: ChunkingSettings) -> Chunker:
    """The chunker that the settings name."""
    if settings.strategy == "fixed":
        return FixedWindowChunker(settings.fixed_window_chars, settings.fixed_overlap_chars)
    return ClauseChunker(settings.clause_min_chars, settings.clause_max_chars)
