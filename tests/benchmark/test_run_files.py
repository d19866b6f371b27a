from dataclasses import fields
from pathlib import Path

import ir_measures
import pytest
from evaluation_fakes import LEASE_DRAFT, LEASE_FINAL, TWO_GROUP_GOLD, frozen_gold, gold_query, run_evaluation
from ir_measures import RR, R, nDCG

from knowledge_index.benchmark.presets import LADDER_PRESETS, PresetName
from knowledge_index.benchmark.run_files import write_run_files
from knowledge_index.domain.errors import UsageError

MEASURES = {
    "ndcg_at_10": nDCG @ 10,
    "recall_at_1": R @ 1,
    "recall_at_5": R @ 5,
    "recall_at_10": R @ 10,
    "recall_at_20": R @ 20,
    "mrr_at_10": RR @ 10,
}
# The last query finds nothing under any preset.
GOLD = frozen_gold(*TWO_GROUP_GOLD.queries, gold_query("missed", (LEASE_FINAL + ".bak",), scenario_id="s-3"))


def test_the_files_score_as_the_report_does(tmp_path: Path) -> None:
    from evaluation_fakes import GOOD_AND_POOR, GRANTS, LEASES, SOURCE, FakeSearch, services

    from knowledge_index.domain.grants import Access, Grant

    grants = GRANTS | {(SOURCE, LEASE_FINAL + ".bak"): (Grant(LEASES, Access.ALLOW),)}
    evaluation = run_evaluation(GOLD, services(FakeSearch(GOOD_AND_POOR), grants=grants))
    write_run_files(evaluation.queries, evaluation.rankings, tmp_path)
    for baseline in evaluation.report.baselines:
        scores = ir_measures.calc_aggregate(
            MEASURES.values(),
            ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt")),
            ir_measures.read_trec_run(str(tmp_path / f"{baseline.preset}.run")),
        )
        overall = baseline.metrics[0].measures
        for name, measure in MEASURES.items():
            assert scores[measure] == pytest.approx(getattr(overall, name)), (baseline.preset, name)
        assert {field.name for field in fields(overall)} == set(MEASURES)


def test_a_repeated_group_has_a_line_that_no_qrel_names(tmp_path: Path) -> None:
    evaluation = run_evaluation()
    write_run_files(evaluation.queries, evaluation.rankings, tmp_path)
    documents = dict(
        reversed(line.split("\t", 1)) for line in (tmp_path / "documents.tsv").read_text("utf-8").splitlines()
    )
    lease = documents[f"{LEASE_DRAFT}\t{LEASE_FINAL}"]
    run = [line.split() for line in (tmp_path / "naive_dense.run").read_text("utf-8").splitlines()]
    assert [line[:4] for line in run if line[0] == "ws-1"][:3] == [
        ["ws-1", "Q0", lease, "1"],
        ["ws-1", "Q0", f"{lease}#2", "2"],
        ["ws-1", "Q0", f"{lease}#3", "3"],
    ]
    assert all(len(line) == 6 and line[5] == "naive_dense" for line in run)
    qrels = [line.split() for line in (tmp_path / "qrels.txt").read_text("utf-8").splitlines()]
    assert len(qrels) == 4
    assert not any("#" in line[2] for line in qrels)
    assert ["ws-1", "0", lease, "1"] in qrels


def test_scores_fall_with_every_rank(tmp_path: Path) -> None:
    evaluation = run_evaluation()
    write_run_files(evaluation.queries, evaluation.rankings, tmp_path)
    for preset in LADDER_PRESETS:
        scores: dict[str, list[float]] = {}
        for line in (tmp_path / f"{preset}.run").read_text("utf-8").splitlines():
            query, _, _, rank, score, _ = line.split()
            scores.setdefault(query, []).append(float(score))
            assert len(scores[query]) == int(rank)
        assert all(each == sorted(set(each), reverse=True) for each in scores.values())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    evaluation = run_evaluation(presets=[PresetName.FULL])
    with pytest.raises(UsageError, match="taken: run files cannot be written"):
        write_run_files(evaluation.queries, evaluation.rankings, tmp_path / "taken")
