"""Asks a question of the small firm, as the commands do."""

from datetime import UTC, datetime

from knowledge_index.access.recording import AccessRecorder, open_recorder
from knowledge_index.answers import Answer, Gateway, answer_question
from knowledge_index.config import AppConfig
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters
from small_firm import SmallFirm


def recorder_of(firm: SmallFirm) -> AccessRecorder:
    return open_recorder(firm.home, AppConfig().audit, "tester", lambda: datetime(2026, 3, 1, tzinfo=UTC))


def asked_of(
    firm: SmallFirm, question: str, caller: str, gateway: Gateway | None = None, matters: tuple[str, ...] = ()
) -> Answer:
    with firm.retrieval() as service:
        return answer_question(
            service,
            recorder_of(firm),
            parse_principals(caller),
            question,
            AppConfig().retrieval,
            SearchFilters(frozenset(matters)),
            gateway=gateway,
        )
