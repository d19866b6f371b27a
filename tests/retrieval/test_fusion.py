from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.search import Leg, LegRank


EVEN = {Leg.LEXICAL: 1.0, Leg.SEMANTIC: 1.0, Leg.IDENTIFIER: 1.0}


def test_a_unit_scores_the_sum_of_weight_over_constant_plus_rank() -> None:
    fused = fuse(
        {Leg.LEXICAL: [("a", 9.0), ("b", 7.5)], Leg.SEMANTIC: [("b", 0.8), ("c", 0.7), ("a", 0.1)]},
        {Leg.LEXICAL: 1.0, Leg.SEMANTIC: 0.5, Leg.IDENTIFIER: 1.0},
        rrf_k=20,
    )
    # a: 1/21 + 0.5/23; b: 1/22 + 0.5/21; c: 0.5/22
    assert fused["a"].score == pytest.approx(0.069358178, abs=1e-9)
    assert fused["b"].score == pytest.approx(0.069264069, abs=1e-9)
    assert fused["c"].score == pytest.approx(0.022727273, abs=1e-9)


def test_a_unit_says_where_each_leg_had_it() -> None:
    fused = fuse({Leg.SEMANTIC: [("b", 0.8), ("a", 0.1)], Leg.LEXICAL: [("a", 9.0)]}, EVEN, rrf_k=60)
    assert fused["a"].legs == (LegRank(Leg.LEXICAL, 1, 9.0), LegRank(Leg.SEMANTIC, 2, 0.1))
    assert fused["b"].legs == (LegRank(Leg.SEMANTIC, 1, 0.8),)


def test_a_lexical_first_place_can_beat_two_middling_places() -> None:
    """With the constant 20 a unit at rank 1 of one leg beats one at rank 23 of both: 1/21 > 2/43."""
    others = [(f"x{place}", 8.0 - place / 10) for place in range(22)]
    fused = fuse(
        {Leg.LEXICAL: [("first", 9.0), *others[1:], ("both", 1.0)], Leg.SEMANTIC: [*others, ("both", 1.0)]}, EVEN, 20
    )
    assert fused["both"].legs == (LegRank(Leg.LEXICAL, 23, 1.0), LegRank(Leg.SEMANTIC, 23, 1.0))
    assert fused["first"].score > fused["both"].score


def test_units_with_one_score_share_the_best_of_their_ranks() -> None:
    fused = fuse({Leg.LEXICAL: [("a", 2.0), ("b", 1.0), ("c", 1.0), ("d", 0.5)]}, EVEN, 20)
    assert [fused[unit].legs[0].rank for unit in "abcd"] == [1, 2, 2, 4]
    assert fused["b"].score == fused["c"].score == pytest.approx(1 / 22)


def test_no_leg_gives_no_unit() -> None:
    assert fuse({}, EVEN, 20) == {}
    assert fuse({Leg.LEXICAL: []}, EVEN, 20) == {}


def test_units_rank_by_their_best_score_and_ties_by_key() -> None:
    scored = [("b", 1.0), ("a", 1.0), ("c", 0.5), ("c", 2.0), ("c", 1.5)]
    assert rank_units(scored, tie_key=lambda unit: unit) == [("c", 2.0), ("a", 1.0), ("b", 1.0)]
    assert rank_units(scored, tie_key=lambda unit: {"a": "z"}.get(unit, unit)) == [("c", 2.0), ("b", 1.0), ("a", 1.0)]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from([0.0, 0.5, 1.0, -1.0]))), st.randoms())
def test_a_ranking_does_not_depend_on_the_order_of_its_input(scored, random) -> None:
    shuffled = list(scored)
    random.shuffle(shuffled)
    assert rank_units(shuffled, str) == rank_units(scored, str)


@given(
    st.dictionaries(st.sampled_from(list(Leg)), st.lists(st.sampled_from("abcdefgh"), unique=True)),
    st.fixed_dictionaries({leg: st.sampled_from([0.25, 0.5, 1.0, 3.0]) for leg in Leg}),
    st.integers(1, 100),
)
def test_fusion_is_the_formula(rankings, weights, rrf_k) -> None:
    fused = fuse(
        {leg: [(unit, -float(place)) for place, unit in enumerate(units)] for leg, units in rankings.items()},
        weights,
        rrf_k,
    )
    assert set(fused) == {unit for units in rankings.values() for unit in units}
    for unit, ranked in fused.items():
        exact = sum(
            Fraction(weights[leg]) / (rrf_k + units.index(unit) + 1) for leg, units in rankings.items() if unit in units
        )
        assert ranked.score == pytest.approx(float(exact), rel=1e-12)
