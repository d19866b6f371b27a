import io
import json
from pathlib import Path

import pytest
from evaluation_fakes import (
    GOOD_AND_POOR,
    GRANTS,
    LEASE_LETTER,
    LEASES,
    FakeSearch,
    frozen_gold,
    gold_query,
    run_evaluation,
    services,
)
from rich.console import Console

from knowledge_index.benchmark.presets import PresetName, presets_of
from knowledge_index.benchmark.report import EvaluationReport, write_report
from knowledge_index.benchmark.tables import render_report
from knowledge_index.domain.errors import UsageError


def rendered(report: EvaluationReport) -> str:
    out = io.StringIO()
    Console(file=out, width=80, color_system=None).print(render_report(report))
    return out.getvalue()


def test_the_report_comes_back_from_its_file(tmp_path: Path) -> None:
    report = run_evaluation().report
    file = tmp_path / "reports" / "ladder.json"
    write_report(report, file)
    assert EvaluationReport.model_validate_json(file.read_text(encoding="utf-8")) == report


def test_the_file_says_what_a_reader_needs(tmp_path: Path) -> None:
    write_report(run_evaluation().report, tmp_path / "report.json")
    content = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert content["schema_version"] == 2
    assert content["baselines"][1]["preset"] == "naive_dense"
    assert content["baselines"][1]["settings"]["collapse_per_document"] is False
    assert content["baselines"][1]["metrics"][0]["measures"].keys() == {
        *("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10", "recall_at_20", "mrr_at_10")
    }
    assert content["walls"]["rows"][0].keys() >= {"probe", "preset", "status", "n_searches", "n_hits", "n_leaks"}
    assert content["gate"]["passed"] is True


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(UsageError, match=r"taken/report\.json: the report cannot be written"):
        write_report(run_evaluation().report, tmp_path / "taken" / "report.json")


def test_the_tables_fit_eighty_columns_with_every_heading_whole() -> None:
    text = rendered(run_evaluation().report)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    headings = next(line for line in lines if "nDCG@10" in line)
    assert headings.split() == [
        "baseline,",
        "kind",
        "nDCG@10",
        "R@1",
        "R@5",
        "R@10",
        "R@20",
        "MRR@10",
        "p50",
        "ms",
        "p95",
        "ms",
    ]
    full = next(line for line in lines if line.startswith("full"))
    # nDCG@10 of 1, 1/log2(3) and 1; R@1 of 1/2, 0 and 1; MRR of 1, 1/2 and 1.
    assert full.split() == ["full", "0.877", "0.500", "1.000", "1.000", "1.000", "0.833", "10.0", "10.0"]
    assert sum(" instruction_working_set " in f"{line} " for line in lines) >= 4


def test_slow_searches_still_fit() -> None:
    report = run_evaluation().report
    slow = tuple(row.model_copy(update={"p50_ms": 12345.6, "p95_ms": 99999.9}) for row in report.timings)
    text = rendered(report.model_copy(update={"timings": slow}))
    assert max(map(len, text.splitlines())) <= 80
    assert "12345.6 99999.9" in text


def test_a_passed_gate_is_said_last() -> None:
    lines = rendered(run_evaluation().report).splitlines()
    assert lines[-1] == "gate passed (lift of at least 0.05, and walls)"
    lift = next(line for line in lines if line.startswith("full - naive_dense"))
    # Two scenarios: the interval reaches from the one that gains least to the one that gains most.
    assert lift.split()[:5] == ["full", "-", "naive_dense", "3", "2"]
    assert "none: one scenario" in next(line for line in lines if "instruction_working_set" in line and "none" in line)


def test_ablations_are_shown_by_kind_with_their_ceiling_and_whether_they_can_be_told_from_full() -> None:
    report = run_evaluation(presets=presets_of("ablations")).report
    lines = rendered(report).splitlines()
    assert max(map(len, lines)) <= 80
    start = next(place for place, line in enumerate(lines) if line.startswith("kind, full without"))
    table = [line.split() for line in lines[start + 1 : start + 40]]
    assert [row[:4] for row in table[::13]] == [
        ["all", "0.877", "ceiling", "1.000"],
        ["factoid", "0.815", "ceiling", "1.000"],
        ["instruction_working_set", "1.000", "ceiling", "1.000"],
    ]
    of_all = {row[0]: row[1:] for row in table[1:13]}
    assert of_all["no_exact"] == ["+0.0000", "+0.0000", "to", "+0.0000", "not", "resolvable"]
    # nDCG@10 without the collapse: 0.877 for the working set, 1/log2(5) and 1/2; the intervals' p is 2/10,001 times 12.
    assert of_all["no_collapse"][0] == "-0.2743"
    assert of_all["no_collapse"][-1] == "0.0024"
    assert table[27 + 7][1:] == ["-0.1228", "none:", "one", "scenario", "not", "resolvable"]


def test_a_failed_gate_names_what_failed() -> None:
    leaking = FakeSearch(GOOD_AND_POOR, leak_to=lambda principal: principal == LEASES)
    report = run_evaluation(using=services(FakeSearch(GOOD_AND_POOR), leaking), min_lift=0.9).report
    text = rendered(report)
    verdict = " ".join(text[text.index("gate failed: ") :].split())
    assert "less than the 0.9 asked for" in verdict
    assert "walls leak: 9 forbidden hits for other principals under bm25, naive_dense, rrf, full" in verdict
    assert "group:leases got Mandate/M-2 Kran/terms.docx for fact-2" in " ".join(text.split())


def test_what_was_not_probed_is_never_shown_as_held() -> None:
    gold = frozen_gold(gold_query("q-1", (LEASE_LETTER,)), gold_query("q-2", (LEASE_LETTER,), scenario_id="s-2"))
    grants = {key: each for key, each in GRANTS.items() if each[0].principal == LEASES}
    report = run_evaluation(gold, services(FakeSearch(GOOD_AND_POOR), grants=grants), [PresetName.FULL]).report
    text = rendered(report)
    other = next(line for line in text.splitlines() if line.startswith("other principals"))
    assert other.split() == ["other", "principals", "0", "0", "0", "0", "not", "probed"]
    assert "note: walls between principals were not probed" in text


def test_paths_that_look_like_markup_are_shown_as_they_are() -> None:
    report = run_evaluation().report
    odd = report.gold.model_copy(update={"name": "[bold]gold[/nonsense]"})
    assert "[bold]gold[/nonsense]" in rendered(report.model_copy(update={"gold": odd}))
