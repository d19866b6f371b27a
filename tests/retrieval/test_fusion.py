from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.search import Leg, LegRank
from knowledge_index.retrieval.fusion import leg_scores


def test_by_scores_a_share_is_the_score_over_the_best() -> None:
    lexical = leg_scores(Leg.LEXICAL, [("a", 8.0), ("b", 2.0)], "scores", 60)
    assert [lexical.share(unit) for unit in "abc"] == [1.0, 0.25, 0.0]


def test_what_a_semantic_list_leaves_out_counts_as_its_last() -> None:
    """The list is the head of a ranking of everything: what is not on it is a little less near, not far."""
    semantic = leg_scores(Leg.SEMANTIC, [("a", 0.8), ("b", 0.6)], "scores", 60)
    assert semantic.share("c") == semantic.share("b") == pytest.approx(0.75)


def test_a_vector_that_points_away_counts_nothing() -> None:
    semantic = leg_scores(Leg.SEMANTIC, [("a", 0.5), ("b", -0.5)], "scores", 60)
    assert (semantic.share("b"), semantic.share("c")) == (0.0, 0.0)
    assert leg_scores(Leg.SEMANTIC, [("a", -0.1)], "scores", 60).share("a") == 0.0


def test_by_ranks_a_share_is_the_reciprocal_rank_scaled_to_1() -> None:
    lexical = leg_scores(Leg.LEXICAL, [("a", 9.0), ("b", 7.5), ("c", 1.0)], "ranks", 60)
    assert [lexical.share(unit) for unit in "abcd"] == pytest.approx([1.0, 61 / 62, 61 / 63, 0.0])


def test_units_with_one_score_share_the_best_of_their_ranks() -> None:
    found = leg_scores(Leg.LEXICAL, [("a", 2.0), ("b", 1.0), ("c", 1.0), ("d", 0.5)], "ranks", 20)
    assert [found.rank(unit) for unit in "abcde"] == [
        LegRank(Leg.LEXICAL, 1, 2.0),
        LegRank(Leg.LEXICAL, 2, 1.0),
        LegRank(Leg.LEXICAL, 2, 1.0),
        LegRank(Leg.LEXICAL, 4, 0.5),
        None,
    ]
    assert found.share("b") == found.share("c")


@pytest.mark.parametrize("fusion", ["scores", "ranks"])
def test_an_empty_list_gives_nobody_a_share(fusion: str) -> None:
    for leg in Leg:
        assert leg_scores(leg, [], fusion, 60).share("a") == 0.0


@given(
    st.lists(st.floats(0.001, 1000, allow_nan=False), min_size=1, max_size=30).map(lambda each: sorted(each)[::-1]),
    st.integers(1, 100),
)
def test_shares_lie_between_0_and_1_and_keep_the_order(scores: list[float], rrf_k: int) -> None:
    scored = [(f"unit {place}", score) for place, score in enumerate(scores)]
    for fusion in ("scores", "ranks"):
        found = leg_scores(Leg.LEXICAL, scored, fusion, rrf_k)
        shares = [found.share(unit) for unit, _ in scored]
        assert shares[0] == 1.0
        assert shares == sorted(shares, reverse=True)
        assert all(0 < share <= 1 for share in shares)
    for place, (unit, score) in enumerate(scored, start=1):
        if scores.count(score) == 1:
            assert found.share(unit) == pytest.approx(float(Fraction(rrf_k + 1, rrf_k + place)))
