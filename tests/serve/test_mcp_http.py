"""The door over HTTP: tokens, sessions and walls, with the official client and a real process."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from agents_firm import (
    SHARED,
    http_server,
    issue,
    over_http,
    own_path,
    person,
    recorder_of,
    revoke,
    storm,
    walled_firm,
)

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction
from small_firm import SmallFirm

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
SEARCH = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "quay lease"}},
}


def post(url: str, token: str | None, body: Any = SEARCH, **headers: str) -> httpx2.Response:
    names = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
    # Names that Python cannot spell come with underscores.
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    content = {"content": body} if isinstance(body, bytes) else {"json": body}
    return httpx2.post(url, headers={**names, **bearer, "Content-Type": "application/json", **given}, **content)


def opened(url: str, token: str) -> str:
    response = post(url, token, INITIALIZE)
    assert response.status_code == 200
    return response.headers["mcp-session-id"]


def paths(result: Any) -> set[str]:
    return {hit["citation"]["path"] for hit in result.structured_content["hits"]}


def test_the_token_says_who_asks(walled: SmallFirm, url: str) -> None:
    async def ask(number: int, mode: str) -> set[str]:
        async with over_http(url, issue(walled, person(number)), mode) as client:
            return paths(await client.call_tool("search", {"query": "quay lease"}))

    assert asyncio.run(ask(1, "legacy")) == {own_path(1), SHARED}
    assert asyncio.run(ask(2, "auto")) == {own_path(2), SHARED}
    last = list(AuditLog(walled.home.audit_file).entries())[-1].event
    assert (last.action, last.who) == (AuditAction.SEARCH, person(2))
    assert dict(last.details)["door"] == "mcp http"


def test_an_answer_is_made_of_what_the_tokens_user_sees(walled: SmallFirm, url: str) -> None:
    async def ask(asked_by: int) -> Any:
        async with over_http(url, issue(walled, person(asked_by))) as client:
            return await client.call_tool("ask", {"question": "What does the berth of person12 cost a day?"})

    mine, others = asyncio.run(ask(12)), asyncio.run(ask(13))
    assert mine.structured_content["kind"] == "extractive"
    assert "The berth costs EUR 1012.00 a day." in mine.structured_content["untrusted_answer"]
    assert {each["path"] for each in mine.structured_content["citations"]} == {own_path(12)}
    assert (others.structured_content["kind"], others.structured_content["citations"]) == ("not_said", [])
    # The question's own words come back; nothing else of the other's paper does.
    assert not any(words in others.content[0].text for words in ("secret12", "1012", own_path(12)))
    last = list(AuditLog(walled.home.audit_file).entries())[-1].event
    assert (last.who, dict(last.details)["door"]) == (person(13), "mcp http")


def test_what_is_no_valid_token_for_this_service_is_refused_without_a_reason(walled: SmallFirm, url: str) -> None:
    good = issue(walled, person(3))
    revoked = issue(walled, person(3))
    revoke(walled, revoked)
    expired = issue(walled, person(3), ago=timedelta(minutes=61))
    head, _, secret = good.rpartition("_")
    tokens = [
        None,
        "nonsense",
        revoked,
        expired,
        issue(walled, person(3), audience="another-service"),
        f"{head}_{secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}",
        f"ki_{'0' * 16}_{secret}",
        good + "x",
    ]
    answers = [post(url, token, INITIALIZE) for token in tokens]
    assert {(each.status_code, each.content, each.headers["www-authenticate"]) for each in answers} == {
        (401, answers[0].content, answers[0].headers["www-authenticate"])
    }
    assert post(url, good, INITIALIZE).status_code == 200


def test_a_stolen_session_is_of_no_use(walled: SmallFirm, url: str) -> None:
    victims, thiefs = issue(walled, person(4)), issue(walled, person(5))
    session = opened(url, victims)
    stolen = post(url, thiefs, mcp_session_id=session)
    unknown = post(url, thiefs, mcp_session_id="0" * 32)
    assert (stolen.status_code, stolen.content) == (404, unknown.content)
    assert post(url, None, mcp_session_id=session).status_code == 401
    # Another token of the same person is another key.
    assert post(url, issue(walled, person(4)), mcp_session_id=session).status_code == 404
    for method in ("GET", "DELETE"):
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {thiefs}", "mcp-session-id": session}
        assert httpx2.request(method, url, headers=headers).status_code == 404
    own = post(url, victims, mcp_session_id=session)
    assert own.status_code == 200
    assert "secret04" in own.text


def test_a_token_revoked_within_a_session_ends_it_with_the_next_call(walled: SmallFirm, url: str) -> None:
    token = issue(walled, person(6))
    session = opened(url, token)
    assert post(url, token, mcp_session_id=session).status_code == 200
    revoke(walled, token)
    assert post(url, token, mcp_session_id=session).status_code == 401
    # Nor does a new token take the session over.
    assert post(url, issue(walled, person(6)), mcp_session_id=session).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 400),
    ],
)
def test_a_browser_is_not_led_here_by_another_site(
    walled: SmallFirm, url: str, headers: dict[str, str], status: int
) -> None:
    assert post(url, issue(walled, person(7)), INITIALIZE, **headers).status_code == status


def test_what_is_too_large_is_refused(walled: SmallFirm, url: str) -> None:
    token = issue(walled, person(8))
    session = opened(url, token)
    assert post(url, token, b" " * (64 * 1024 + 1), mcp_session_id=session).status_code == 413
    long = {**SEARCH, "params": {"name": "search", "arguments": {"query": "quay " * 1000}}}
    assert "Refused: query" in post(url, token, long, mcp_session_id=session).text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_cancelled_call_disturbs_no_other(walled: SmallFirm, url: str, mode: str) -> None:
    async def ask() -> set[str]:
        async with over_http(url, issue(walled, person(9)), mode) as client:
            await client.list_tools()
            slow = asyncio.create_task(client.call_tool("search", {"query": "slowly over the quay"}))
            await asyncio.sleep(0.3)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            return paths(await client.call_tool("search", {"query": "quay lease"}))

    assert asyncio.run(ask()) == {own_path(9), SHARED}


def test_one_caller_has_few_calls_under_way_and_others_are_answered(walled: SmallFirm, url: str) -> None:
    async def ask() -> tuple[list[bool], set[str]]:
        async with (
            over_http(url, issue(walled, person(10))) as greedy,
            over_http(url, issue(walled, person(11))) as modest,
        ):
            await greedy.list_tools()
            await modest.list_tools()
            flood = [asyncio.create_task(greedy.call_tool("search", {"query": "slowly"})) for _ in range(10)]
            answer = await modest.call_tool("search", {"query": "quay lease"})
            return [(await each).is_error for each in flood], paths(answer)

    refused, answer = asyncio.run(ask())
    assert sum(refused) == 2
    assert answer == {own_path(11), SHARED}


def test_sessions_at_once_never_get_each_others_answers(walled: SmallFirm, url: str) -> None:
    tally = asyncio.run(storm(url, [issue(walled, person(number)) for number in range(16)], 160))
    assert (tally.answers, tally.foreign, tally.wrong) == (160, [], [])


@pytest.mark.slow
def test_twenty_thousand_calls_of_64_sessions_never_get_another_sessions_answer(tmp_path: Path) -> None:
    crowd = walled_firm(tmp_path / "firm", 64)
    with http_server(crowd) as address:
        tally = asyncio.run(storm(address, [issue(crowd, person(number)) for number in range(64)], 20_032))
    assert (tally.answers, tally.foreign, tally.wrong) == (20_032, [], [])
    assert recorder_of(crowd).log.verify().fault == ""
