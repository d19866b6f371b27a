import json
import sys
from pathlib import Path
from typing import Any

import pytest
from span_sets import WordCounter, write_small_set

from knowledge_index.cli import main
from small_firm import WordEmbedder

Outcome = tuple[int, str, str]


@pytest.fixture
def ki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """``ki`` in this process, over a home of its own and a made-up model."""
    monkeypatch.setattr("knowledge_index.embed.build_embedder", lambda settings: WordEmbedder())
    monkeypatch.setattr("knowledge_index.embed.token_counts.build_token_counter", lambda settings: WordCounter())

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["ki", "--home", str(tmp_path / "home"), *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_run_prints_a_table_and_writes_every_file(ki: Any, tmp_path: Path) -> None:
    eval_set, out = write_small_set(tmp_path / "set.json"), tmp_path / "out"
    code, printed, progress = ki(
        "spans", "run", eval_set, "--out", out, "--config", "naive", "--config", "clause+rerank"
    )
    assert code == 0
    assert printed.splitlines()[0].split()[:2] == ["configuration", "precision@5"]
    assert "clause+rerank" in printed
    assert "not run" in printed
    assert "embed naive" in progress
    assert "embeddings computed" in progress
    names = {each.name for each in out.iterdir()}
    assert names == {"report.md", "client_report.md", "per_query.json", "taxonomy.json", "rankings-naive.jsonl"}


def test_json_is_all_that_stands_on_standard_output(ki: Any, tmp_path: Path) -> None:
    eval_set = write_small_set(tmp_path / "set.json")
    code, printed, _ = ki("spans", "run", eval_set, "--out", tmp_path / "out", "--config", "naive", "--json")
    assert code == 0
    assert set(json.loads(printed)["configurations"]) == {"naive"}


def test_rankings_of_an_earlier_run_do_not_stay(ki: Any, tmp_path: Path) -> None:
    eval_set, out = write_small_set(tmp_path / "set.json"), tmp_path / "out"
    ki("spans", "run", eval_set, "--out", out, "--config", "naive")
    ki("spans", "run", eval_set, "--out", out, "--config", "clause")
    assert [each.name for each in out.glob("rankings-*")] == ["rankings-clause.jsonl"]


def test_adapt_makes_a_set_that_runs(ki: Any, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "terms.txt").write_text("1. Notice. A notice is given in writing.", "utf-8")
    question = {"query": "How?", "doc_id": "terms", "clause_type": "Notice", "gold_texts": ["in writing"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question), "utf-8")
    arguments = ("--docs", tmp_path / "docs", "--queries", tmp_path / "questions.jsonl", "--out", tmp_path / "set.json")
    code, printed, _ = ki("spans", "adapt", *arguments)
    assert (code, "1 questions on 1 documents, 1 gold spans" in printed) == (0, True)
    # One document: nothing can be resampled, and every report says so.
    assert ki("spans", "run", tmp_path / "set.json", "--out", tmp_path / "out")[0] == 0
    assert "no interval: one document" in (tmp_path / "out" / "report.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.json", "--out", "out"], "none.json: the eval set cannot be read"),
        (["run", "set.json", "--out", "out", "--config", "best"], "there is no configuration 'best'"),
        (["run", "set.json", "--out", "out", "--config", "naive", "--baseline", "clause"], "--baseline clause"),
        (["run", "set.json", "--out", "out", "--config", "clause+rerank"], "no configuration can run"),
        (["run-corpus", "set.json", "--corpus", ".", "--out", "out"], "a benchmark has 'tests'"),
        (["prepare-cuad", "set.json", "cuad.json"], "--allow-other-file"),
        (["adapt", "--docs", "none", "--queries", "q.jsonl", "--out", "out.json"], "none: is no folder"),
    ],
)
def test_a_mistake_ends_with_2_and_says_what_to_do(
    ki: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_small_set(tmp_path / "set.json")
    code, _, errors = ki("spans", *arguments)
    assert code == 2
    assert message in errors
    assert "Traceback" not in errors
