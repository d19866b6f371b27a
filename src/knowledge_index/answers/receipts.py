"""Answers with a receipt: of the passages that were read, the words that were cited, and every model that was asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge_index.access.recording import AccessRecorder
from knowledge_index.answers.answer import Answer, Draft, Evidence
from knowledge_index.answers.gateway import Gateway
from knowledge_index.answers.service import answer_question
from knowledge_index.answers.validator import Fault
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.evidence.canonical import canonical_sha256
from knowledge_index.evidence.issuing import Answered, Asked, CitedPlace, ReceiptIssuer
from knowledge_index.evidence.model_calls import MODEL_CALL, ModelCalls
from knowledge_index.retrieval import RetrievalService
from knowledge_index.retrieval.receipts import observed


@dataclass(frozen=True)
class ReceiptedAnswer:
    """An answer, the passages that it was made from, in the order of the receipt's results, and the receipt."""

    answer: Answer
    hits: tuple[SearchHit, ...]
    receipt: bytes


def answer_with_receipt(
    service: RetrievalService,
    recorder: AccessRecorder,
    issuer: ReceiptIssuer,
    principals: frozenset[Principal],
    question: str,
    settings: RetrievalSettings,
    filters: SearchFilters,
    limit: int,
    gateway: Gateway | None,
) -> ReceiptedAnswer:
    """What ``answer_question`` returns, and its receipt: its results are the passages that were read, in their order.

    Raises:
        AuditLogError: it could not be recorded, so nothing is returned.
        KnowledgeIndexError: as :meth:`ReceiptIssuer.issue`; nothing is returned without its receipt either.
    """
    watched = observed(service)
    through = (
        None if gateway is None else _ObservedGateway(gateway.settings, gateway.key, inner=gateway, calls=watched.calls)
    )
    answer = answer_question(watched, recorder, principals, question, settings, filters, limit, through)
    hits = tuple(watched.seen[hit_id] for hit_id in answer.searched.passages)
    receipt = issuer.issue(
        service.catalog,
        recorder,
        watched.scopes[-1],
        Asked("ask", question, settings, filters, limit),
        hits,
        watched.calls,
        service.embedder,
        service.reranker if settings.rerank_enabled else None,
        Answered(
            str(answer.kind),
            answer.text,
            tuple(CitedPlace(each.hit_id, each.start_char, each.end_char) for each in answer.citations),
        ),
    )
    return ReceiptedAnswer(answer, hits, receipt)


@dataclass(frozen=True)
class _ObservedGateway(Gateway):
    """A gateway whose drafts are noted; nobody here has seen the weights of its model."""

    inner: Gateway = field(kw_only=True)
    calls: ModelCalls = field(kw_only=True)

    def draft_answer(self, question: str, retrieved: Sequence[Evidence], faults: Sequence[Fault]) -> Draft:
        """See :meth:`Gateway.draft_answer`."""
        draft = self.inner.draft_answer(question, retrieved, faults)
        asked = [question, *(each.text for each in retrieved), *(each.reason for each in faults)]
        said = [[each.text, *(span.quoted for span in each.spans)] for each in draft.sentences]
        self.calls.other.append(
            {
                "type": MODEL_CALL,
                "kind": "answer",
                "model": str(self.settings.model),
                "weights_root": None,
                "parameters": {"max_tokens": self.settings.max_tokens, "temperature": 0},
                "item_count": 1,
                "input_sha256": canonical_sha256([sha256_text(each) for each in asked]),
                "output_sha256": canonical_sha256([[sha256_text(each) for each in sentence] for sentence in said]),
            }
        )
        return draft
