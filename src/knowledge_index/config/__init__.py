"""The settings in force, and where each came from."""

from knowledge_index.config.loading import LoadedConfig, load_config
from knowledge_index.config.settings import (
    AppConfig,
    AuditSettings,
    ChunkingSettings,
    ConversionSettings,
    EmbeddingSettings,
    GatewaySettings,
    ModelSettings,
    RetrievalSettings,
)

__all__ = [
    "AppConfig",
    "AuditSettings",
    "ChunkingSettings",
    "ConversionSettings",
    "EmbeddingSettings",
    "GatewaySettings",
    "LoadedConfig",
    "ModelSettings",
    "RetrievalSettings",
    "load_config",
]
