"""From a task set to a gate, by the commands alone, on a small part of the sample set."""

import json
from pathlib import Path

import pytest
from command_line import Ki

SAMPLE_SET = Path(__file__).parents[2] / "testdata" / "sample-task-set"


@pytest.fixture
def generated(ki: Ki, tmp_path: Path) -> Path:
    """A generated firm, its gold frozen as ``tiny`` beside it."""
    firm = tmp_path / "firm"
    made = ki("generate-benchmark", firm, "--source", SAMPLE_SET, "--matters", 3, "--docs-target", 24)
    assert made.code == 0
    assert f"Next: ki add-source {firm / 'mock_dms'}" in made.out
    frozen = ki("freeze-gold", firm, "--name", "tiny", "--to", tmp_path)
    assert (frozen.code, "written" in frozen.out) == (0, True)
    return firm


def evaluate(ki: Ki, home: Path, firm: Path, *options: object):
    return ki("--home", home, "run-retrieval-eval", firm.parent / "tiny.gold.jsonl", "--baseline", "ladder", *options)


def test_an_evaluation_waits_for_its_papers_and_then_passes_or_fails_its_gate(
    ki: Ki, generated: Path, home: Path, tmp_path: Path
) -> None:
    acl_map = generated / "acl-by-path.json"
    ki("--home", home, "add-source", generated / "mock_dms", "--name", "dms", "--acl-map", acl_map)
    ki("--home", home, "sync")
    ki("--home", home, "run", "--limit", 10)

    missing = evaluate(ki, home, generated)

    assert (missing.code, missing.out) == (3, "")
    paths = {path for line in gold_of(tmp_path) for group in line["gold"] for path in group["paths"]}
    assert any(path in missing.err for path in paths)
    assert "not indexed yet: ki run" in missing.err
    assert "Traceback" not in missing.err

    ki("--home", home, "run")
    report_file, run_dir = tmp_path / "reports" / "report.json", tmp_path / "runs"
    passed = evaluate(ki, home, generated, "--min-lift", 0.01, "--report", report_file, "--run-dir", run_dir)
    assert passed.code == 0
    assert all(name in passed.out for name in ("bm25", "naive_dense", "full", "factoid", "instruction_working_set"))
    report = json.loads(report_file.read_text())
    assert report["gate"]["passed"] is True
    assert any(run_dir.iterdir())

    failed = evaluate(ki, home, generated, "--min-lift", 0.99, "--json")
    assert failed.code == 1
    assert failed.json()["gate"]["passed"] is False
    assert any("0.99" in reason for reason in failed.json()["gate"]["reasons"])
    assert failed.json()["queries"] == report["queries"]
    logged = ki("--home", home, "audit", "show", "--json").json()
    assert [each["action"] for each in logged if each["action"] != "regrant"] == ["evaluation"] * 3


def test_gold_is_not_replaced_without_force(ki: Ki, generated: Path, tmp_path: Path) -> None:
    assert "holds this gold already" in ki("freeze-gold", generated, "--name", "tiny", "--to", tmp_path).out
    other = tmp_path / "other"
    ki("generate-benchmark", other, "--source", SAMPLE_SET, "--matters", 2, "--docs-target", 20)
    refused = ki("freeze-gold", other, "--name", "tiny", "--to", tmp_path)
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert ki("freeze-gold", other, "--name", "tiny", "--to", tmp_path, "--force").code == 0


def test_a_firm_is_not_made_over_another(ki: Ki, generated: Path) -> None:
    before = sorted(generated.rglob("*"))
    outcome = ki("generate-benchmark", generated, "--source", SAMPLE_SET)
    assert (outcome.code, str(generated) in outcome.err) == (2, True)
    assert sorted(generated.rglob("*")) == before


@pytest.mark.parametrize("areas", ["no-such-area", " , "])
def test_an_unknown_area_is_refused(ki: Ki, tmp_path: Path, areas: str) -> None:
    outcome = ki("generate-benchmark", tmp_path / "out", "--source", SAMPLE_SET, "--areas", areas)
    assert (outcome.code, outcome.out) == (2, "")
    assert not (tmp_path / "out").exists()


def gold_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "tiny.gold.jsonl").read_text(encoding="utf-8").splitlines()]
