"""Answers searches within a caller's scope."""

from knowledge_index.retrieval.audited import search_as, search_deleted_as, show_as
from knowledge_index.retrieval.deleted_wording import DeletedWording, search_deleted
from knowledge_index.retrieval.opening import open_retrieval
from knowledge_index.retrieval.service import RetrievalService
from knowledge_index.retrieval.showing import ShownPassage, show_hit
from knowledge_index.retrieval.states import ShownChanges, ShownState, show_changes, show_state
from knowledge_index.retrieval.threads import ShownMail, show_thread
from knowledge_index.retrieval.versions import ChainVersion, VersionChain, VersionLink, list_versions

__all__ = [
    "ChainVersion",
    "DeletedWording",
    "RetrievalService",
    "ShownChanges",
    "ShownMail",
    "ShownPassage",
    "ShownState",
    "VersionChain",
    "VersionLink",
    "list_versions",
    "open_retrieval",
    "search_as",
    "search_deleted",
    "search_deleted_as",
    "show_as",
    "show_changes",
    "show_hit",
    "show_state",
    "show_thread",
]
