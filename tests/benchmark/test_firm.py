import hashlib
import json
import os
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from small_task_set import criteria, docx_bytes, write_small_task_set, write_task

from in_process import convert_in_process
from knowledge_index.benchmark.firm import GeneratedFirm, generate_benchmark
from knowledge_index.benchmark.packing import practice_group_of
from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import InputError, UsageError
from knowledge_index.domain.matters import matter_of
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.progress import SilentProgress

EXTERNAL_TASK_SET = Path(__file__).parents[2] / "external" / "task-set"


def generate(source: Path, out: Path, **changes: Any) -> GeneratedFirm:
    arguments: dict[str, Any] = {"areas": None, "matters": 50, "docs_target": 1000, "seed": 42}
    return generate_benchmark(source, out, progress=SilentProgress(), **(arguments | changes))


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def json_of(firm: Path, name: str) -> Any:
    return json.loads((firm / name).read_text(encoding="utf-8"))


def lines_of(firm: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (firm / name).read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set")
    write_small_task_set(folder)
    return folder


@pytest.fixture(scope="module")
def firm(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(source, tmp_path_factory.mktemp("firm") / "out").folder


def test_documents_are_copied_unchanged_into_matter_folders(source: Path, firm: Path) -> None:
    copied = tree(firm / "mock_dms")
    originals = [
        path.read_bytes()
        for path in source.rglob("*")
        if path.is_file() and "documents" in path.relative_to(source).parts
    ]
    assert sorted(copied.values()) == sorted(originals)
    (path,) = [path for path in copied if path.endswith("/mail/engagement.eml")]
    _, matter_folder, scenario_folder, *_ = path.split("/")
    assert matter_folder.endswith(" Supply Agreement - Contracts Commercial")
    assert scenario_folder == "first-draft-scenario-01"


def test_matters_are_counted_up_and_named_as_the_product_reads_them(firm: Path) -> None:
    scenarios = lines_of(firm, "scenarios.jsonl")
    titles = {each["matter_ref"]: each["matter_title"] for each in scenarios}
    assert sorted(titles) == ["M-2026-0001", "M-2026-0002", "M-2026-0003"]
    assert sorted(titles.values()) == [
        "Lease",
        "Supply Agreement - Contracts Commercial",
        "Supply Agreement - Employment",
    ]
    for each in scenarios:
        for path in each["document_paths"]:
            matter = matter_of(path)
            assert (matter.ref, matter.title) == (each["matter_ref"], each["matter_title"])


def test_scenarios_carry_what_the_task_says(source: Path, firm: Path) -> None:
    (record,) = [
        each
        for each in lines_of(firm, "scenarios.jsonl")
        if each["task_type"] == "first-draft" and "/" in each["practice_area"]
    ]
    task = json_of(source, "tasks/contracts/commercial/supply-agreement-first-draft/scenario-01/task.json")
    assert list(record) == [
        *("scenario_id", "matter_ref", "matter_title", "practice_area", "principal", "instrument", "task_type"),
        *("title", "instructions", "criteria", "document_paths"),
    ]
    assert record["criteria"] == task["criteria"]
    assert (record["title"], record["instructions"]) == (task["title"], task["instructions"])
    assert record["scenario_id"] == "contracts/commercial/supply-agreement-first-draft/scenario-01"
    assert (record["instrument"], record["principal"]) == ("supply-agreement", "group:contracts.commercial")


def test_every_document_is_granted_to_its_practice_group_alone(firm: Path) -> None:
    grants = json_of(firm, "acl-by-path.json")
    assert set(grants) == set(tree(firm / "mock_dms"))
    for each in lines_of(firm, "scenarios.jsonl"):
        for path in each["document_paths"]:
            assert grants[path] == [{"principal": each["principal"], "access": "allow"}]


def test_gold_names_packed_documents_only_and_every_matter_has_some(firm: Path) -> None:
    gold = lines_of(firm, "retrieval-gold.jsonl")
    grants = json_of(firm, "acl-by-path.json")
    for line in gold:
        for group in line["gold"]:
            assert group["grade"] == 1
            assert all(grants[path][0]["principal"] == line["principal"] for path in group["paths"])
    assert {line["matter_ref"] for line in gold} == {"M-2026-0001", "M-2026-0002", "M-2026-0003"}
    factoids = {
        (line["principal"], line["query"]): sorted(
            path.split("/")[-1] for group in line["gold"] for path in group["paths"]
        )
        for line in gold
        if line["kind"] == "factoid"
    }
    commercial = "group:contracts.commercial"
    assert factoids == {
        (commercial, "Nordkai Kaltwalzwerk GmbH"): ["supply-agreement-draft-v1.docx", "supply-agreement-final.docx"],
        (commercial, "COM-7100/26"): ["engagement.eml", "term-sheet.xlsx"],
        (commercial, "EUR 14.750"): ["supply-agreement-final.docx"],
        (commercial, "HRB 48213"): ["Vermerk.docx"],
        (commercial, "14. März 2026"): ["Vermerk.docx"],
        (commercial, "3 O 112/25"): ["letter.eml"],
        ("group:employment", "COM-7100/26"): ["terms.xlsx"],
    }


def test_the_manifest_says_what_was_asked_and_packed(firm: Path) -> None:
    manifest = json_of(firm, "scenario.json")
    assert manifest["arguments"] == {"areas": None, "matters": 50, "docs_target": 1000, "seed": 42}
    assert manifest["principals"] == ["group:contracts.commercial", "group:employment"]
    assert manifest["counts"] == {
        "matters": 3,
        "scenarios": 4,
        "documents": 12,
        "documents_by_suffix": {".docx": 7, ".eml": 2, ".xlsx": 3},
        "documents_by_area": {"contracts/commercial": 9, "employment": 3},
        "unreadable": {"damaged": 1},
        "skipped_scenarios": 0,
        "skipped_files": 0,
        "gold_by_kind": {"factoid": 7, "instruction_working_set": 4},
        "factoids_by_value_kind": {"amount": 1, "date": 1, "quoted": 1, "reference": 4},
    }
    whole = b"".join(
        path.encode() + b"\0" + hashlib.sha256(data).hexdigest().encode() + b"\n"
        for path, data in sorted(tree(firm / "mock_dms").items())
    )
    assert manifest["corpus_sha256"] == hashlib.sha256(whole).hexdigest()


def test_generating_twice_gives_the_same_bytes_and_names_no_machine(source: Path, firm: Path, tmp_path: Path) -> None:
    again = generate(source, tmp_path / "again").folder
    assert tree(again) == tree(firm)
    for name, content in tree(again).items():
        if not name.startswith("mock_dms/"):
            assert str(source).encode() not in content
            assert str(tmp_path).encode() not in content


def test_time_stamps_and_the_order_of_the_file_system_change_nothing(source: Path, firm: Path, tmp_path: Path) -> None:
    rewritten = tmp_path / "set"
    for path, data in reversed(tree(source).items()):
        file = rewritten / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (0, 0))
    assert tree(generate(rewritten, tmp_path / "out").folder) == tree(firm)


def order_of(firm: Path) -> list[str]:
    return list(dict.fromkeys(each["matter_title"] for each in lines_of(firm, "scenarios.jsonl")))


def write_many_matters(source: Path) -> None:
    for area in ("a", "b", "c"):
        for instrument in range(4):
            for scenario in (1, 2):
                folder = source / f"tasks/{area}/{area}{instrument}-first-draft/scenario-{scenario:02d}"
                write_task(folder, {f"{number}.txt": b"x" for number in range(3)})


def test_the_seed_changes_the_order_and_the_areas_take_turns(tmp_path: Path) -> None:
    write_many_matters(tmp_path / "set")
    orders = {
        seed: order_of(generate(tmp_path / "set", tmp_path / f"out-{seed}", seed=seed).folder) for seed in range(6)
    }
    assert len({tuple(order) for order in orders.values()}) > 1
    for order in orders.values():
        assert len(order) == 12
        for turn in range(0, 12, 3):
            assert {title[0] for title in order[turn : turn + 3]} == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("matters", "docs_target", "expected_matters", "expected_documents"),
    [(50, 1000, 12, 72), (4, 1000, 4, 24), (50, 24, 4, 24), (50, 23, 4, 21), (50, 3, 1, 3), (1, 3, 1, 3), (2, 7, 1, 6)],
)
def test_packing_stops_at_either_limit_and_splits_no_scenario(
    tmp_path: Path, matters: int, docs_target: int, expected_matters: int, expected_documents: int
) -> None:
    write_many_matters(tmp_path / "set")
    firm = generate(tmp_path / "set", tmp_path / "out", matters=matters, docs_target=docs_target)
    assert (firm.manifest.counts.matters, firm.manifest.counts.documents) == (expected_matters, expected_documents)
    assert firm.manifest.counts.scenarios * 3 == expected_documents


def test_only_the_areas_asked_for_are_packed(source: Path, tmp_path: Path) -> None:
    firm = generate(source, tmp_path / "out", areas=("employment",))
    assert firm.manifest.principals == ("group:employment",)
    assert firm.manifest.arguments.areas == ("employment",)


def test_scenarios_without_documents_are_left_out_and_counted(tmp_path: Path) -> None:
    write_task(tmp_path / "set/tasks/a/nda-first-draft/scenario-01", {})
    write_task(tmp_path / "set/tasks/a/lease-first-draft/scenario-01", {"a.txt": b"x", ".hidden": b"x"})
    counts = generate(tmp_path / "set", tmp_path / "out").manifest.counts
    assert (counts.matters, counts.scenarios, counts.skipped_scenarios, counts.skipped_files) == (1, 1, 1, 1)


def test_unreadable_documents_are_packed_and_listed(source: Path, tmp_path: Path) -> None:
    write_task(tmp_path / "set/tasks/a/nda-first-draft", {"a.docx": b"", "b.xyz": b"?", "c.txt": b"text"})
    firm = generate(tmp_path / "set", tmp_path / "out")
    assert {path.split("/")[-1] for path in firm.unreadable} == {"a.docx", "b.xyz"}
    assert firm.unreadable[next(path for path in firm.unreadable if path.endswith(".xyz"))] == "unsupported"
    assert sum(firm.manifest.counts.unreadable.values()) == 2


def test_equal_bytes_are_converted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = docx_bytes("REF-77/A")
    for number in (1, 2):
        folder = tmp_path / f"set/tasks/a/nda-first-draft/scenario-{number:02d}"
        write_task(folder, {"a.docx": same, "b.docx": same, "c.txt": b"-"}, criteria=criteria("Cites REF-77/A."))
    asked: list[str] = []

    def counting(path: str, *ocr: str) -> Any:
        asked.append(path)
        return converter_for(path, *ocr)

    convert_in_process(monkeypatch, counting)
    firm = generate(tmp_path / "set", tmp_path / "out")
    assert sorted(path.rsplit(".")[-1] for path in asked) == ["docx", "txt"]
    (factoid,) = [line for line in lines_of(firm.folder, "retrieval-gold.jsonl") if line["kind"] == "factoid"]
    assert sum(len(group["paths"]) for group in factoid["gold"]) == 4


def test_an_empty_folder_is_filled_and_its_permissions_are_the_usual_ones(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    usual = stat.S_IMODE(out.stat().st_mode)
    generate(source, out)
    assert stat.S_IMODE(out.stat().st_mode) == usual
    generate(source, tmp_path / "deep" / "er")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "out"]


def test_a_link_to_an_empty_folder_stays_a_link(source: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    generate(source, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "scenario.json").is_file()


def test_an_output_that_is_not_empty_is_refused_and_left_alone(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=str(out)):
        generate(source, out)
    with pytest.raises(InputError, match=r"mine\.txt"):
        generate(source, out / "mine.txt")
    assert tree(tmp_path) == {"out/mine.txt": b"mine"}


@pytest.mark.parametrize("out", [".", "new", "tasks/new", "..", "link/new"])
def test_source_and_output_may_not_lie_in_each_other(tmp_path: Path, out: str) -> None:
    source = tmp_path / "set"
    write_task(source / "tasks/a/nda-first-draft")
    (source / "link").symlink_to(".")
    before = tree(tmp_path)
    with pytest.raises(InputError, match="in each other"):
        generate(source, source / out)
    assert tree(tmp_path) == before


def test_a_malformed_task_leaves_nothing_behind(tmp_path: Path) -> None:
    write_small_task_set(tmp_path / "set")
    bad = tmp_path / "set/tasks/contracts/commercial/lease-term-negotiation/task.json"
    bad.write_text("{")
    with pytest.raises(InputError, match="lease-term-negotiation"):
        generate(tmp_path / "set", tmp_path / "new" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_an_interruption_leaves_nothing_behind(source: Path, tmp_path: Path) -> None:
    class Interrupting:
        def task(self, label: str, total: int) -> Any:
            return nullcontext(self)

        def advance(self, steps: int = 1) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate_benchmark(
            source, tmp_path / "out", areas=None, matters=50, docs_target=1000, seed=42, progress=Interrupting()
        )
    assert list(tmp_path.iterdir()) == []


def test_long_names_are_cut_to_what_a_file_system_takes(tmp_path: Path) -> None:
    for area in ("条" * 80, "約" * 80):
        write_task(tmp_path / "set/tasks" / area / ("契" * 80) / "scenario-01")
    firm = generate(tmp_path / "set", tmp_path / "out")
    assert firm.manifest.counts.matters == len(set(order_of(firm.folder))) == 2


def test_limits_below_one_and_limits_that_nothing_fits_are_refused(source: Path, tmp_path: Path) -> None:
    for changes in ({"matters": 0}, {"docs_target": 0}):
        with pytest.raises(UsageError):
            generate(source, tmp_path / "out", **changes)
    with pytest.raises(InputError, match="--docs-target"):
        generate(source, tmp_path / "out", docs_target=1)
    write_task(tmp_path / "bare/tasks/a/nda-first-draft", {})
    with pytest.raises(InputError, match="documents"):
        generate(tmp_path / "bare", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_line_separators_do_not_cut_a_record(tmp_path: Path) -> None:
    instructions = "One\u2028two\x85three\u2029four\nfive"
    write_task(tmp_path / "set/tasks/a/nda-first-draft", instructions=instructions)
    firm = generate(tmp_path / "set", tmp_path / "out").folder
    for name in ("scenarios.jsonl", "retrieval-gold.jsonl"):
        (line,) = (firm / name).read_text(encoding="utf-8").splitlines()
        assert instructions in json.loads(line).values()


def test_readable_groups_for_ordinary_areas() -> None:
    assert str(practice_group_of("corporate-ma")) == "group:corporate-ma"
    assert str(practice_group_of("contracts/ip-licensing")) == "group:contracts.ip-licensing"
    assert str(practice_group_of("Arbeitsrecht/Kündigung, fristlos")).startswith(
        "group:arbeitsrecht.kündigung-fristlos-"
    )


areas = st.lists(st.text(st.sampled_from(list("abA-_., é")), min_size=1, max_size=3), min_size=1, max_size=3).map(
    "/".join
)


@given(areas, areas)
def test_distinct_areas_have_distinct_groups_that_the_command_line_can_name(one: str, other: str) -> None:
    assert (practice_group_of(one) == practice_group_of(other)) == (one == other)
    assert parse_principals(str(practice_group_of(one))) == {practice_group_of(one)}


def test_the_public_contracts_give_gold_for_every_scenario(tmp_path: Path) -> None:
    if not (EXTERNAL_TASK_SET / "tasks").is_dir():
        pytest.skip("external/task-set is not there: see external/README.md")
    firm = generate(EXTERNAL_TASK_SET, tmp_path / "out", docs_target=60)
    gold = lines_of(firm.folder, "retrieval-gold.jsonl")
    working_sets = [line for line in gold if line["kind"] == "instruction_working_set"]
    assert len(working_sets) == firm.manifest.counts.scenarios > 5
    assert len(gold) > 2 * len(working_sets)
    assert firm.unreadable == {}


class _Faulty:
    def convert(self, data: bytes) -> NoReturn:
        raise IndexError("a fault of our own")


def test_a_converters_own_fault_costs_its_documents_alone(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty: Any = _Faulty()
    convert_in_process(monkeypatch, lambda path, *ocr: faulty if path.endswith(".eml") else converter_for(path, *ocr))
    unreadable = generate(source, tmp_path / "out").unreadable
    assert {Path(path).suffix: error_class for path, error_class in unreadable.items()} == {
        ".eml": "internal",
        ".docx": "damaged",
    }


KILLED_WHILE_GENERATING = """
import os, signal, sys
from pathlib import Path
from knowledge_index.benchmark import firm
from knowledge_index.domain.progress import SilentProgress
firm.derive_gold = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
firm.generate_benchmark(Path(sys.argv[1]), Path(sys.argv[2]), areas=None, matters=50, docs_target=1000, seed=42,
                        progress=SilentProgress())
"""


def test_what_a_killed_generation_left_is_removed_by_the_next(source: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED_WHILE_GENERATING, str(source), str(tmp_path / "out")], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.partial-")
    foreign = tmp_path / ".out.partial-of-somebody-else"
    foreign.mkdir()
    held = tmp_path / ".out.partial-at-work"
    held.mkdir()
    with FileLock(held / "generating.lock"):
        generate(source, tmp_path / "out")
    assert sorted(each.name for each in tmp_path.iterdir()) == [held.name, foreign.name, "out"]
