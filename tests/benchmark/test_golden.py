"""The golden file's form, what a run counts, and the shipped questions over the papers that they ask of."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from knowledge_index.access.recording import open_recorder
from knowledge_index.benchmark.firm import generate_benchmark
from knowledge_index.benchmark.golden import GoldenCounts, GoldenReport, run_golden
from knowledge_index.benchmark.golden_file import GoldenQuestion, load_golden
from knowledge_index.config import AppConfig, EmbeddingSettings
from knowledge_index.domain.errors import InputError, UsageError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.embed import MemoisedEmbedder, build_embedder
from small_firm import CORPORATE, REAL_ESTATE, SmallFirm

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "testdata" / "golden" / "sample.yaml"
# The papers that the shipped questions ask of; a whole firm would take minutes to embed.
ASKED_OF = (
    "kessquill-executed",
    "pengarrow-executed",
    "zwiebrueck-executed",
    "selvaggio-executed",
    "papierwind-executed",
    "ilvermann-executed",
    "Schloßmühle-unterzeichnet",
    "Brüggensüß-unterzeichnet",
)


def run(firm: SmallFirm, questions: Sequence[GoldenQuestion], caller: str | None = None) -> GoldenReport:
    ticks = iter(range(10_000))
    with firm.retrieval() as service:
        return run_golden(
            service,
            open_recorder(firm.home, AppConfig().audit, "tester", lambda: datetime(2026, 3, 1, tzinfo=UTC)),
            questions,
            parse_principals(caller) if caller else None,
            AppConfig().retrieval,
            8,
            None,
            lambda: float(next(ticks)),
            SilentProgress(),
        )


def question(**given: object) -> GoldenQuestion:
    return GoldenQuestion.model_validate({"question": "What is the price of a gearbox?", **given})


def test_what_is_found_said_and_refused_is_counted_by_kind(shared_firm: SmallFirm) -> None:
    report = run(
        shared_firm,
        [
            question(kind="a", must_contain="EUR 48,250.00", answer_must_contain="eur 48,250.00"),
            question(kind="a", must_contain="EUR 48,250.00", answer_must_contain="no such words"),
            question(kind="a", must_contain="EUR 48,250.00", document="Price list"),
            question(kind="b", must_contain=["EUR 48,250.00", "no such words"]),
            question(kind="c", not_said=True),
            question(kind="c", not_said=True, must_not_contain="EUR 48,250.00", **{"as": REAL_ESTATE}),
        ],
        CORPORATE,
    )
    by_kind = dict(report.by_kind)
    assert (by_kind["a"].hit_rate, by_kind["a"].answer_rate, by_kind["a"].refusal_rate) == (2 / 3, 0.5, None)
    assert by_kind["b"].hit_rate == 0.0
    assert (by_kind["c"].hit_rate, by_kind["c"].refusal_rate) == (None, 0.5)
    assert (report.total.questions, report.total.hit_rate, report.total.citation_validity) == (6, 0.5, 1.0)
    # The clock ticks once a second: at the start and at the end of each answer.
    assert (report.total.mean_ms, report.total.p95_ms) == (1000.0, 1000.0)


def test_somebody_has_to_ask(shared_firm: SmallFirm) -> None:
    with pytest.raises(UsageError, match="--as"):
        run(shared_firm, [question(must_contain="x")])


@pytest.mark.parametrize(
    "text",
    [
        "- {question: a, must_contain: b, colour: red}",
        "- {question: a}",
        "- {question: a, must_contain: b, not_said: true}",
        "- {question: a, not_said: true, as: somebody}",
        "questions: []",
        "- [",
        "!!python/object/apply:os.system ['true']",
        "",
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "golden.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"golden\.yaml"):
        load_golden(file)


def test_a_list_and_a_mapping_are_the_same(tmp_path: Path) -> None:
    flat, nested = tmp_path / "flat.yaml", tmp_path / "nested.yaml"
    flat.write_text("- {question: a, must_contain: b}", encoding="utf-8")
    nested.write_text("questions:\n- {question: a, must_contain: [b]}", encoding="utf-8")
    assert load_golden(flat) == load_golden(nested)


def test_the_shipped_questions_are_as_many_as_promised() -> None:
    kinds = [each.kind for each in load_golden(SHIPPED).questions]
    assert len(kinds) >= 60
    assert (kinds.count("unanswerable"), kinds.count("walled")) == (10, 10)
    assert kinds.count("german") >= 10
    assert {"opening", "parties", "renewal", "caps", "definition"} <= set(kinds)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    """The papers of the sample firm that the questions ask of, under its grants, indexed with the packaged model."""
    folder = tmp_path_factory.mktemp("sample")
    generate_benchmark(
        ROOT / "testdata" / "sample-task-set",
        folder / "packed",
        areas=None,
        matters=50,
        docs_target=1000,
        seed=42,
        progress=SilentProgress(),
    )
    firm = SmallFirm.in_folder(folder / "firm")
    firm.embedder = MemoisedEmbedder(build_embedder(EmbeddingSettings()))
    grants = json.loads((folder / "packed" / "acl-by-path.json").read_text(encoding="utf-8"))
    for path, granted in grants.items():
        if any(name in path for name in ASKED_OF):
            content = (folder / "packed" / "mock_dms" / path).read_bytes()
            firm.write(path, content, *(each["principal"] for each in granted))
    assert len(firm.acl) == len(ASKED_OF)
    firm.sync_and_run()
    return firm


def assert_held(total: GoldenCounts) -> None:
    assert total.hit_rate is not None
    assert total.hit_rate >= 0.95
    assert total.answer_rate is not None
    assert total.answer_rate >= 0.85
    assert (total.refusal_rate, total.citation_validity) == (1.0, 1.0)


def test_a_third_of_the_shipped_questions_hold_over_their_papers(sample: SmallFirm) -> None:
    assert_held(run(sample, load_golden(SHIPPED).questions[::3]).total)


@pytest.mark.slow
def test_all_shipped_questions_hold_over_the_whole_firm_in_any_process(tmp_path: Path) -> None:
    """One process indexes the sample firm; two others ask, and agree to the letter."""

    def ki(*arguments: object) -> str:
        program = "from knowledge_index.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program, "--home", str(tmp_path / "home"), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": "", "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    packed = tmp_path / "packed"
    ki("generate-benchmark", packed, "--source", ROOT / "testdata" / "sample-task-set")
    ki("add-source", packed / "mock_dms", "--name", "dms", "--acl-map", packed / "acl-by-path.json")
    ki("sync")
    ki("run")
    adapter = TypeAdapter(GoldenReport)
    first, second = (
        adapter.validate_json(ki("golden", "run", SHIPPED, "--json", "--min-hit-rate", "0.95")) for _ in range(2)
    )
    assert_held(first.total)
    assert first.total.questions == len(load_golden(SHIPPED).questions)
    assert [replace(each, latency_ms=0.0) for each in first.outcomes] == [
        replace(each, latency_ms=0.0) for each in second.outcomes
    ]
