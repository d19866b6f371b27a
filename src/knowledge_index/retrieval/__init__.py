"""Answers searches within a caller's scope."""

from knowledge_index.retrieval.opening import open_retrieval
from knowledge_index.retrieval.service import RetrievalService
from knowledge_index.retrieval.showing import ShownPassage, show_hit
from knowledge_index.retrieval.threads import ShownMail, show_thread

__all__ = ["RetrievalService", "ShownMail", "ShownPassage", "open_retrieval", "show_hit", "show_thread"]
