"""Fusion of the legs' lists: normalised scores or reciprocal ranks, added up with weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge_index.domain.search import Leg, LegRank


@dataclass(frozen=True)
class LegScores:
    """One leg's list as fusion takes it: the share of each unit, from 0 to 1, and its place.

    ``floor`` is the share of a unit that the leg did not hand on.
    """

    share_of: Mapping[str, float]
    rank_of: Mapping[str, LegRank]
    floor: float

    def share(self, unit: str) -> float:
        """The unit's share."""
        return self.share_of.get(unit, self.floor)


def leg_scores(leg: Leg, scored: Sequence[tuple[str, float]], fusion: str, rrf_k: int) -> LegScores:
    """The shares of a list, best first, each unit once.

    By scores, a share is the score over the best one. A semantic list is cut from a ranking of everything, so what it
    leaves out counts as its last; elsewhere what is left out matches nothing, or next to nothing, and counts 0. By
    ranks, a share is (k + 1) / (k + rank), equal scores sharing the best of their ranks, and what is left out counts 0.

    Source of ranks: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009; there without weights, with the constant 60, and not scaled to 1.
    """
    ranks: dict[str, LegRank] = {}
    rank, previous = 0, None
    for place, (unit, score) in enumerate(scored, start=1):
        rank, previous = (place, score) if score != previous else (rank, previous)
        ranks[unit] = LegRank(leg, rank, score)
    if fusion == "ranks":
        return LegScores({unit: (rrf_k + 1) / (rrf_k + each.rank) for unit, each in ranks.items()}, ranks, 0.0)
    best = max((score for _, score in scored), default=0.0)
    shares = {unit: max(0.0, score) / best for unit, score in scored} if best > 0 else dict.fromkeys(ranks, 0.0)
    floor = min(shares.values(), default=0.0) if leg is Leg.SEMANTIC else 0.0
    return LegScores(shares, ranks, floor)
