from dataclasses import replace
from math import log2

import pytest
from evaluation_fakes import (
    ALL_PATHS,
    GOOD_AND_POOR,
    LEASE_DRAFT,
    LEASE_FINAL,
    LEASES,
    FakeSearch,
    frozen_gold,
    gold_query,
    run_evaluation,
    services,
)

from knowledge_index.benchmark.presets import PresetName, presets_of
from knowledge_index.benchmark.report import EvaluationReport, MetricsRow, WallProbe
from knowledge_index.domain.errors import InputError

FULL, NAIVE_DENSE, BM25 = PresetName.FULL, PresetName.NAIVE_DENSE, PresetName.BM25


def row_of(report: EvaluationReport, preset: PresetName, kind: str = "all") -> MetricsRow:
    (baseline,) = (each for each in report.baselines if each.preset is preset)
    return next(row for row in baseline.metrics if row.kind == kind)


def test_metrics_of_all_queries_and_of_each_kind() -> None:
    report = run_evaluation().report
    # Collapsed, ws-1 has its groups at 1 and 2, fact-1 at 2, fact-2 at 1.
    assert row_of(report, FULL).measures.ndcg_at_10 == pytest.approx((1 + 1 / log2(3) + 1) / 3)
    assert row_of(report, FULL, "factoid").measures.mrr_at_10 == pytest.approx((1 / 2 + 1) / 2)
    assert row_of(report, FULL, "instruction_working_set").measures.ndcg_at_10 == pytest.approx(1)
    assert row_of(report, FULL, "instruction_working_set").measures.recall_at_1 == pytest.approx(1 / 2)
    # Flat, leases get draft, final, draft, letter and sales offer, offer, terms.
    assert row_of(report, NAIVE_DENSE, "instruction_working_set").measures.ndcg_at_10 == pytest.approx(
        (1 + 1 / log2(5)) / (1 + 1 / log2(3))
    )
    assert row_of(report, NAIVE_DENSE, "factoid").measures.ndcg_at_10 == pytest.approx((1 / log2(5) + 1 / log2(4)) / 2)
    assert [row_of(report, FULL, kind).n_queries for kind in ("all", "factoid", "instruction_working_set")] == [3, 2, 1]


def test_the_lift_is_the_mean_difference_and_each_kind_stands_beside_it() -> None:
    report = run_evaluation().report
    assert report.lift is not None
    assert [row.kind for row in report.lift.rows] == ["all", "factoid", "instruction_working_set"]
    for row in report.lift.rows:
        full, dense = (row_of(report, preset, row.kind).measures.ndcg_at_10 for preset in (FULL, NAIVE_DENSE))
        assert row.difference == pytest.approx(full - dense)
    overall = report.lift.rows[0]
    assert (overall.n_queries, overall.n_scenarios, report.lift.seed, report.lift.resamples) == (3, 2, 42, 10_000)
    assert overall.interval_low is not None
    assert 0 < overall.interval_low <= overall.difference <= (overall.interval_high or 0)
    assert report.gate.passed
    assert report.gate.reasons == ()


def test_an_ablation_is_compared_with_full_query_by_query_and_probes_no_wall_for_others() -> None:
    search, probing = FakeSearch(GOOD_AND_POOR), FakeSearch(GOOD_AND_POOR)
    report = run_evaluation(using=services(search, probing), presets=presets_of("ablations")).report
    assert report.ablations is not None
    rows = {(row.preset, row.kind): row for row in report.ablations.rows}
    assert {name for name, _ in rows} == set(presets_of("ablations")) - {FULL}
    # Without the collapse the fake gives its flat list; every other mechanism makes no difference to it.
    flat = rows[PresetName.NO_COLLAPSE, "all"]
    full, without = (row_of(report, name).measures.ndcg_at_10 for name in (FULL, PresetName.NO_COLLAPSE))
    assert flat.difference == pytest.approx(without - full)
    assert flat.difference < 0
    assert (flat.interval_high or 0) < 0
    assert flat.is_resolved
    same = rows[PresetName.NO_EXACT, "all"]
    assert (same.difference, same.interval_low, same.interval_high, same.p_holm) == (0, 0, 0, 1)
    assert not same.is_resolved
    # Two queries of one kind in two scenarios still have an interval, one query has none.
    assert rows[PresetName.NO_COLLAPSE, "instruction_working_set"].interval_low is None
    assert not rows[PresetName.NO_COLLAPSE, "instruction_working_set"].is_resolved
    assert {collapsed for _, _, collapsed in probing.calls} == {True}
    others = [row for row in report.walls.rows if row.probe is not WallProbe.OWN_PRINCIPAL and row.n_searches]
    assert {row.preset for row in others} == {FULL}
    assert {row.preset for row in report.walls.rows if row.n_searches} == set(presets_of("ablations"))
    assert run_evaluation().report.ablations is None


def test_a_lift_below_the_least_asked_for_fails() -> None:
    gate = run_evaluation(min_lift=0.9).report.gate
    assert not gate.passed
    assert len(gate.reasons) == 1
    assert "less than the 0.9 asked for" in gate.reasons[0]


def test_an_interval_that_reaches_nought_fails_whatever_the_mean() -> None:
    # One scenario gains, the other is unchanged, so that a quarter of all resamples shows no difference.
    gold = frozen_gold(
        gold_query("gains", ("Mandate/M-1 Halle/letter.docx",), scenario_id="s-1"),
        gold_query("same", (LEASE_DRAFT, LEASE_FINAL), scenario_id="s-2"),
    )
    report = run_evaluation(gold, min_lift=0.01).report
    assert report.lift is not None
    assert report.lift.rows[0].difference > 0.01
    assert report.lift.rows[0].interval_low == 0
    assert [reason for reason in report.gate.reasons if "does not lie above 0" in reason] == list(report.gate.reasons)
    assert not report.gate.passed


def test_one_scenario_has_no_interval_and_does_not_pass() -> None:
    report = run_evaluation(frozen_gold(gold_query("only", ("Mandate/M-1 Halle/letter.docx",)))).report
    assert report.lift is not None
    assert report.lift.rows[0].interval_low is None
    assert "the lift has no interval: 1 scenario cannot be resampled" in report.gate.reasons


@pytest.mark.parametrize("preset", list(PresetName))
def test_a_single_baseline_is_judged_by_its_walls_alone(preset: PresetName) -> None:
    report = run_evaluation(presets=[preset], min_lift=1.0).report
    assert report.lift is None
    assert report.gate.min_lift is None
    assert report.gate.passed
    assert [baseline.preset for baseline in report.baselines] == [preset]


def test_each_query_can_be_checked_by_hand() -> None:
    report = run_evaluation().report
    (working_set,) = (query for query in report.queries if query.gold_id == "ws-1")
    by_preset = {result.preset: result for result in working_set.results}
    assert by_preset[FULL].group_ranks == (1, 2)
    assert by_preset[NAIVE_DENSE].group_ranks == (1, 4)
    assert by_preset[NAIVE_DENSE].ndcg_at_10 == pytest.approx((1 + 1 / log2(5)) / (1 + 1 / log2(3)))


def test_only_the_searches_are_timed_after_one_that_warms_up() -> None:
    search, probing = FakeSearch(GOOD_AND_POOR), FakeSearch(GOOD_AND_POOR)
    report = run_evaluation(using=services(search, probing)).report
    # The clock moves 10 ms whenever it is read, and is read before and after each timed search.
    assert [value for row in report.timings for value in (row.p50_ms, row.p95_ms)] == pytest.approx([10] * 24)
    assert len(report.timings) == 12
    assert len(search.calls) == 4 * (1 + 3)


def test_twenty_hits_are_asked_for() -> None:
    limits = set()

    class Noting(FakeSearch):
        def search(self, query, scope, settings, filters, limit):  # type: ignore[no-untyped-def]
            limits.add(limit)
            return super().search(query, scope, settings, filters, limit)

    report = run_evaluation(using=services(Noting(GOOD_AND_POOR))).report
    assert limits == {20}
    assert report.search_limit == 20


def test_evaluating_twice_gives_the_same_but_for_the_timings() -> None:
    slow = replace(services(FakeSearch(GOOD_AND_POOR)), clock=iter(range(1000)).__next__)
    first, second = run_evaluation().report, run_evaluation(using=slow).report
    assert first.timings != second.timings
    assert first.model_copy(update={"timings": ()}) == second.model_copy(update={"timings": ()})


def test_the_report_names_what_was_measured() -> None:
    report = run_evaluation().report
    assert (report.gold.name, report.gold.sha256, report.gold.corpus_sha256) == ("tiny", "a" * 64, "c" * 64)
    assert (report.gold.n_queries, report.gold.n_scenarios, report.gold.n_groups) == (3, 2, 4)
    assert report.index_signature == "fake-model|1"
    assert [baseline.settings.weight_lexical for baseline in report.baselines] == [1.0, 0.0, 1.0, 0.5]
    assert [row.measures.recall_at_1 for row in report.ceiling] == pytest.approx([(1 / 2 + 1 + 1) / 3, 1, 1 / 2])


def test_an_id_that_no_run_file_can_hold_is_refused() -> None:
    with pytest.raises(InputError, match="'q 1': the id has white space"):
        run_evaluation(frozen_gold(gold_query("q 1", (LEASE_DRAFT,))))


def test_a_path_in_two_groups_is_refused() -> None:
    with pytest.raises(InputError, match="a path stands in two groups"):
        run_evaluation(frozen_gold(gold_query("q", (LEASE_DRAFT,), (LEASE_FINAL, LEASE_DRAFT))))


def test_a_failing_leg_is_not_turned_into_an_empty_ranking() -> None:
    class Broken(FakeSearch):
        def search(self, query, scope, settings, filters, limit):  # type: ignore[no-untyped-def]
            raise RuntimeError("the lexical leg failed")

    with pytest.raises(RuntimeError, match="the lexical leg failed"):
        run_evaluation(using=services(Broken({True: ALL_PATHS, False: ()})))


def test_each_query_is_asked_as_its_own_principal() -> None:
    search = FakeSearch(GOOD_AND_POOR)
    run_evaluation(using=services(search, FakeSearch(GOOD_AND_POOR)), presets=[FULL])
    assert {principal for query, principal, _ in search.calls if query == "query of ws-1"} == {LEASES}


def test_an_estate_that_is_not_the_golds_corpus_is_noted() -> None:
    other = replace(services(FakeSearch(GOOD_AND_POOR)), corpora=frozenset({"d" * 64}))
    report = run_evaluation(using=other).report
    assert not report.coverage.corpus_is_the_golds
    assert any("corpus" in note for note in report.gate.notes)
    assert run_evaluation().report.coverage.corpus_is_the_golds
