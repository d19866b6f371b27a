"""How sure a difference between two presets is."""

from collections.abc import Sequence
from dataclasses import dataclass

SEED = 42
N_RESAMPLES = 10_000
CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences with its interval.

    ``low`` and ``high`` are None where there are fewer than two clusters, since nothing can be resampled then.
    ``p_value`` is two-sided, 1 where nothing can be resampled.
    """

    mean: float
    low: float | None
    high: float | None
    p_value: float
    n_queries: int
    n_clusters: int


def paired_cluster_bootstrap(differences: Sequence[float], clusters: Sequence[str]) -> Difference:
    """The mean difference over all queries, with a percentile interval from resampling whole clusters.

    ``differences`` holds one value a query, ``clusters`` the cluster that the query belongs to (its scenario: queries
    over one bundle rise and fall together, so that resampling them singly would make the interval too narrow). A
    resample draws as many clusters as there are, with replacement, and its mean weighs every query alike: the sum of
    the drawn clusters' sums over the sum of their sizes (the ratio estimator of one-stage cluster sampling). Seeded,
    so that the same differences give the same interval. The p-value is the least level at which the interval leaves 0
    out: twice the smaller share of resampled means on either side of 0, counted with one more on that side.

    Source of the p-value: Davison and Hinkley, "Bootstrap Methods and their Application", 1997, sections 4.4 and 5.2.

    Raises:
        ValueError: the two sequences differ in length, or are empty.
    """
    if len(differences) != len(clusters) or not differences:
        raise ValueError(f"{len(differences)} differences for {len(clusters)} queries")
    import numpy as np
    from scipy.stats import bootstrap

    names, position = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(position, weights=np.asarray(differences, dtype=np.float64))
    sizes = np.bincount(position).astype(np.float64)
    mean = float(np.sum(sums) / np.sum(sizes))
    if len(names) < 2:
        return Difference(mean, None, None, 1.0, len(differences), len(names))
    result = bootstrap(
        (sums, sizes),
        lambda drawn_sums, drawn_sizes, axis: np.sum(drawn_sums, axis=axis) / np.sum(drawn_sizes, axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=CONFIDENCE_LEVEL,
        n_resamples=N_RESAMPLES,
        # Bounds the memory: scipy would else hold all resamples of all clusters at once.
        batch=1000,
        rng=np.random.default_rng(SEED),
    )
    interval = result.confidence_interval
    means = result.bootstrap_distribution
    fewer = min(int(np.sum(means <= 0)), int(np.sum(means >= 0)))
    p_value = min(1.0, 2 * (1 + fewer) / (1 + len(means)))
    return Difference(mean, float(interval.low), float(interval.high), p_value, len(differences), len(names))


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """The p-values of one family, adjusted so that the chance of any false finding stays below the level.

    Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6(2),
    1979.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = least
    return adjusted
