"""What an operator sees of an estate that changes: held deletions, findings, removed sources."""

import json
from pathlib import Path

import pytest
from command_line import Ki


def allowed(*paths: str) -> str:
    return json.dumps({path: [{"principal": "user:zoe", "access": "allow"}] for path in paths})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my estate"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"The {name} paper is about zinc smelters.\n", encoding="utf-8")
    return folder


@pytest.fixture
def followed(ki: Ki, home: Path, folder: Path, tmp_path: Path) -> Path:
    """A home over three files that user:zoe may see."""
    acl_map = tmp_path / "acl.json"
    acl_map.write_text(allowed("a.txt", "b.txt", "c.txt"), encoding="utf-8")
    assert ki("--home", home, "add-source", folder, "--name", "my dms", "--acl-map", acl_map).code == 0
    assert ki("--home", home, "sync").code == 0
    assert ki("--home", home, "run").code == 0
    return home


def found(ki: Ki, home: Path) -> list[str]:
    hits = ki("--home", home, "search", "zinc smelters", "--as", "user:zoe", "--json").json()["hits"]
    return sorted(hit["path"] for hit in hits)


def test_an_emptied_share_is_held_and_findable_until_it_is_confirmed(ki: Ki, followed: Path, folder: Path) -> None:
    everything = found(ki, followed)
    assert everything == ["a.txt", "b.txt", "c.txt"]
    for file in folder.iterdir():
        file.unlink()
    synced = ki("--home", followed, "sync")
    assert synced.code == 0
    assert "HELD: 3 files are missing at once" in synced.out
    assert ki("--home", followed, "run").code == 0
    assert found(ki, followed) == everything
    status = ki("--home", followed, "status").out
    assert "my dms: 3 files missing since " in status
    assert "1 of 3 syncs agree" in status
    assert "ki sync --source 'my dms' --confirm-deletions" in status
    (held,) = ki("--home", followed, "status", "--json").json()["held_deletions"]
    assert (held["source"], held["objects"], held["scans"]) == ("my dms", 3, 1)
    assert "3 gone" in ki("--home", followed, "sync", "--source", "my dms", "--confirm-deletions").out
    assert found(ki, followed) == []
    assert ki("--home", followed, "status", "--json").json()["held_deletions"] == []


def test_the_third_sync_that_agrees_lets_go(ki: Ki, followed: Path, folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    assert ["3 gone" in ki("--home", followed, "sync").out for _ in range(3)] == [False, False, True]


def test_what_needs_an_eye_is_named_by_sync_and_status(ki: Ki, followed: Path, folder: Path) -> None:
    acl_map = folder.parent / "acl.json"
    acl_map.write_text(allowed("a.txt", "b.txt", "typing error.txt"), encoding="utf-8")
    (folder / "a.txt").rename(folder / "moved.txt")
    (folder / "~$c.docx").write_bytes(b"")
    (folder / "link").symlink_to("b.txt")
    synced = ki("--home", followed, "sync").out
    assert "2 entries of the ACL map match no file:\n  a.txt\n  typing error.txt\n" in synced
    assert "2 without grants, visible to nobody:\n  c.txt\n  moved.txt\n" in synced
    assert "1 moved to where nobody has grants, visible to nobody now:\n  a.txt -> moved.txt\n" in synced
    assert "1 files of programs ignored" in synced
    status = ki("--home", followed, "status")
    assert "2 entries of ACL maps that match no file:\n  my dms:a.txt: " in status.out
    assert "1 skipped by the last sync:\n  my dms:link: " in status.out
    assert "2 without grants, visible to nobody:\n  my dms:c.txt\n  my dms:moved.txt\n" in status.out
    listed = ki("--home", followed, "status", "--json").json()
    assert [each["path"] for each in listed["grants_without_file"]] == ["a.txt", "typing error.txt"]
    assert listed["without_grants"] == [{"source": "my dms", "path": path} for path in ("c.txt", "moved.txt")]
    assert [each["path"] for each in listed["skipped"]] == ["link"]
    assert listed["unreadable"] == []


def test_only_the_first_twenty_of_a_long_list_are_named(ki: Ki, followed: Path, folder: Path) -> None:
    for number in range(25):
        (folder / f"new {number:02}.txt").write_text("new", encoding="utf-8")
    synced = ki("--home", followed, "sync").out
    assert "25 without grants, visible to nobody:\n  new 00.txt\n" in synced
    assert "new 19.txt\n  … and 5 more\n" in synced


def test_a_removed_source_is_out_of_search_at_once_and_out_of_the_indexes_after_a_run(
    ki: Ki, followed: Path, folder: Path, tmp_path: Path
) -> None:
    refused = ki("--home", followed, "remove-source", "my dms")
    assert (refused.code, "its 3 files" in refused.err, "--yes" in refused.err) == (2, True, True)
    assert len(found(ki, followed)) == 3
    assert ki("--home", followed, "remove-source", "my dms", "--yes").code == 0
    assert found(ki, followed) == []
    assert ki("--home", followed, "run").code == 0
    status = ki("--home", followed, "status", "--json").json()
    assert (status["sources"], status["index_rows"], status["passages"]) == ([], 0, 0)
    assert ki("--home", followed, "remove-source", "my dms", "--yes").code == 2
    assert (folder / "a.txt").exists()
    # The name is free again, and nothing of the first source comes back with it.
    acl_map = tmp_path / "acl.json"
    assert ki("--home", followed, "add-source", folder, "--name", "my dms", "--acl-map", acl_map).code == 0
    assert found(ki, followed) == []
    assert ki("--home", followed, "sync").out.startswith("my dms: 3 new, ")
    assert " 0 conversions" in ki("--home", followed, "run").out
    assert len(found(ki, followed)) == 3


def test_a_run_without_a_source_says_what_to_do(ki: Ki, home: Path) -> None:
    outcome = ki("--home", home, "run")
    assert (outcome.code, outcome.out) == (3, "")
    assert "there is no source yet; connect one with 'ki add-source DIR --name NAME'" in outcome.err


@pytest.mark.parametrize(
    "command",
    [("sync",), ("status",), ("watch",), ("remove-source", "my dms"), ("add-source", ".", "--name", "x")],
    ids=lambda command: command[0],
)
def test_a_mistake_in_the_settings_stops_every_command(ki: Ki, followed: Path, command: tuple[str, ...]) -> None:
    (followed / "config.toml").write_text("[retrieval]\nno_such_knob = 3\n", encoding="utf-8")
    outcome = ki("--home", followed, *command)
    assert (outcome.code, outcome.out) == (2, "")
    assert "no_such_knob: unknown setting" in outcome.err
