"""Groups, walls and the audit log as an operator meets them."""

import json
from pathlib import Path

import pytest
from command_line import Ki

from small_firm import BARRED, CORPORATE, SUPPLY_FINAL, SUPPLY_MAIL


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    file = tmp_path / "groups.json"
    file.write_text(json.dumps({"user:Anna": ["group:team"], "group:team": [CORPORATE], BARRED: [CORPORATE]}))
    return file


def found(ki: Ki, home: Path, caller: str) -> set[str]:
    answer = ki("--home", home, "search", "gearbox price", "--as", caller, "--json")
    assert answer.code == 0, answer.err
    return {hit["path"] for hit in answer.json()["hits"]}


def test_groups_are_set_listed_shown_and_in_force_at_once(ki: Ki, indexed_home: Path, groups: Path) -> None:
    assert found(ki, indexed_home, "user:anna") == set()
    outcome = ki("--home", indexed_home, "principals", "set-groups", groups, "--json")
    assert (outcome.json()["users"], outcome.json()["groups"]) == (2, 1)
    assert found(ki, indexed_home, "user:ANNA") == found(ki, indexed_home, CORPORATE) != set()
    assert found(ki, indexed_home, BARRED) == set()
    assert "user:anna: group:team" in ki("--home", indexed_home, "principals", "list").out
    shown = ki("--home", indexed_home, "principals", "show", "user:anna", "--json").json()
    assert shown["acts_as"][0] == ["user:anna", "group:team", CORPORATE]
    groups.write_text("{}")
    assert "0 users and 0 groups" in ki("--home", indexed_home, "principals", "set-groups", groups).out
    assert found(ki, indexed_home, "user:anna") == set()


def test_a_malformed_groups_file_leaves_the_groups(ki: Ki, indexed_home: Path, groups: Path) -> None:
    ki("--home", indexed_home, "principals", "set-groups", groups)
    before = ki("--home", indexed_home, "principals", "list", "--json").json()
    groups.write_text('{"user:anna": [], "user:ANNA": ["group:x"]}')
    outcome = ki("--home", indexed_home, "principals", "set-groups", groups)
    assert (outcome.code, "declared twice" in outcome.err) == (2, True)
    assert ki("--home", indexed_home, "principals", "list", "--json").json() == before


def test_who_is_no_person_of_the_groups_file_is_labelled(ki: Ki, indexed_home: Path, groups: Path) -> None:
    ki("--home", indexed_home, "principals", "set-groups", groups)
    as_group = ki("--home", indexed_home, "search", "gearbox", "--as", CORPORATE)
    assert "Note: acting as a group, not as a person." in as_group.err
    assert "acting as a group" not in as_group.out
    notes = ki("--home", indexed_home, "search", "gearbox", "--as", CORPORATE, "--json").json()["notes"]
    assert "acting as a group, not as a person" in notes
    assert "user:zoe is in no groups file" in ki("--home", indexed_home, "search", "gearbox", "--as", "user:zoe").err
    assert ki("--home", indexed_home, "search", "gearbox", "--as", "user:anna").err == ""


def test_a_wall_is_opened_listed_searched_and_closed(ki: Ki, indexed_home: Path) -> None:
    glass = ("--home", indexed_home, "break-glass")
    asked = ("--reason", "court order", "--minutes", "10")
    refused = ki(*glass, BARRED, "--path", SUPPLY_FINAL, *asked)
    assert (refused.code, SUPPLY_MAIL in refused.err) == (2, True)
    opened = ki(*glass, BARRED, "--path", SUPPLY_FINAL, *asked, "--with-others", "--json")
    number = opened.json()["id"]
    assert SUPPLY_FINAL in found(ki, indexed_home, BARRED)
    explained = ki("--home", indexed_home, "access", "explain", SUPPLY_FINAL, "--as", BARRED).out
    assert explained.startswith(f"dms:{SUPPLY_FINAL}: visible: opened by break-glass\n")
    assert f"deny {BARRED}, stated by the caller (overruled by the opened wall)" in explained
    assert [each["state"] for each in ki(*glass, "list", "--json").json()] == ["open"]
    assert ki(*glass, "revoke", number).code == 0
    assert found(ki, indexed_home, BARRED) == set()
    assert [each["state"] for each in ki(*glass, "list", "--json").json()] == ["revoked"]
    assert "court order" in ki(*glass, "list").out


def test_an_explanation_has_an_answer_for_every_path(ki: Ki, indexed_home: Path, groups: Path) -> None:
    ki("--home", indexed_home, "principals", "set-groups", groups)
    explain = ("--home", indexed_home, "access", "explain")
    allowed = ki(*explain, SUPPLY_FINAL, "--as", "user:anna")
    assert f"allow {CORPORATE}, through user:anna > group:team > {CORPORATE}" in allowed.out
    (denied,) = ki(*explain, SUPPLY_FINAL, "--as", BARRED, "--json").json()
    assert (denied["is_visible"], denied["verdict"]) == (False, "denied")
    assert denied["deciding"] == [{"principal": BARRED, "access": "deny", "chain": [BARRED]}]
    unknown = ki(*explain, "no/such.txt", "--as", "user:anna")
    assert (unknown.code, unknown.out) == (0, "no/such.txt: not visible: unknown path\n")


def audit(ki: Ki, home: Path, *arguments: object) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = ki("--home", home, "audit", "show", "--json", *arguments).json()
    return entries


def test_the_log_tells_what_was_done(ki: Ki, indexed_home: Path, groups: Path) -> None:
    ki("--home", indexed_home, "principals", "set-groups", groups)
    hit = ki("--home", indexed_home, "search", "gearbox price", "--as", "user:anna", "--json").json()["hits"][0]
    ki("--home", indexed_home, "show", hit["hit_id"], "--as", "user:anna")
    ki("--home", indexed_home, "show", hit["hit_id"], "--as", BARRED)
    told = [(each["action"], each["who"], len(each["returned"])) for each in audit(ki, indexed_home)]  # type: ignore[arg-type]
    assert told[:3] == [("regrant", "operator", 0), ("regrant", "operator", 0), ("principals", "operator", 0)]
    assert [told[3][:2], *told[4:]] == [("search", "user:anna"), ("show", "user:anna", 1), ("show", BARRED, 0)]
    assert len(audit(ki, indexed_home, "--query", "gearbox price")) == 1
    assert audit(ki, indexed_home, "--query", "gearbox") == []
    assert audit(ki, indexed_home, "--since", "2999-01-01") == []
    assert len(audit(ki, indexed_home, "--since", "2020-01-01T00:00")) == len(told)
    assert "gearbox" not in ki("--home", indexed_home, "audit", "show").out
    assert ki("--home", indexed_home, "audit", "show", "--since", "soon").code == 2


def test_the_query_is_kept_in_words_where_that_is_set(ki: Ki, indexed_home: Path) -> None:
    ki("--home", indexed_home, "--set", "audit.query_text=true", "search", "gearbox price", "--as", CORPORATE)
    assert audit(ki, indexed_home)[-1]["query_text"] == "gearbox price"


def test_a_changed_log_is_found_and_a_true_one_is_not(ki: Ki, indexed_home: Path) -> None:
    log = indexed_home / "audit" / "audit.jsonl"
    verify = ("--home", indexed_home, "audit", "verify")
    found(ki, indexed_home, CORPORATE)
    checkpoint = ki("--home", indexed_home, "audit", "checkpoint").out.strip()
    found(ki, indexed_home, CORPORATE)
    assert ki(*verify, "--checkpoint", checkpoint).code == 0
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]))
    assert ki(*verify).code == 0
    outcome = ki(*verify, "--checkpoint", checkpoint, "--json")
    assert (outcome.code, outcome.json()["is_sound"], outcome.json()["sound_entries"]) == (1, False, 2)
    log.write_bytes(b"".join(lines).replace(CORPORATE.encode(), b"group:corporatf"))
    assert ki(*verify).code == 1
    assert ki("--home", indexed_home, "audit", "checkpoint").code == 3
    assert ki(*verify, "--checkpoint", "nonsense").code == 2


def test_nothing_is_answered_or_changed_that_cannot_be_logged(ki: Ki, indexed_home: Path, groups: Path) -> None:
    hit = ki("--home", indexed_home, "search", "gearbox price", "--as", CORPORATE, "--json").json()["hits"][0]
    log = indexed_home / "audit" / "audit.jsonl"
    log.unlink()
    log.mkdir()
    glass = ("break-glass", BARRED, "--path", SUPPLY_FINAL, "--with-others", "--reason", "x", "--minutes", "5")
    for command in (
        ("search", "gearbox price", "--as", CORPORATE),
        ("search", "gearbox price", "--as", CORPORATE, "--json"),
        ("show", hit["hit_id"], "--as", CORPORATE),
        ("show", "no such hit", "--as", CORPORATE),
        ("principals", "set-groups", groups),
        glass,
        ("sync",),
    ):
        outcome = ki("--home", indexed_home, *command)
        assert (outcome.code, outcome.out, "audit log cannot be written" in outcome.err) == (3, "", True), command
    log.rmdir()
    assert ki("--home", indexed_home, "principals", "list", "--json").json() == []
    assert ki("--home", indexed_home, "break-glass", "list", "--json").json() == []
