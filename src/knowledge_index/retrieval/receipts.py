"""Searches with a receipt: as the audited ones, with all that they asked of their models noted."""

from dataclasses import dataclass, field, fields
from typing import Any

from knowledge_index.access.recording import AccessRecorder
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters, SearchHit, SearchResult
from knowledge_index.evidence.issuing import Asked, ReceiptIssuer
from knowledge_index.evidence.model_calls import ModelCalls, ObservedEmbedder, ObservedReranker
from knowledge_index.retrieval.audited import search_as
from knowledge_index.retrieval.service import RetrievalService


@dataclass(frozen=True)
class ObservedService(RetrievalService):
    """A service that notes its model calls, and the hits (by their ids) and scopes of its searches; for one request."""

    calls: ModelCalls = field(default_factory=ModelCalls)
    seen: dict[str, SearchHit] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=list)

    def search(
        self, query: str, scope: Scope, settings: RetrievalSettings, filters: SearchFilters, limit: int
    ) -> SearchResult:
        """See :meth:`RetrievalService.search`."""
        result = super().search(query, scope, settings, filters, limit)
        self.scopes.append(scope)
        for hit in result.hits:
            self.seen.setdefault(hit.hit_id, hit)
        return result


def observed(service: RetrievalService) -> ObservedService:
    """The same service, observed."""
    calls = ModelCalls()
    parts: dict[str, Any] = {each.name: getattr(service, each.name) for each in fields(service)}
    parts["embedder"] = ObservedEmbedder(service.embedder, calls)
    parts["wordings"] = ObservedEmbedder(service.wordings, calls)
    parts["reranker"] = None if service.reranker is None else ObservedReranker(service.reranker, calls)
    return ObservedService(**parts, calls=calls)


def search_with_receipt_as(
    service: RetrievalService,
    recorder: AccessRecorder,
    issuer: ReceiptIssuer,
    principals: frozenset[Principal],
    query: str,
    settings: RetrievalSettings,
    filters: SearchFilters,
    limit: int,
) -> tuple[SearchResult, bytes]:
    """What ``search_as`` returns, and its receipt.

    Raises:
        AuditLogError: the search could not be recorded, so nothing is returned.
        KnowledgeIndexError: as :meth:`ReceiptIssuer.issue`; nothing is returned without its receipt either.
    """
    watched = observed(service)
    result = search_as(watched, recorder, principals, query, settings, filters, limit)
    receipt = issuer.issue(
        service.catalog,
        recorder,
        watched.scopes[-1],
        Asked("search", query, settings, filters, limit),
        result.hits,
        watched.calls,
        service.embedder,
        service.reranker if settings.rerank_enabled else None,
    )
    return result, receipt
