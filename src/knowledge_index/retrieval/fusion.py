"""Fusion of the legs' lists: normalised scores or reciprocal ranks, added up with weights."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from knowledge_index.domain.search import Leg, LegRank


@dataclass(frozen=True)
class LegScores:
    """One leg's list as fusion takes it: the score of each unit, best first, and its share, from 0 to 1.

    ``floor`` is the share of a unit that the leg did not hand on.
    """

    leg: Leg
    score_of: Mapping[str, float]
    share_of: Mapping[str, float]
    floor: float

    def share(self, unit: str) -> float:
        """The unit's share."""
        return self.share_of.get(unit, self.floor)

    def rank(self, unit: str) -> LegRank | None:
        """Where the leg had the unit, if it had it; equal scores share the best of their ranks."""
        score = self.score_of.get(unit)
        if score is None:
            return None
        return LegRank(self.leg, bisect_left(self._best_first, -score) + 1, score)

    @cached_property
    def _best_first(self) -> list[float]:
        """The negated scores, which ascend."""
        return [-score for score in self.score_of.values()]


def leg_scores(leg: Leg, scored: Sequence[tuple[str, float]], fusion: str, rrf_k: int) -> LegScores:
    """The shares of a list, best first, each unit once.

    By scores, a share is the score over the best one. A semantic list is cut from a ranking of everything, so what it
    leaves out counts as its last; elsewhere what is left out matches nothing, or next to nothing, and counts 0. By
    ranks, a share is (k + 1) / (k + rank), equal scores sharing the best of their ranks, and what is left out counts 0.

    Source of ranks: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009; there without weights, with the constant 60, and not scaled to 1.
    """
    score_of = dict(scored)
    if fusion == "ranks":
        shares = {}
        rank, previous = 0, None
        for place, (unit, score) in enumerate(scored, start=1):
            rank, previous = (place, score) if score != previous else (rank, previous)
            shares[unit] = (rrf_k + 1) / (rrf_k + rank)
        return LegScores(leg, score_of, shares, 0.0)
    best = max(score_of.values(), default=0.0)
    if best > 0:
        shares = {unit: score / best if score > 0 else 0.0 for unit, score in scored}
    else:
        shares = dict.fromkeys(score_of, 0.0)
    floor = min(shares.values(), default=0.0) if leg is Leg.SEMANTIC else 0.0
    return LegScores(leg, score_of, shares, floor)
