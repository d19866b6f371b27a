"""Puts together what an evaluation works on, from an installation's own retrieval."""

import dataclasses
import time
from collections.abc import Collection, Sequence

from knowledge_index.access import compile_scope
from knowledge_index.benchmark.coverage import UnsearchablePath
from knowledge_index.benchmark.evaluation import EvaluationServices
from knowledge_index.benchmark.manifest import corpus_sha256_of
from knowledge_index.catalog import Catalog
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.embed import MemoisedEmbedder
from knowledge_index.retrieval import RetrievalService


def evaluation_services(service: RetrievalService) -> EvaluationServices:
    """The service as users have it, and the same one with remembered query vectors for the wall probes."""
    catalog = service.catalog

    def scope_of(principals: frozenset[Principal]) -> Scope:
        with catalog.transaction() as session:
            return compile_scope(session, principals)

    with catalog.transaction() as session:
        grants = session.acl_classes.grants_by_path()
        member_of = {each.principal: each.member_of for each in session.principals.all()}
        corpora = frozenset(
            corpus_sha256_of({each.path: each.blob_sha256 for each in session.objects.current(source.id)})
            for source in session.sources.all()
        )
    return EvaluationServices(
        search=service,
        probe_search=dataclasses.replace(service, embedder=MemoisedEmbedder(service.embedder)),
        compile_scope=scope_of,
        coverage=_CatalogCoverage(catalog),
        grants=grants,
        member_of=member_of,
        corpora=corpora,
        index_signature=service.embedder.signature.id,
        clock=time.perf_counter,
    )


class _CatalogCoverage:
    """Asks the catalog which paths no search can find; keeps ``CoverageCheck``."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def unsearchable(self, paths: Collection[str]) -> Sequence[UnsearchablePath]:
        with self._catalog.transaction() as session:
            return [UnsearchablePath(each.path, each.reason) for each in session.status.unsearchable(paths)]
