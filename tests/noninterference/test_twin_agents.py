"""What lies or lay behind a wall changes no byte of what an agent is answered, whatever the tool."""

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from twin_worlds import CALLER, MATTERS, PARTIES, WORDS, World, twin_worlds

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import KnowledgeIndexError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.serve.tools import Caller, Toolbox

SEEDS = [300, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(301, 321))]


def toolbox_of(world: World) -> Toolbox:
    log = AuditLog(world.firm.home.audit_file)
    recorder = AccessRecorder(log, b"key", False, "tester", lambda: datetime(2026, 3, 2, tzinfo=UTC))
    return Toolbox(world.service, recorder, RetrievalSettings())


def answered(toolbox: Toolbox, name: str, arguments: dict[str, Any]) -> str:
    tool = next(each for each in toolbox.tools() if each.name == name)
    caller = Caller(parse_principals(CALLER), (("door", "test"),))
    try:
        return tool.run(caller, tool.arguments.model_validate(arguments)).model_dump_json()
    except KnowledgeIndexError as error:
        return f"{type(error).__name__}: {error}"


def calls_for(toolbox: Toolbox, hidden_ids: list[str], draw: random.Random) -> list[tuple[str, dict[str, Any]]]:
    """Calls of all tools; their ids come from the caller's own search and from behind the wall."""
    tool = next(each for each in toolbox.tools() if each.name == "search")
    query = tool.arguments.model_validate({"query": " ".join(WORDS), "limit": 50})
    own: Any = tool.run(Caller(parse_principals(CALLER), ()), query)
    hit_ids = [*(hit.citation.hit_id for hit in own.hits[:6]), *draw.sample(hidden_ids, min(6, len(hidden_ids)))]
    calls: list[tuple[str, dict[str, Any]]] = [("list_matters", {}), ("list_matters", {"limit": 1})]
    for hit_id in hit_ids:
        document_id = hit_id.rpartition(".")[0]
        calls += [("get_passage", {"hit_id": hit_id}), ("get_document", {"document_id": document_id})]
        calls.append(("list_versions", {"document_id": document_id}))
    for _ in range(15):
        words = " and ".join(draw.sample(WORDS, draw.choice([1, 2])))
        of_whom = draw.choice([*PARTIES, "paper 1", "other 0", "once 1", "Leviathan"])
        matters = draw.sample([each.partition(" ")[0] for each in MATTERS], draw.choice([0, 0, 1]))
        calls.append(("ask", {"question": f"What is the {words} of {of_whom}?", "matters": matters}))
    return calls


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_hidden_changes_no_answer_to_an_agent(tmp_path: Path, seed: int) -> None:
    with twin_worlds(tmp_path, seed) as (plain, eventful, hidden_ids):
        one, other = toolbox_of(plain), toolbox_of(eventful)
        calls = calls_for(one, hidden_ids, random.Random(seed))
        answers = [answered(one, *call) for call in calls]
        assert answers == [answered(other, *call) for call in calls]
    assert any('"kind":"extractive"' in each for each in answers)
    assert any('"versions":[{' in each for each in answers)
