"""Answers searches within a caller's scope."""

from knowledge_index.retrieval.opening import open_retrieval
from knowledge_index.retrieval.service import RetrievalService
from knowledge_index.retrieval.showing import ShownPassage, show_hit
from knowledge_index.retrieval.versions import ChainVersion, VersionChain, VersionLink, list_versions

__all__ = [
    "ChainVersion",
    "RetrievalService",
    "ShownPassage",
    "VersionChain",
    "VersionLink",
    "list_versions",
    "open_retrieval",
    "show_hit",
]
