"""Scores rankings against the gold, through ir_measures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import fsum
from typing import Any

from knowledge_index.benchmark.gold_types import GoldQuery
from knowledge_index.benchmark.rankings import RankedHit, Ranking, group_id
from knowledge_index.domain.versions import VersionStatus


@dataclass(frozen=True)
class MeasureValues:
    """The measures of one query, or their means over several; each from 0 to 1."""

    ndcg_at_10: float
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    recall_at_20: float
    mrr_at_10: float


@dataclass(frozen=True)
class VersionStatusMix:
    """Shares of the queries by the version status of their first hit; ``none`` is the share without any hit."""

    draft: float
    final: float
    executed: float
    unknown: float
    none: float


def score_rankings(queries: Sequence[GoldQuery], rankings: Iterable[Ranking]) -> dict[str, MeasureValues]:
    """The measures of every query, by gold id; a query without a ranking or without a hit has 0 everywhere."""
    import ir_measures

    measures = _measures()
    names = {measure: name for name, measure in measures.items()}
    qrels = [
        ir_measures.Qrel(query.gold_id, group_id(group), group.grade) for query in queries for group in query.groups
    ]
    values: dict[str, dict[str, float]] = {query.gold_id: dict.fromkeys(measures, 0.0) for query in queries}
    for metric in ir_measures.iter_calc(list(measures.values()), qrels, list(_scored(rankings))):
        values[metric.query_id][names[metric.measure]] = float(metric.value)
    return {gold_id: MeasureValues(**each) for gold_id, each in values.items()}


def run_scores(ranking: Ranking) -> list[float]:
    """A score for every place of the ranking, strictly falling, so that no scorer has a tie to break."""
    return [float(len(ranking.hits) - index) for index in range(len(ranking.hits))]


def score_ideal(queries: Sequence[GoldQuery]) -> dict[str, MeasureValues]:
    """What a perfect ranking would score, by gold id: recall@k stays below 1 where a query has more than k groups."""
    return score_rankings(queries, [_ideal_ranking(query) for query in queries])


def mean_of(values: Sequence[MeasureValues]) -> MeasureValues:
    """The mean of each measure.

    Raises:
        ValueError: there is nothing to take the mean of.
    """
    if not values:
        raise ValueError("no queries to take the mean of")
    return MeasureValues(
        **{field.name: fsum(getattr(each, field.name) for each in values) / len(values) for field in fields(values[0])}
    )


def version_status_mix(rankings: Sequence[Ranking]) -> VersionStatusMix:
    """The mix of version status at rank 1.

    Raises:
        ValueError: there is no ranking.
    """
    if not rankings:
        raise ValueError("no rankings to take the mix of")
    firsts = [ranking.hits[0].version_status if ranking.hits else None for ranking in rankings]
    return VersionStatusMix(
        draft=firsts.count(VersionStatus.DRAFT) / len(firsts),
        final=firsts.count(VersionStatus.FINAL) / len(firsts),
        executed=firsts.count(VersionStatus.EXECUTED) / len(firsts),
        unknown=firsts.count(VersionStatus.UNKNOWN) / len(firsts),
        none=firsts.count(None) / len(firsts),
    )


def _measures() -> dict[str, Any]:
    from ir_measures import RR, R, nDCG

    return {
        "ndcg_at_10": nDCG @ 10,
        "recall_at_1": R @ 1,
        "recall_at_5": R @ 5,
        "recall_at_10": R @ 10,
        "recall_at_20": R @ 20,
        "mrr_at_10": RR @ 10,
    }


def _scored(rankings: Iterable[Ranking]) -> Iterable[Any]:
    import ir_measures

    for ranking in rankings:
        for hit, score in zip(ranking.hits, run_scores(ranking), strict=True):
            yield ir_measures.ScoredDoc(ranking.gold_id, hit.document_id, score)


def _ideal_ranking(query: GoldQuery) -> Ranking:
    groups = sorted(query.groups, key=lambda group: (-group.grade, group_id(group)))
    return Ranking(
        query.gold_id, tuple(RankedHit(group_id(group), group.paths[0], VersionStatus.UNKNOWN) for group in groups)
    )
