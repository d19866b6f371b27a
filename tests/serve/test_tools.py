"""The tools themselves: what ``ask`` hands on, and failures that tell a caller nothing."""

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from pydantic import SecretStr

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.answers import Gateway, answer_question
from knowledge_index.answers.gateway import GatewayError
from knowledge_index.config import AppConfig, GatewaySettings
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters
from knowledge_index.evidence.issuing import open_issuer
from knowledge_index.evidence.keys import parse_trusted_keys
from knowledge_index.evidence.verifying import verify_receipt
from knowledge_index.serve.calling import CALL_TIMEOUT_S, new_runner
from knowledge_index.serve.mcp_server import UNAVAILABLE, build_server
from knowledge_index.serve.tools import Caller, Toolbox
from small_firm import CORPORATE, SUPPLY_FINAL, SmallFirm

CALLER = Caller(parse_principals(CORPORATE), (("door", "test"),))


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


def test_ask_hands_on_the_checked_answer_whole(shared_firm: SmallFirm, recorder: AccessRecorder) -> None:
    settings, question = AppConfig().retrieval, "What is the price of a gearbox?"
    filters = SearchFilters(frozenset({"M-2026-0001"}))
    with shared_firm.retrieval() as service:
        expected = answer_question(service, recorder, CALLER.principals, question, settings, filters)
        before = len(list(recorder.log.entries()))
        toolbox = Toolbox(service, recorder, settings)
        asked = call(toolbox, "ask", question=question, matters=["M-2026-0001"]).structured_content
    assert (asked["kind"], asked["untrusted_answer"]) == ("extractive", expected.text)
    assert (asked["queries"], asked["passages_read"]) == (
        list(expected.searched.queries),
        len(expected.searched.passages),
    )
    assert len(asked["citations"]) == len(expected.citations) > 0
    for given, cited in zip(asked["citations"], expected.citations, strict=True):
        for name in ("hit_id", "source", "path", "start_char", "end_char", "text_sha256", "version_status"):
            assert given[name] == getattr(cited, name)
        assert (given["mark"], given["untrusted_text"]) == (cited.number, cited.quoted)
        assert given["hit_id"].startswith(given["document_id"] + ".")
    assert asked["citations"][0]["path"] == SUPPLY_FINAL
    assert asked["notes"] == ["acting as a group, not as a person", *expected.notes]
    events = [each.event for each in recorder.log.entries()][before:]
    assert [each.action for each in events[:2]] == [AuditAction.SEARCH, AuditAction.SEARCH]
    assert [each.returned for each in events[2:]] == [(hit_id,) for hit_id in expected.searched.passages]
    assert {each.details for each in events} == {CALLER.through}


def test_a_model_that_does_not_answer_in_the_time_of_a_call_is_not_waited_for(
    shared_firm: SmallFirm, recorder: AccessRecorder
) -> None:
    class Asked(Gateway):
        def _complete(self, messages: object) -> str:
            tried.append(self.settings)
            raise GatewayError("no answer in time")

    tried: list[GatewaySettings] = []
    gateway = Asked(GatewaySettings(url="http://127.0.0.1:9/v1", model="m", timeout_s=600, retries=10), SecretStr("k"))
    with shared_firm.retrieval() as service:
        toolbox = Toolbox(service, recorder, AppConfig().retrieval, gateway)
        asked = call(toolbox, "ask", question="What is the price of a gearbox?").structured_content
    (settings,) = tried
    assert settings.retries == 0
    assert 2 * settings.timeout_s < CALL_TIMEOUT_S
    assert asked["kind"] == "extractive"
    assert any("the gateway gave no answer" in note for note in asked["notes"])


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


def test_an_answer_comes_with_a_receipt_of_what_was_read_and_cited(
    shared_firm: SmallFirm, recorder: AccessRecorder
) -> None:
    issuer, question = open_issuer(shared_firm.home, recorder), "What is the price of a gearbox?"
    with shared_firm.retrieval() as service:
        toolbox = Toolbox(service, recorder, AppConfig().retrieval, issuer=issuer)
        asked = call(toolbox, "ask", question=question, receipt=True).structured_content
        without = call(toolbox, "ask", question=question).structured_content
    keys = parse_trusted_keys(b"".join(each.pem for each in issuer.keys.public_keys()), "keys")
    verified = verify_receipt(asked["receipt"].encode(), keys, None)
    assert verified.receipt is not None
    assert verified.receipt.kind == "ask"
    assert len(verified.receipt.results) == asked["passages_read"]
    assert without == {**asked, "receipt": None}


def test_a_failure_tells_the_caller_nothing_and_the_operator_where(
    shared_firm: SmallFirm, recorder: AccessRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    recorder.log.file.mkdir(parents=True)
    with shared_firm.retrieval() as service, caplog.at_level(logging.ERROR):
        toolbox = Toolbox(service, recorder, AppConfig().retrieval)
        for tool, arguments in (
            ("search", {"query": "price"}),
            ("get_passage", {"hit_id": "x"}),
            ("list_matters", {}),
            ("ask", {"question": "price?"}),
        ):
            failed = call(toolbox, tool, **arguments)
            assert failed.is_error
            assert [each.text for each in failed.content] == [UNAVAILABLE]
    assert "AuditLogError" in caplog.text
    assert str(recorder.log.file) in caplog.text
