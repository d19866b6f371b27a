"""The tools over standard streams, with the official client and a real process."""

import asyncio
import json
from typing import Any

import pytest
from agents_firm import over_stdio

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.serve.mcp_server import NOT_VISIBLE
from small_firm import (
    CORPORATE,
    LEASE_EXECUTED,
    REAL_ESTATE,
    SUPPLY_DRAFT,
    SUPPLY_FINAL,
    SUPPLY_REDLINE,
    SUPPLY_TERMS,
    SmallFirm,
    paper,
)

TOOLS = {"search", "find_identifier", "get_passage", "get_document", "list_versions", "list_matters", "ask"}
VERSIONS = [SUPPLY_DRAFT, SUPPLY_REDLINE, SUPPLY_FINAL]


def hits(result: Any) -> list[dict[str, Any]]:
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content["hits"]


def hit_at(session: Any, path: str, query: str) -> dict[str, Any]:
    return next(each for each in hits(session.call("search", query=query)) if each["citation"]["path"] == path)


def test_the_tools_only_read_and_take_no_principal(stdio: Any) -> None:
    listed = stdio.portal.call(stdio.client.list_tools).tools
    assert {tool.name for tool in listed} == TOOLS
    for tool in listed:
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
        assert tool.input_schema["additionalProperties"] is False
        assert not {"as", "principal", "principals", "user", "scope"} & set(tool.input_schema["properties"])
        assert tool.output_schema["type"] == "object"
        assert "untrusted" in tool.description


def test_a_search_cites_what_a_document_says_at_these_offsets(stdio: Any) -> None:
    found = hit_at(stdio, SUPPLY_TERMS, "duty outlives the end of their dealings")
    citation = found["citation"]
    assert (citation["source"], citation["matter_ref"]) == ("dms", "M-2026-0001")
    pages, start = [], 0
    while start is not None:
        page = stdio.call("get_document", document_id=citation["document_id"], start_char=start, length_chars=150)
        assert page.structured_content["start_char"] == start
        pages.append(page.structured_content["untrusted_text"])
        start = page.structured_content["next_start_char"]
    text = "".join(pages)
    assert len(pages) > 2
    assert {len(each) for each in pages[:-1]} == {150}
    assert text[citation["start_char"] : citation["end_char"]] == found["untrusted_text"]
    assert text.strip() == paper("General terms", "Secrecy", "Notices").strip()
    shown = stdio.call("get_passage", hit_id=citation["hit_id"]).structured_content
    assert shown["citation"] == citation
    assert shown["untrusted_text"] == found["untrusted_text"]
    assert shown["untrusted_before"] + shown["untrusted_text"] + shown["untrusted_after"] in text


def test_the_versions_of_a_paper_come_earliest_first(stdio: Any) -> None:
    document_id = hit_at(stdio, SUPPLY_FINAL, "price of a gearbox")["citation"]["document_id"]
    versions = stdio.call("list_versions", document_id=document_id).structured_content["versions"]
    assert [each["path"] for each in versions] == VERSIONS
    assert [each["version_status"] for each in versions] == ["draft", "draft", "final"]
    assert document_id == versions[2]["document_id"]


def test_an_answer_cites_what_the_documents_say_at_these_offsets(stdio: Any) -> None:
    result = stdio.call("ask", question="What is the price of a gearbox?")
    asked = result.structured_content
    assert json.loads(result.content[0].text) == asked
    assert "never follow" in asked["notice"]
    assert asked["kind"] == "extractive"
    assert asked["untrusted_answer"].startswith("The price of a gearbox is EUR 48,250.00 net of value added tax. [1]")
    for place, citation in enumerate(asked["citations"], start=1):
        assert citation["mark"] == place
        start, length = citation["start_char"], citation["end_char"] - citation["start_char"]
        page = stdio.call(
            "get_document", document_id=citation["document_id"], start_char=start, length_chars=length
        ).structured_content
        assert page["untrusted_text"] == citation["untrusted_text"]
        assert page["document"]["text_sha256"] == citation["text_sha256"]
        assert not stdio.call("get_passage", hit_id=citation["hit_id"]).is_error


@pytest.mark.parametrize("question", ["Wie hoch ist die Miete der Halle?", "Who is the Zanderfels of the quay?"])
def test_where_nothing_that_the_caller_sees_supports_an_answer_the_tool_says_so(stdio: Any, question: str) -> None:
    asked = stdio.call("ask", question=question)
    assert not asked.is_error
    said = asked.structured_content
    assert (said["kind"], said["untrusted_answer"], said["citations"]) == ("not_said", "The documents do not say.", [])
    assert (said["queries"][0], said["unread_count"], said["unread"]) == (question, 0, [])
    assert "12.400" not in asked.content[0].text
    assert "11.900" not in asked.content[0].text
    assert LEASE_EXECUTED not in asked.content[0].text


def test_matters_are_counted_over_what_the_caller_may_see(stdio: Any) -> None:
    everything = stdio.call("list_matters").structured_content
    (only,) = everything["matters"]
    assert (only["matter_ref"], only["document_count"], everything["next_after"]) == ("M-2026-0001", 6, None)
    assert stdio.call("list_matters", after="M-2026-0001").structured_content["matters"] == []


def test_an_identifier_is_found_and_words_are_not(stdio: Any) -> None:
    (found,) = hits(stdio.call("find_identifier", identifier="12 O 345/25"))
    assert "12 O 345/25" in found["untrusted_text"]
    assert found["found_by"] == ["identifier", "document"]
    assert stdio.call("find_identifier", identifier="gearbox").is_error
    assert hits(stdio.call("find_identifier", identifier="HRB 40711")) == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "price", "principal": REAL_ESTATE}),
        ("search", {"query": "price", "as": REAL_ESTATE}),
        ("search", {"query": "x" * 2001}),
        ("search", {"query": "price", "limit": 51}),
        ("search", {"query": "price", "limit": "10"}),
        ("search", {"query": "price", "matters": ["m"] * 51}),
        ("search", {"query": " "}),
        ("search", {}),
        ("ask", {"question": "price?", "principal": REAL_ESTATE}),
        ("ask", {"question": "x" * 2001}),
        ("ask", {"question": " "}),
        ("get_passage", {"hit_id": "a" * 301}),
        ("get_document", {"document_id": "a", "length_chars": 20_001}),
        ("get_document", {"document_id": "a", "start_char": -1}),
        ("list_matters", {"limit": 0}),
    ],
)
def test_arguments_beyond_what_is_declared_are_refused(stdio: Any, tool: str, arguments: dict[str, Any]) -> None:
    refused = stdio.call(tool, **arguments)
    assert refused.is_error
    assert refused.structured_content is None
    assert refused.content[0].text.startswith("Refused: ")
    assert "x" * 100 not in refused.content[0].text


def test_unknown_forbidden_and_deleted_are_one_answer(small: SmallFirm, stdio: Any) -> None:
    gone = hit_at(stdio, SUPPLY_TERMS, "duty outlives the end of their dealings")["citation"]
    walled = small.search("Miete Halle", REAL_ESTATE)[0]
    assert walled.path == LEASE_EXECUTED
    unknown = "0" * 32
    (small.root / SUPPLY_TERMS).unlink()
    small.acl.pop(SUPPLY_TERMS)
    small.sync()
    spans = [gone["hit_id"], walled.hit_id, f"{unknown}.00000000.0-1", "no id at all", ""]
    documents = [each.rpartition(".")[0] for each in spans[:3]] + spans[3:]
    answers = {stdio.call("get_passage", hit_id=each).model_dump_json() for each in spans}
    answers |= {stdio.call("get_document", document_id=each).model_dump_json() for each in documents}
    answers |= {stdio.call("list_versions", document_id=each).model_dump_json() for each in documents}
    (only,) = answers
    assert json.loads(only)["content"][0]["text"] == NOT_VISIBLE


def test_each_call_is_in_the_audit_log(small: SmallFirm, stdio: Any) -> None:
    log = AuditLog(small.home.audit_file)
    before = len(list(log.entries()))
    hit = hits(stdio.call("search", query="price of a gearbox"))[0]["citation"]
    stdio.call("find_identifier", identifier="12 O 345/25")
    stdio.call("get_passage", hit_id=hit["hit_id"])
    stdio.call("get_document", document_id=hit["document_id"], length_chars=10)
    stdio.call("list_versions", document_id="nothing")
    stdio.call("list_matters")
    events = [each.event for each in log.entries()][before:]
    assert [(each.action, each.returned[:1]) for each in events] == [
        (AuditAction.SEARCH, (hit["hit_id"],)),
        (AuditAction.SEARCH, events[1].returned[:1]),
        (AuditAction.SHOW, (hit["hit_id"],)),
        (AuditAction.DOCUMENT, (f"{hit['document_id']}.0-10",)),
        (AuditAction.VERSIONS, ()),
        (AuditAction.MATTERS, ("M-2026-0001",)),
    ]
    assert {each.who for each in events} == {CORPORATE}
    assert {each.details for each in events} == {(("door", "mcp stdio"),)}
    assert log.verify().fault == ""


def test_access_that_is_taken_away_ends_with_the_next_call(small: SmallFirm, stdio: Any) -> None:
    citation = hit_at(stdio, SUPPLY_FINAL, "price of a gearbox")["citation"]
    small.grant(SUPPLY_FINAL, REAL_ESTATE)
    small.sync()
    assert stdio.call("get_passage", hit_id=citation["hit_id"]).content[0].text == NOT_VISIBLE
    assert stdio.call("get_document", document_id=citation["document_id"]).content[0].text == NOT_VISIBLE
    assert SUPPLY_FINAL not in {each["citation"]["path"] for each in hits(stdio.call("search", query="price"))}
    small.grant(SUPPLY_FINAL, CORPORATE)
    small.sync()


@pytest.mark.slow
def test_the_newer_protocol_is_spoken_too(small: SmallFirm) -> None:
    async def ask() -> tuple[str, list[dict[str, Any]]]:
        async with over_stdio(small, CORPORATE, "2026-07-28") as client:
            return client.protocol_version, hits(await client.call_tool("search", {"query": "price of a gearbox"}))

    version, found = asyncio.run(ask())
    assert version == "2026-07-28"
    assert found[0]["citation"]["path"] == SUPPLY_FINAL
