from math import log2

import pytest
from evaluation_fakes import gold_query, hit

from knowledge_index.benchmark.metrics import MeasureValues, mean_of, score_ideal, score_rankings, version_status_mix
from knowledge_index.benchmark.rankings import Ranking, rank_hits
from knowledge_index.domain.versions import VersionStatus


def score(groups: list[tuple[str, ...]], paths: list[str]) -> MeasureValues:
    query = gold_query("q", *groups)
    return score_rankings([query], [rank_hits(query, [hit(path) for path in paths])])["q"]


def test_two_groups_at_ranks_two_and_four() -> None:
    # DCG = 1/log2(3) + 1/log2(5); the ideal has both groups in front: 1/log2(2) + 1/log2(3).
    values = score([("a",), ("b",)], ["x", "a", "y", "b"])
    assert values.ndcg_at_10 == pytest.approx((1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3)))
    assert (values.recall_at_1, values.recall_at_5, values.recall_at_10, values.recall_at_20) == (0, 1, 1, 1)
    assert values.mrr_at_10 == pytest.approx(1 / 2)


def test_versions_of_a_found_paper_take_places_without_counting() -> None:
    values = score([("a1", "a2", "a3"), ("b",)], ["a2", "a1", "a2", "a3", "a1", "b"])
    # b stands at rank 6, so outside the first five.
    assert values.recall_at_5 == pytest.approx(1 / 2)
    assert values.ndcg_at_10 == pytest.approx((1 + 1 / log2(7)) / (1 + 1 / log2(3)))
    assert values.mrr_at_10 == 1


def test_a_hit_behind_the_tenth_place_counts_for_recall_at_20_alone() -> None:
    values = score([("a",)], [*(f"x{number}" for number in range(10)), "a"])
    assert values == MeasureValues(
        ndcg_at_10=0, recall_at_1=0, recall_at_5=0, recall_at_10=0, recall_at_20=1, mrr_at_10=0
    )


def test_a_missed_query_counts_nought_and_stays_in_the_mean() -> None:
    found, empty, absent = gold_query("found", ("a",)), gold_query("empty", ("a",)), gold_query("absent", ("a",))
    queries = [found, empty, absent]
    values = score_rankings(queries, [rank_hits(found, [hit("a")]), rank_hits(empty, [])])
    assert [values[query.gold_id].ndcg_at_10 for query in queries] == [1, 0, 0]
    mean = mean_of([values[query.gold_id] for query in queries])
    assert (mean.ndcg_at_10, mean.recall_at_20, mean.mrr_at_10) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_a_run_without_a_single_hit_scores_nought() -> None:
    query = gold_query("q", ("a",))
    assert score_rankings([query], [Ranking("q", ())])["q"].ndcg_at_10 == 0


def test_the_order_returned_decides_even_where_ids_would_sort_otherwise() -> None:
    # A scorer that broke ties by id would rank these alike whichever came first.
    names = [f"p{number}" for number in range(8)]
    for place, name in enumerate(names, start=1):
        assert score([(name,)], names).mrr_at_10 == pytest.approx(1 / place)


def test_the_ceiling_lies_below_one_where_there_are_more_groups_than_places() -> None:
    query = gold_query("q", *((f"p{number}",) for number in range(12)))
    assert score_ideal([query])["q"] == MeasureValues(
        ndcg_at_10=pytest.approx(1),
        recall_at_1=pytest.approx(1 / 12),
        recall_at_5=pytest.approx(5 / 12),
        recall_at_10=pytest.approx(10 / 12),
        recall_at_20=1,
        mrr_at_10=1,
    )


def test_the_mix_at_rank_1_counts_queries_without_a_hit() -> None:
    query = gold_query("q", ("a",))
    rankings = [
        rank_hits(query, [hit("a", status=VersionStatus.EXECUTED), hit("b", status=VersionStatus.DRAFT)]),
        rank_hits(query, [hit("a", status=VersionStatus.EXECUTED)]),
        rank_hits(query, [hit("a", status=VersionStatus.FINAL)]),
        rank_hits(query, []),
    ]
    mix = version_status_mix(rankings)
    assert (mix.executed, mix.final, mix.draft, mix.unknown, mix.none) == (0.5, 0.25, 0, 0, 0.25)
