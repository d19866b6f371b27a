"""Weighted reciprocal rank fusion over passages and over papers."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from knowledge_index.domain.search import Leg, LegRank

Unit = TypeVar("Unit", bound=Hashable)


@dataclass(frozen=True)
class Ranked:
    """A unit's fused score and where each leg had it."""

    score: float
    legs: tuple[LegRank, ...]


def rank_units(scored: Iterable[tuple[Unit, float]], tie_key: Callable[[Unit], str]) -> list[tuple[Unit, float]]:
    """The distinct units, each with its best score, best first, ties by ``tie_key``."""
    best: dict[Unit, float] = {}
    for unit, score in scored:
        if score > best.get(unit, float("-inf")):
            best[unit] = score
    return sorted(best.items(), key=lambda item: (-item[1], tie_key(item[0])))


def fuse(
    rankings: Mapping[Leg, Sequence[tuple[Unit, float]]], weights: Mapping[Leg, float], rrf_k: int
) -> dict[Unit, Ranked]:
    """Reciprocal rank fusion: the sum over the legs of weight / (rrf_k + rank), ranks from 1.

    Units with one score share the best of their ranks: a tie says nothing about which of them is better, and is broken
    after fusion by what does.

    Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR 2009; there without weights and with the constant 60.
    """
    scores: defaultdict[Unit, float] = defaultdict(float)
    legs: defaultdict[Unit, list[LegRank]] = defaultdict(list)
    for leg in Leg:
        rank, previous = 0, None
        for place, (unit, score) in enumerate(rankings.get(leg, ()), start=1):
            rank, previous = (place, score) if score != previous else (rank, previous)
            scores[unit] += weights[leg] / (rrf_k + rank)
            legs[unit].append(LegRank(leg, rank, score))
    return {unit: Ranked(score, tuple(legs[unit])) for unit, score in scores.items()}
