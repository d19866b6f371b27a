"""Answers searches within a caller's scope."""

from knowledge_index.retrieval.audited import search_as, show_as
from knowledge_index.retrieval.opening import open_retrieval
from knowledge_index.retrieval.service import RetrievalService
from knowledge_index.retrieval.showing import ShownPassage, show_hit

__all__ = ["RetrievalService", "ShownPassage", "open_retrieval", "search_as", "show_as", "show_hit"]
