"""Which configuration is best, and by how much: differences with intervals, and "tied" where they do not tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from knowledge_index.benchmark.models.grid import GridResult, GridRow
from knowledge_index.benchmark.models.scoring import DECIDING
from knowledge_index.benchmark.statistics import Difference, paired_cluster_bootstrap

ALL_KINDS = "all"


@dataclass(frozen=True)
class Margin:
    """By how much the choice is ahead of another configuration, in nDCG@10, over the questions of a kind or all."""

    name: str
    kind: str
    difference: Difference

    @property
    def is_tied(self) -> bool:
        """Whether the interval leaves room for no difference, or there is none."""
        low, high = self.difference.low, self.difference.high
        return low is None or high is None or low <= 0 <= high


@dataclass(frozen=True)
class Choice:
    """The configuration that the margins are taken from, and all others, kind by kind, the best first."""

    name: str
    margins: tuple[Margin, ...]


def choose(result: GridResult, frozen: str | None) -> Choice | None:
    """The ``frozen`` configuration, else the highest mean nDCG@10, the earlier of equals; None where nothing ran."""
    rows = [row for row in result.rows if row.not_run is None]
    if not rows:
        return None
    best = max(rows, key=_mean) if frozen is None else next(row for row in rows if row.configuration.name == frozen)
    clusters = {each.query_id: each.cluster for each in result.dataset.questions}
    kinds: dict[str, list[str]] = {ALL_KINDS: sorted(clusters)}
    for each in sorted(result.dataset.questions, key=lambda question: (question.kind, question.query_id)):
        kinds.setdefault(each.kind, []).append(each.query_id)
    if len(kinds) == 2:
        kinds = {ALL_KINDS: kinds[ALL_KINDS]}
    margins = [
        Margin(row.configuration.name, kind, _difference(best, row, queries, clusters))
        for kind, queries in kinds.items()
        for row in sorted(rows, key=_mean, reverse=True)
        if row is not best
    ]
    return Choice(best.configuration.name, tuple(margins))


def _mean(row: GridRow) -> float:
    return fmean(getattr(each, DECIDING) for each in row.values.values())


def _difference(best: GridRow, other: GridRow, queries: Sequence[str], clusters: Mapping[str, str]) -> Difference:
    differences = [getattr(best.values[each], DECIDING) - getattr(other.values[each], DECIDING) for each in queries]
    return paired_cluster_bootstrap(differences, [clusters[each] for each in queries])
