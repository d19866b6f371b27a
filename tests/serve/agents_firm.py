"""Servers in processes of their own, the official client driving them, and a firm of many walls."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.access.tokens import DEFAULT_AUDIENCE, create_token, revoke_token
from knowledge_index.domain.principals import Principal
from small_firm import SmallFirm

SHARED = "Mandate/M-2026-0100 Common/Terms of the quay.txt"
# The model is made up; a query with "slowly" takes its time, so that it can be cancelled. Nothing here is about a log
# that outlives a power cut, and waiting for the disk would be most of the time.
_PROGRAM = """
import os
import time
os.fsync = lambda descriptor: None
import small_firm
import knowledge_index.embed
class Embedder(small_firm.WordEmbedder):
    def embed(self, texts, on_done=None):
        if any("slowly" in text for text in texts):
            time.sleep(1.5)
        return super().embed(texts, on_done)
knowledge_index.embed.build_embedder = lambda settings: Embedder()
from knowledge_index.cli import main
main()
"""


def person(number: int) -> str:
    return f"user:person{number:02}"


def own_path(number: int) -> str:
    return f"Mandate/M-2026-{number:04} Private/Note of person{number:02}.txt"


def write_walls(firm: SmallFirm, people: int) -> None:
    """One paper for each of the people, which nobody else may see, and one that all may see."""
    for number in range(people):
        text = (
            f"The quay lease of person{number:02} is secret{number:02}. The berth costs EUR {1000 + number}.00 a day.\n"
        )
        firm.write(own_path(number), text, person(number))
    firm.write(
        SHARED, "The quay terms hold for every lease of a berth. Rent falls due daily.\n", *map(person, range(people))
    )


def command(firm: SmallFirm, *arguments: str) -> list[str]:
    return [sys.executable, "-c", _PROGRAM, "--home", str(firm.home.folder), *arguments]


def environment() -> dict[str, str]:
    return {"PATH": "", "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"}


def over_stdio(firm: SmallFirm, caller: str, mode: str) -> Client:
    program, *rest = command(firm, "mcp", "--as", caller)
    return Client(StdioServerParameters(command=program, args=rest, env=environment()), mode=mode)


@contextmanager
def http_server(firm: SmallFirm, *options: str) -> Iterator[str]:
    """The URL of a server that listens on a port of its own."""
    child = subprocess.Popen(
        command(firm, "mcp", "--http", "127.0.0.1:0", *options), stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert child.stderr is not None
    try:
        line = child.stderr.readline()
        assert line.startswith("Serving agents at http://127.0.0.1:"), line + child.stderr.read()
        yield line.removeprefix("Serving agents at ").strip()
    finally:
        child.terminate()
        child.communicate(timeout=30)


# Certificates are not looked at on a plain connection, and reading them for each client takes longer than the calls.
@asynccontextmanager
async def over_http(url: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60, verify=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def recorder_of(firm: SmallFirm, ago: timedelta = timedelta(0)) -> AccessRecorder:
    """A recorder whose clock is behind by ``ago``."""
    return AccessRecorder(AuditLog(firm.home.audit_file), b"key", False, "tester", lambda: datetime.now(UTC) - ago)


def issue(firm: SmallFirm, caller: str, audience: str = DEFAULT_AUDIENCE, ago: timedelta = timedelta(0)) -> str:
    """A token for an hour, as it was issued ``ago``."""
    with firm.catalog() as catalog:
        recorder = recorder_of(firm, ago)
        until = recorder.clock() + timedelta(hours=1)
        return create_token(catalog, recorder, Principal.parse(caller), audience, until).text


def revoke(firm: SmallFirm, token: str) -> None:
    with firm.catalog() as catalog:
        revoke_token(catalog, recorder_of(firm), token.split("_")[1])


@dataclass
class Tally:
    """What a storm of calls met with; all lists but ``answers`` have to stay empty."""

    answers: int = 0
    foreign: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


async def storm(url: str, tokens: list[str], calls: int) -> Tally:
    """``calls`` calls from one session for each token, all sessions at once, half of them of either protocol era.

    Every client counts its request ids from the same number on, so the ids of all sessions collide all the time.
    """
    tally = Tally()
    hit_ids: dict[int, str] = {}
    ready = asyncio.Barrier(len(tokens))

    async def agent(number: int) -> None:
        async with over_http(url, tokens[number], "legacy" if number % 2 else "auto") as client:
            first = await client.call_tool("search", {"query": "quay lease", "limit": 50})
            judge(number, first)
            hit_ids[number] = next(
                hit["citation"]["hit_id"]
                for hit in first.structured_content["hits"]
                if hit["citation"]["path"] == own_path(number)
            )
            await ready.wait()
            for turn in range(1, calls // len(tokens)):
                stranger = (number + turn) % len(tokens)
                match turn % 4:
                    case 0 if turn % 16 == 8:
                        asked = stranger if turn % 32 == 8 else number
                        question = {"question": f"What does the berth of person{asked:02} cost a day?"}
                        judge_answer(number, asked, await client.call_tool("ask", question))
                    case 0:
                        judge(number, await client.call_tool("search", {"query": "quay lease", "limit": 50}))
                    case 1:
                        shown = await client.call_tool("get_passage", {"hit_id": hit_ids[number]})
                        judge_text(number, number, shown)
                    case 2:
                        shown = await client.call_tool("get_passage", {"hit_id": hit_ids[stranger]})
                        judge_text(number, stranger, shown)
                    case _:
                        document_id = hit_ids[stranger].rpartition(".")[0]
                        judge_text(
                            number, stranger, await client.call_tool("get_document", {"document_id": document_id})
                        )

    def judge(number: int, result: Any) -> None:
        tally.answers += 1
        paths = sorted(hit["citation"]["path"] for hit in result.structured_content["hits"])
        if paths != sorted([own_path(number), SHARED]):
            tally.foreign.append(f"{number}: {paths}")

    def judge_text(number: int, asked: int, result: Any) -> None:
        tally.answers += 1
        text = result.content[0].text
        judge_words(number, text)
        if result.is_error != (asked != number) or (asked == number and f"secret{number:02}" not in text):
            tally.wrong.append(f"{number} asked for {asked}: {text}")

    def judge_answer(number: int, asked: int, result: Any) -> None:
        tally.answers += 1
        answer = result.structured_content
        judge_words(number, result.content[0].text)
        if answer["kind"] != ("extractive" if asked == number else "not_said"):
            tally.wrong.append(f"{number} asked of {asked}: {answer}")

    def judge_words(number: int, text: str) -> None:
        if any(f"secret{other:02}" in text for other in range(len(tokens)) if other != number):
            tally.foreign.append(f"{number}: {text}")

    async with asyncio.TaskGroup() as group:
        for number in range(len(tokens)):
            group.create_task(agent(number))
    return tally


def walled_firm(folder: Path, people: int) -> SmallFirm:
    firm = SmallFirm.in_folder(folder)
    write_walls(firm, people)
    firm.sync_and_run()
    return firm
