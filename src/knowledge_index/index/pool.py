"""How a candidate pool is cut: at a strict drop of score, never inside a group of equal scores.

Engines order equal scores by insertion, so a cut inside such a group would make a result depend on history.
"""

from collections.abc import Callable
from dataclasses import dataclass

from knowledge_index.domain.errors import UsageError
from knowledge_index.index.base import ScoredRow


@dataclass(frozen=True)
class FetchedRows:
    """What an engine gave for one limit.

    No row that was left out scores above ``ceiling_of_rest``; None says that nothing was left out.
    """

    rows: list[ScoredRow]
    ceiling_of_rest: float | None


def complete_pool(fetch: Callable[[int], FetchedRows], pool: int) -> list[ScoredRow]:
    """The best ``pool`` rows and all that tie with the last of them, by score, then row key.

    ``fetch`` gets a limit that doubles until the group of equal scores at the boundary is whole.

    Raises:
        UsageError: ``pool`` is below 1.
    """
    if pool < 1:
        raise UsageError(f"a candidate pool of {pool} was asked for: ask for 1 or more")
    limit = pool + max(16, pool // 4)
    while True:
        fetched = fetch(limit)
        ordered = sorted(fetched.rows, key=lambda row: (-row.score, row.row_key))
        if len(ordered) < pool:
            if fetched.ceiling_of_rest is None:
                return ordered
        else:
            boundary = ordered[pool - 1].score
            if fetched.ceiling_of_rest is None or fetched.ceiling_of_rest < boundary:
                return [row for row in ordered if row.score >= boundary]
        limit *= 2
