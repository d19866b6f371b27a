"""``ki search --deleted`` and ``ki show --state/--changes`` as a person calls them."""

import json
from pathlib import Path

import pytest
from command_line import Ki

from ooxml_paper import redline


@pytest.fixture
def home_with_redline(ki: Ki, home: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "estate"
    folder.mkdir()
    (folder / "supply-redline-v2.docx").write_bytes(redline("penalty of ten", "penalty of five"))
    acl_map = tmp_path / "acl.json"
    acl_map.write_text(json.dumps({"supply-redline-v2.docx": [{"principal": "user:zoe", "access": "allow"}]}))
    for words in (("add-source", folder, "--name", "estate", "--acl-map", acl_map), ("sync",), ("run",)):
        assert ki("--home", home, *words).code == 0
    return home


def test_deleted_wording_leads_to_its_place_in_the_marked_text(ki: Ki, home_with_redline: Path) -> None:
    outcome = ki("--home", home_with_redline, "search", "--deleted", "ten penalties", "--as", "user:zoe", "--json")
    (found,) = outcome.json()["deleted"]
    assert (found["kind"], found["author"], found["share"]) == ("deletion", "A. Muster", 1.0)
    hit = ("--home", home_with_redline, "show", found["hit_id"], "--as", "user:zoe")
    marked = ki(*hit, "--state", "marked", "--json").json()
    assert (marked["state"], marked["has_changes"]) == ("marked", True)
    assert "The [-penalty of ten-][+penalty of five+] stands." in marked["text"]
    changes = ki(*hit, "--changes", "--json").json()["changes"]
    assert [each["kind"] for each in changes] == ["deletion", "insertion"]
    assert "The penalty of ten stands." in ki(*hit, "--state", "original", "--whole").out
    listed = ki(*hit, "--changes").out
    assert "deletion by A. Muster, 2026-03-02T09:15:00Z" in listed
    assert "insertion by A. Muster" in listed


def test_deleted_wording_is_labelled_as_such(ki: Ki, home_with_redline: Path) -> None:
    shown = ki("--home", home_with_redline, "search", "--deleted", "ten", "--as", "user:zoe").out
    assert "deletion by A. Muster, 2026-03-02T09:15:00Z  100% of the words" in shown
    assert "estate:supply-redline-v2.docx" in shown
    nothing = ki("--home", home_with_redline, "search", "--deleted", "ten", "--as", "user:other")
    assert (nothing.code, nothing.out) == (0, "No deleted wording found that this caller may see.\n")


@pytest.mark.parametrize("options", [("--changes", "--state", "marked"), ("--whole",)])
def test_views_that_exclude_each_other_are_refused(ki: Ki, home: Path, options: tuple[str, ...]) -> None:
    outcome = ki("--home", home, "show", "x", "--as", "user:zoe", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert options[-1].lstrip("-") in outcome.err or "--state" in outcome.err
