"""Takes source objects through convert, relate, enrich and index."""

from knowledge_index.pipeline.relating import renew_relations
from knowledge_index.pipeline.report import RunReport
from knowledge_index.pipeline.run import run_pipeline

__all__ = ["RunReport", "renew_relations", "run_pipeline"]
