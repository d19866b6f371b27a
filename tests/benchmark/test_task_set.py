import json
import os
import unicodedata
from pathlib import Path

import pytest
from small_task_set import criteria, write_small_task_set, write_task

from knowledge_index.benchmark.task_set import read_task_set, split_task_folder
from knowledge_index.domain.errors import InputError


def test_both_layouts_and_areas_of_any_depth_are_read(tmp_path: Path) -> None:
    write_small_task_set(tmp_path)
    scenarios = read_task_set(tmp_path, None)
    assert [(each.scenario_id, each.area, each.instrument, each.task_type) for each in scenarios] == [
        (
            "contracts/commercial/lease-term-negotiation/scenario",
            "contracts/commercial",
            "lease",
            "term-negotiation",
        ),
        (
            "contracts/commercial/supply-agreement-first-draft/scenario-01",
            "contracts/commercial",
            "supply-agreement",
            "first-draft",
        ),
        (
            "contracts/commercial/supply-agreement-first-turn-redline/scenario-02",
            "contracts/commercial",
            "supply-agreement",
            "first-turn-redline",
        ),
        ("employment/supply-agreement-first-draft/scenario-01", "employment", "supply-agreement", "first-draft"),
    ]
    assert [document.path for document in scenarios[1].documents] == [
        "mail/engagement.eml",
        "supply-agreement-draft-v1.docx",
        "supply-agreement-final.docx",
        "term-sheet.xlsx",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("supply-agreement-first-draft", ("supply-agreement", "first-draft")),
        ("nda-subsequent-turn-redline", ("nda", "subsequent-turn-redline")),
        ("nda-counterparty-paper-review", ("nda", "counterparty-paper-review")),
        ("nda-playbook-escalation", ("nda", "playbook-escalation")),
        ("closing-checklist", ("closing-checklist", "general")),
        ("first-draft", ("first-draft", "general")),
    ],
)
def test_task_folder_names_split_into_instrument_and_task_type(name: str, expected: tuple[str, str]) -> None:
    assert split_task_folder(name) == expected


def test_a_flat_task_and_numbered_scenarios_may_share_a_folder(tmp_path: Path) -> None:
    task_folder = tmp_path / "tasks" / "area" / "nda-first-draft"
    write_task(task_folder)
    write_task(task_folder / "scenario-01")
    assert [each.scenario_id for each in read_task_set(tmp_path, None)] == [
        "area/nda-first-draft/scenario",
        "area/nda-first-draft/scenario-01",
    ]


def test_a_task_json_among_the_documents_is_a_document(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks/area/nda-first-draft", {"inner/task.json": b"not a task"})
    (scenario,) = read_task_set(tmp_path, None)
    assert [document.path for document in scenario.documents] == ["inner/task.json"]


def test_criteria_are_kept_as_they_were_read(tmp_path: Path) -> None:
    given = [{"weight": 1.5, "match_criteria": "PASS if “Ü”.", "id": 7, "title": "t", "deliverables": [{"a": None}]}]
    write_task(tmp_path / "tasks/area/nda-first-draft", criteria=given)
    (scenario,) = read_task_set(tmp_path, None)
    assert json.dumps(scenario.criteria_as_read) == json.dumps(given)
    assert scenario.criteria[0].id == "7"


def test_leavings_are_passed_over_and_names_are_composed(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Kündigung.txt")
    leavings = (".DS_Store", "Thumbs.db", "~$lock.docx", ".git/config", "__MACOSX/x.docx")
    write_task(
        tmp_path / "tasks/area/nda-first-draft",
        dict.fromkeys(leavings, b"x") | {decomposed: b"x", "a b\u00a0c.txt": b""},
    )
    (scenario,) = read_task_set(tmp_path, None)
    assert [document.path for document in scenario.documents] == ["Kündigung.txt", "a b\u00a0c.txt"]
    assert scenario.skipped_files == len(leavings)


def test_areas_select_themselves_and_what_lies_below_them(tmp_path: Path) -> None:
    write_small_task_set(tmp_path)
    write_task(tmp_path / "tasks/contracts-old/nda-first-draft")
    assert {each.area for each in read_task_set(tmp_path, ("contracts/commercial",))} == {"contracts/commercial"}
    assert {each.area for each in read_task_set(tmp_path, ("contracts", "employment/"))} == {
        "contracts/commercial",
        "employment",
    }


@pytest.mark.parametrize("area", ["comm", "contracts/comm", "Employment", "", "..", "contracts/commercial/x"])
def test_an_unknown_area_is_refused_with_the_known_ones(tmp_path: Path, area: str) -> None:
    write_small_task_set(tmp_path)
    with pytest.raises(InputError, match="contracts/commercial, employment"):
        read_task_set(tmp_path, ("employment", area))


def test_a_source_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tasks/"):
        read_task_set(tmp_path / "absent", None)
    (tmp_path / "tasks" / "area").mkdir(parents=True)
    with pytest.raises(InputError, match=r"no task\.json"):
        read_task_set(tmp_path, None)


def test_a_task_outside_every_area_is_refused(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks/nda-first-draft")
    with pytest.raises(InputError, match="nda-first-draft"):
        read_task_set(tmp_path, None)


GOOD = {"title": "t", "instructions": "i", "criteria": criteria("PASS if so.")}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"title": NaN}',
        b"[" * 100_000,
        json.dumps(GOOD | {"title": "  "}).encode(),
        json.dumps(GOOD | {"instructions": None}).encode(),
        json.dumps({key: value for key, value in GOOD.items() if key != "criteria"}).encode(),
        json.dumps(GOOD | {"criteria": []}).encode(),
        json.dumps(GOOD | {"criteria": {"a": 1}}).encode(),
        json.dumps(GOOD | {"criteria": [{"id": "C-1", "title": "t"}]}).encode(),
        json.dumps(GOOD | {"criteria": [*criteria("a"), *criteria("b")]}).encode(),
        b'{"title": "\\ud800", "instructions": "i", "criteria": [{"id": "1", "title": "t", "match_criteria": "m"}]}',
    ],
)
def test_a_malformed_task_is_refused_by_its_file_name(tmp_path: Path, content: bytes) -> None:
    path = write_task(tmp_path / "tasks/area/nda-first-draft/scenario-01")
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_task_set(tmp_path, None)
    assert str(path) in str(caught.value)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = write_task(tmp_path / "tasks/area/nda-first-draft")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_task_set(tmp_path, None)) == 1


@pytest.mark.parametrize("target", ["/etc/hostname", "../../../../../outside.txt", "nowhere.txt", "link.txt"])
def test_links_that_leave_the_source_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    source = tmp_path / "source"
    write_task(source / "tasks/area/nda-first-draft")
    link = source / "tasks/area/nda-first-draft/documents/link.txt"
    link.symlink_to(target)
    with pytest.raises(InputError, match=r"link\.txt"):
        read_task_set(source, None)


def test_a_link_to_a_file_of_the_source_is_taken_and_one_to_a_folder_refused(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks/area/nda-first-draft")
    documents = tmp_path / "tasks/area/nda-first-draft/documents"
    (documents / "copy.txt").symlink_to("note.txt")
    (scenario,) = read_task_set(tmp_path, None)
    assert [document.path for document in scenario.documents] == ["copy.txt", "note.txt"]
    (documents / "loop").symlink_to("..")
    with pytest.raises(InputError, match="loop"):
        read_task_set(tmp_path, None)


def test_hidden_links_are_passed_over_like_other_hidden_files(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks/area/nda-first-draft")
    (tmp_path / "tasks" / ".cache").symlink_to("/")
    assert len(read_task_set(tmp_path, None)) == 1


def test_names_that_cannot_be_kept_are_refused(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks/area/nda-first-draft", {"a\nb.txt": b""})
    with pytest.raises(InputError, match=r"a\\nb\.txt"):
        read_task_set(tmp_path, None)


def test_names_that_are_one_after_normalisation_are_refused(tmp_path: Path) -> None:
    names = [unicodedata.normalize(form, "Ü.txt") for form in ("NFC", "NFD")]
    write_task(tmp_path / "tasks/area/nda-first-draft", dict.fromkeys(names, b""))
    if len(list((tmp_path / "tasks/area/nda-first-draft/documents").iterdir())) < 2:
        pytest.skip("this file system holds both spellings as one name")
    with pytest.raises(InputError, match="normalisation"):
        read_task_set(tmp_path, None)


def test_what_is_neither_file_nor_folder_is_refused(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks/area/nda-first-draft")
    os.mkfifo(tmp_path / "tasks/area/nda-first-draft/documents/pipe")
    with pytest.raises(InputError, match="pipe"):
        read_task_set(tmp_path, None)
