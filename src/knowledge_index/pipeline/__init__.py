"""Takes source objects through convert, relate, enrich and index."""

from knowledge_index.pipeline.relating import renew_relations
from knowledge_index.pipeline.report import RunReport
from knowledge_index.pipeline.run import run_pipeline
from knowledge_index.pipeline.syncing import SourceFailure, configured_sources, grants_of, remove_source, sync_sources

__all__ = [
    "RunReport",
    "SourceFailure",
    "configured_sources",
    "grants_of",
    "remove_source",
    "renew_relations",
    "run_pipeline",
    "sync_sources",
]
