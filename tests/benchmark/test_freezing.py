import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_task_set import write_small_task_set, write_task

from knowledge_index.benchmark import freezing
from knowledge_index.benchmark.firm import generate_benchmark
from knowledge_index.benchmark.freezing import freeze_gold, load_frozen_gold
from knowledge_index.domain.errors import InputError
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.progress import SilentProgress


def generate(source: Path, out: Path) -> Path:
    arguments: dict[str, Any] = {"areas": None, "matters": 50, "docs_target": 1000, "seed": 42}
    return generate_benchmark(source, out, progress=SilentProgress(), **arguments).folder


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    write_small_task_set(folder / "set")
    return generate(folder / "set", folder / "firm")


@pytest.fixture
def firm(generated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(generated, tmp_path / "firm"))


@pytest.fixture
def other_firm(tmp_path: Path) -> Path:
    write_task(tmp_path / "other-set/tasks/a/nda-first-draft")
    return generate(tmp_path / "other-set", tmp_path / "other-firm")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_gold_is_copied_byte_for_byte_and_described(firm: Path, tmp_path: Path) -> None:
    result = freeze_gold(firm, "tiny", tmp_path / "new" / "data", force=False)
    assert not result.unchanged
    assert result.gold_file == tmp_path / "new" / "data" / "tiny.gold.jsonl"
    assert names(tmp_path / "new" / "data") == ["tiny.gold.jsonl", "tiny.meta.json"]
    gold = (firm / "retrieval-gold.jsonl").read_bytes()
    assert result.gold_file.read_bytes() == gold
    manifest = json.loads((firm / "scenario.json").read_text())
    assert json.loads((tmp_path / "new/data/tiny.meta.json").read_text()) == {
        "schema_version": 1,
        "name": "tiny",
        "corpus_sha256": manifest["corpus_sha256"],
        "generator": {"areas": None, "matters": 50, "docs_target": 1000, "seed": 42},
        "counts_by_kind": {"factoid": 7, "instruction_working_set": 4},
        "gold_sha256": hashlib.sha256(gold).hexdigest(),
    }


def test_what_was_frozen_is_loaded_by_file_and_by_name(
    firm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen = freeze_gold(firm, "tiny.v1", tmp_path / "data", force=False)
    assert load_frozen_gold(str(frozen.gold_file)) == frozen.gold
    monkeypatch.chdir(tmp_path / "data")
    assert load_frozen_gold("tiny.v1.gold.jsonl") == frozen.gold
    monkeypatch.setattr(freezing, "packaged_gold_folder", lambda: tmp_path / "data")
    assert load_frozen_gold("tiny.v1") == frozen.gold
    with pytest.raises(InputError, match=r"tiny\.v1"):
        load_frozen_gold("tiny")
    lines = [json.loads(line) for line in frozen.gold_file.read_text(encoding="utf-8").split("\n") if line]
    assert [query.gold_id for query in frozen.gold.queries] == [line["gold_id"] for line in lines]
    assert [query.principal for query in frozen.gold.queries] == [Principal.parse(line["principal"]) for line in lines]
    assert [[(list(group.paths), group.grade) for group in query.groups] for query in frozen.gold.queries] == [
        [(group["paths"], group["grade"]) for group in line["gold"]] for line in lines
    ]


def test_freezing_the_same_gold_again_changes_nothing(firm: Path, tmp_path: Path) -> None:
    freeze_gold(firm, "tiny", tmp_path / "data", force=False)
    before = [(path.name, path.stat().st_mtime_ns) for path in sorted((tmp_path / "data").iterdir())]
    assert freeze_gold(firm, "tiny", tmp_path / "data", force=False).unchanged
    assert [(path.name, path.stat().st_mtime_ns) for path in sorted((tmp_path / "data").iterdir())] == before


def test_another_gold_under_the_name_is_replaced_by_force_alone(firm: Path, other_firm: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    first = freeze_gold(firm, "tiny", data, force=False)
    with pytest.raises(InputError, match="--force"):
        freeze_gold(other_firm, "tiny", data, force=False)
    assert load_frozen_gold(str(first.gold_file)) == first.gold
    second = freeze_gold(other_firm, "tiny", data, force=True)
    assert not second.unchanged
    assert load_frozen_gold(str(first.gold_file)) == second.gold != first.gold
    assert names(data) == ["tiny.gold.jsonl", "tiny.meta.json"]


@pytest.mark.parametrize("name", ["", "Tiny", "a b", "../tiny", "a/b", ".tiny", "-tiny", "tiny\n", "t.gold.jsonl", "ü"])
def test_a_name_is_plain(firm: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="name"):
        freeze_gold(firm, name, tmp_path / "data", force=True)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("change", ["edited", "added", "removed"])
def test_a_firm_that_is_not_whole_is_refused(firm: Path, tmp_path: Path, change: str) -> None:
    document = sorted(path for path in (firm / "mock_dms").rglob("*.docx"))[0]
    if change == "edited":
        document.write_bytes(document.read_bytes() + b" ")
    elif change == "added":
        document.with_name("zusatz.docx").write_bytes(b"x")
    else:
        document.unlink()
    with pytest.raises(InputError, match="mock_dms"):
        freeze_gold(firm, "tiny", tmp_path / "data", force=False)
    assert not (tmp_path / "data").exists()


def test_file_times_and_modes_are_no_part_of_the_firm(firm: Path, tmp_path: Path) -> None:
    document = next((firm / "mock_dms").rglob("*.docx"))
    document.touch()
    document.chmod(0o600)
    assert freeze_gold(firm, "tiny", tmp_path / "data", force=False).gold.queries


@pytest.mark.parametrize("name", ["scenario.json", "retrieval-gold.jsonl"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"[]\n", b"\xff\n"])
def test_a_firm_with_damaged_files_is_refused_by_their_name(
    firm: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    if content is None:
        (firm / name).unlink()
    else:
        (firm / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        freeze_gold(firm, "tiny", tmp_path / "data", force=False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gold", []),
        ("gold", [{"paths": [], "grade": 1}]),
        ("gold", [{"paths": ["nowhere.docx"], "grade": 1}]),
        ("gold", [{"paths": ["x"], "grade": 0}]),
        ("kind", "guess"),
        ("principal", "everyone"),
        ("query", ""),
        ("surplus", 1),
    ],
)
def test_a_malformed_line_of_gold_is_refused(firm: Path, tmp_path: Path, field: str, value: object) -> None:
    file = firm / "retrieval-gold.jsonl"
    first, *rest = file.read_text(encoding="utf-8").split("\n")
    file.write_text("\n".join([json.dumps(json.loads(first) | {field: value}), *rest]), encoding="utf-8")
    with pytest.raises(InputError, match=r"retrieval-gold\.jsonl"):
        freeze_gold(firm, "tiny", tmp_path / "data", force=False)


def test_a_gold_id_may_not_occur_twice(firm: Path, tmp_path: Path) -> None:
    file = firm / "retrieval-gold.jsonl"
    file.write_bytes(file.read_bytes() * 2)
    with pytest.raises(InputError, match="twice"):
        freeze_gold(firm, "tiny", tmp_path / "data", force=False)


def test_gold_that_was_changed_after_freezing_is_not_loaded(firm: Path, tmp_path: Path) -> None:
    file = freeze_gold(firm, "tiny", tmp_path / "data", force=False).gold_file
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(InputError, match="SHA-256"):
        load_frozen_gold(str(file))


def test_gold_without_its_meta_file_or_with_one_of_another_kind_is_not_loaded(firm: Path, tmp_path: Path) -> None:
    file = freeze_gold(firm, "tiny", tmp_path / "data", force=False).gold_file
    meta = tmp_path / "data" / "tiny.meta.json"
    described = json.loads(meta.read_text())
    meta.write_text(json.dumps(described | {"schema_version": 2}))
    with pytest.raises(InputError, match="schema version"):
        load_frozen_gold(str(file))
    meta.write_text("{}")
    with pytest.raises(InputError, match=r"tiny\.meta\.json"):
        load_frozen_gold(str(file))
    meta.unlink()
    with pytest.raises(InputError, match=r"tiny\.meta\.json"):
        load_frozen_gold(str(file))


def test_gold_that_is_not_frozen_is_not_loaded(firm: Path) -> None:
    with pytest.raises(InputError, match="freeze-gold"):
        load_frozen_gold(str(firm / "retrieval-gold.jsonl"))
    with pytest.raises(InputError, match="cannot be read"):
        load_frozen_gold(str(firm / "absent.gold.jsonl"))


def test_a_name_that_no_file_can_have_is_refused(firm: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot name frozen gold"):
        freeze_gold(firm, "a" * 201, tmp_path / "data", force=False)
    with pytest.raises(InputError, match="is not frozen gold"):
        load_frozen_gold("a" * 300)
    assert freeze_gold(firm, "a" * 200, tmp_path / "data", force=False).gold_file.is_file()
