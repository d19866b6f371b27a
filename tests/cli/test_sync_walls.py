"""What ``ki sync`` alone does to access: taken away at once, kept where unchanged, whatever else goes wrong."""

import json
import shutil
from pathlib import Path

import docx
import pytest
from command_line import Ki

CLAUSE = "1. Purpose\nThe bidder keeps every paper about the zinc smelter in Nordkai confidential until closing.\n"


def write_map(file: Path, **grants: str) -> None:
    """``name="user:a,!user:b"``: the file name's underscores stand for dots."""
    content = {
        path.replace("_", "."): [
            {"principal": each.lstrip("!"), "access": "deny" if each.startswith("!") else "allow"}
            for each in listed.split(",")
        ]
        for path, listed in grants.items()
    }
    file.write_text(json.dumps(content), encoding="utf-8")


def found_by(ki: Ki, home: Path, caller: str, query: str = "zinc smelter") -> list[tuple[str, str]]:
    hits = ki("--home", home, "search", query, "--as", caller, "--json").json()["hits"]
    return [(hit["path"], hit["title"]) for hit in hits]


def connect(ki: Ki, home: Path, folder: Path, acl_map: Path) -> None:
    assert ki("--home", home, "add-source", folder, "--name", folder.name, "--acl-map", acl_map).code == 0


@pytest.fixture
def estate(tmp_path: Path) -> Path:
    folder = tmp_path / "estate"
    folder.mkdir()
    (folder / "a.txt").write_text(CLAUSE, encoding="utf-8")
    return folder


def test_a_map_behind_a_link_is_followed_to_where_the_link_points_now(ki: Ki, home: Path, estate: Path) -> None:
    first, second, link = (estate.parent / name for name in ("v1.json", "v2.json", "acl.json"))
    write_map(first, a_txt="user:zoe")
    write_map(second, a_txt="!user:zoe")
    link.symlink_to(first)
    connect(ki, home, estate, link)
    ki("--home", home, "sync")
    ki("--home", home, "run")
    assert found_by(ki, home, "user:zoe")
    link.unlink()
    link.symlink_to(second)
    assert ki("--home", home, "sync").code == 0
    assert found_by(ki, home, "user:zoe") == []


def test_a_source_that_is_away_stops_no_wall_of_its_own_or_of_another(ki: Ki, home: Path, estate: Path) -> None:
    away = estate.parent / "away"
    shutil.copytree(estate, away)
    maps = {folder: estate.parent / f"{folder.name}.json" for folder in (away, estate)}
    for folder, file in maps.items():
        write_map(file, a_txt="user:boss")
        connect(ki, home, folder, file)
    ki("--home", home, "sync")
    ki("--home", home, "run")
    assert len(found_by(ki, home, "user:boss")) == 2
    away.rename(estate.parent / "moved")
    for file in maps.values():
        write_map(file, a_txt="!user:boss")
    synced = ki("--home", home, "sync")
    assert (synced.code, "away" in synced.err) == (2, True)
    assert found_by(ki, home, "user:boss") == []


def test_who_is_in_the_old_and_the_new_grants_goes_on_finding(ki: Ki, home: Path, estate: Path) -> None:
    acl_map = estate.parent / "acl.json"
    write_map(acl_map, a_txt="group:deal,user:out")
    connect(ki, home, estate, acl_map)
    ki("--home", home, "sync")
    ki("--home", home, "run")
    write_map(acl_map, a_txt="group:deal,user:auditor")
    ki("--home", home, "sync")
    assert len(found_by(ki, home, "group:deal")) == 1
    assert found_by(ki, home, "user:out") == []
    ki("--home", home, "run")
    assert len(found_by(ki, home, "group:deal")) == 1
    assert len(found_by(ki, home, "user:auditor")) == 1


def test_a_title_goes_behind_the_wall_with_the_version_that_gave_it(ki: Ki, home: Path, estate: Path) -> None:
    for name, title in (("spa-v1.docx", "Project Zebrafish"), ("spa-v2.docx", "")):
        document = docx.Document()
        document.core_properties.title = title
        for line in (CLAUSE + name).splitlines():
            document.add_paragraph(line)
        document.save(str(estate / name))
    acl_map = estate.parent / "acl.json"
    both = {"spa-v1_docx": "user:xenia", "spa-v2_docx": "user:xenia"}
    write_map(acl_map, **both)
    connect(ki, home, estate, acl_map)
    ki("--home", home, "sync")
    ki("--home", home, "run")
    assert ("spa-v2.docx", "Project Zebrafish") in found_by(ki, home, "user:xenia", "spa-v2 zinc smelter")
    write_map(acl_map, **(both | {"spa-v1_docx": "user:other"}))
    ki("--home", home, "sync")
    for query in ("zinc smelter", "Project Zebrafish"):
        assert "Zebrafish" not in ki("--home", home, "search", query, "--as", "user:xenia", "--json").out
    ki("--home", home, "run")
    assert found_by(ki, home, "user:xenia") == [("spa-v2.docx", "Spa")]


def test_the_binding_version_is_shown_also_when_it_has_other_grants(ki: Ki, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "leases"
    folder.mkdir()
    grants = {}
    for number in range(10):
        for mark, listed in (("draft", "group:deal"), ("executed", "group:deal,group:firm")):
            (folder / f"lease{number}-{mark}.txt").write_text(f"{CLAUSE}Lot {number}.", encoding="utf-8")
            grants[f"lease{number}-{mark}_txt"] = listed
    acl_map = tmp_path / "acl.json"
    write_map(acl_map, **grants)
    connect(ki, home, folder, acl_map)
    ki("--home", home, "sync")
    ki("--home", home, "run")
    paths = [path for path, _ in found_by(ki, home, "group:deal")]
    assert sorted(paths) == [f"lease{number}-executed.txt" for number in range(10)]
