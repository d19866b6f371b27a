"""The tools themselves: ``ask`` where questions are answered, and failures that tell a caller nothing."""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.config import AppConfig
from knowledge_index.domain.principals import Principal, parse_principals
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.evidence.issuing import open_issuer
from knowledge_index.evidence.keys import parse_trusted_keys
from knowledge_index.evidence.verifying import verify_receipt
from knowledge_index.retrieval import search_as
from knowledge_index.serve.calling import new_runner
from knowledge_index.serve.mcp_server import UNAVAILABLE, build_server
from knowledge_index.serve.tools import Caller, Toolbox
from small_firm import CORPORATE, SUPPLY_FINAL, SmallFirm

CALLER = Caller(parse_principals(CORPORATE), (("door", "test"),))


@dataclass(frozen=True)
class Quoting:
    """Keeps ``CitedWords`` for a hit cited whole."""

    hit: SearchHit
    number: int = 1
    is_opposing: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.hit, "passage" if name == "quoted" else name)


@dataclass(frozen=True)
class Quoted:
    """Keeps ``CheckedAnswer``."""

    kind: str
    text: str
    citations: tuple[Quoting, ...]
    notes: tuple[str, ...] = ()


@pytest.fixture
def recorder(tmp_path: Path) -> AccessRecorder:
    log = AuditLog(tmp_path / "log" / "audit.jsonl")
    return AccessRecorder(log, b"key", False, "tester", lambda: datetime(2026, 3, 2, 9, tzinfo=UTC))


def call(toolbox: Toolbox, tool: str, **arguments: object) -> Any:
    async def ask() -> Any:
        async with Client(build_server(toolbox, runner, lambda _request: CALLER)) as client:
            return await client.call_tool(tool, arguments)

    runner = new_runner()
    try:
        return asyncio.run(ask())
    finally:
        runner.close()


def test_ask_returns_a_checked_answer_with_its_citations(shared_firm: SmallFirm, recorder: AccessRecorder) -> None:
    with shared_firm.retrieval() as service:
        settings = AppConfig().retrieval

        def answerer(
            given: AccessRecorder, principals: frozenset[Principal], question: str, filters: SearchFilters
        ) -> Quoted:
            assert (principals, filters.matter_refs) == (CALLER.principals, frozenset({"M-2026-0001"}))
            assert given.through == CALLER.through
            hits = search_as(service, given, principals, question, settings, filters, 1).hits
            return Quoted("extractive", f"{hits[0].passage} [1]", (Quoting(hits[0]),))

        toolbox = Toolbox(service, recorder, settings, answerer)
        asked = call(toolbox, "ask", question="price of a gearbox", matters=["M-2026-0001"]).structured_content
        without = call(replace(toolbox, answerer=None), "search", query="price")
        assert "ask" not in {tool.name for tool in replace(toolbox, answerer=None).tools()}
    assert not without.is_error
    (citation,) = asked["citations"]
    assert (asked["kind"], citation["path"], citation["mark"]) == ("extractive", SUPPLY_FINAL, 1)
    assert asked["untrusted_answer"] == f"{citation['untrusted_text']} [1]"
    assert citation["hit_id"].startswith(citation["document_id"] + ".")


@pytest.mark.parametrize(
    ("tool", "asked"), [("search", {"query": "price of a gearbox"}), ("find_identifier", {"identifier": "12 O 345/25"})]
)
def test_a_receipt_comes_on_request_and_holds(
    tool: str, asked: dict[str, str], shared_firm: SmallFirm, recorder: AccessRecorder
) -> None:
    issuer = open_issuer(shared_firm.home, recorder)
    with shared_firm.retrieval() as service:
        toolbox = Toolbox(service, recorder, AppConfig().retrieval, issuer=issuer)
        with_receipt = call(toolbox, tool, **asked, receipt=True, limit=3).structured_content
        without = call(toolbox, tool, **asked, limit=3).structured_content
        refused = call(replace(toolbox, issuer=None), tool, **asked, receipt=True)
    keys = parse_trusted_keys(b"".join(each.pem for each in issuer.keys.public_keys()), "keys")
    first = with_receipt["hits"][0]
    verified = verify_receipt(with_receipt["receipt"].encode(), keys, first["untrusted_text"])
    assert verified.passed
    assert verified.receipt is not None
    assert [each.start_char for each in verified.receipt.results] == [
        each["citation"]["start_char"] for each in with_receipt["hits"]
    ]
    assert without == {**with_receipt, "receipt": None}
    assert refused.is_error


def test_a_failure_tells_the_caller_nothing_and_the_operator_where(
    shared_firm: SmallFirm, recorder: AccessRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    recorder.log.file.mkdir(parents=True)
    with shared_firm.retrieval() as service, caplog.at_level(logging.ERROR):
        toolbox = Toolbox(service, recorder, AppConfig().retrieval)
        for tool, arguments in (("search", {"query": "price"}), ("get_passage", {"hit_id": "x"}), ("list_matters", {})):
            failed = call(toolbox, tool, **arguments)
            assert failed.is_error
            assert [each.text for each in failed.content] == [UNAVAILABLE]
    assert "AuditLogError" in caplog.text
    assert str(recorder.log.file) in caplog.text
