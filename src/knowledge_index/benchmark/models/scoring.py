"""What a ranking of units is worth, through ir_measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import fsum
from typing import Any


@dataclass(frozen=True)
class RankingValues:
    """The measures of one question, or their means over several; each from 0 to 1."""

    success_at_1: float
    success_at_5: float
    success_at_10: float
    recall_at_10: float
    mrr_at_10: float
    ndcg_at_10: float


MEASURES = tuple(field.name for field in fields(RankingValues))
DECIDING = "ndcg_at_10"
"""The measure that a choice is made by."""


def score_rankings(
    relevant: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> dict[str, RankingValues]:
    """The measures of every question of ``relevant`` (grades of units), by its id; what is not ranked has 0."""
    import ir_measures

    measures = _measures()
    names = {measure: name for name, measure in measures.items()}
    qrels = [
        ir_measures.Qrel(query, unit, grade) for query, grades in relevant.items() for unit, grade in grades.items()
    ]
    run = [
        # Strictly falling, so that no scorer has a tie to break.
        ir_measures.ScoredDoc(query, unit, float(len(units) - place))
        for query, units in rankings.items()
        for place, unit in enumerate(units)
    ]
    values = {query: dict.fromkeys(measures, 0.0) for query in relevant}
    for metric in ir_measures.iter_calc(list(measures.values()), qrels, run):
        values[metric.query_id][names[metric.measure]] = float(metric.value)
    return {query: RankingValues(**each) for query, each in values.items()}


def mean_of(values: Sequence[RankingValues]) -> RankingValues:
    """The mean of each measure.

    Raises:
        ValueError: there is nothing to take the mean of.
    """
    if not values:
        raise ValueError("no questions to take the mean of")
    return RankingValues(**{name: fsum(getattr(each, name) for each in values) / len(values) for name in MEASURES})


def _measures() -> dict[str, Any]:
    from ir_measures import RR, R, Success, nDCG

    return {
        "success_at_1": Success @ 1,
        "success_at_5": Success @ 5,
        "success_at_10": Success @ 10,
        "recall_at_10": R @ 10,
        "mrr_at_10": RR @ 10,
        "ndcg_at_10": nDCG @ 10,
    }
