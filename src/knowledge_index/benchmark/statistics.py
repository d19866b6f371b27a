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
    """

    mean: float
    low: float | None
    high: float | None
    n_queries: int
    n_clusters: int


def paired_cluster_bootstrap(differences: Sequence[float], clusters: Sequence[str]) -> Difference:
    """The mean difference over all queries, with a percentile interval from resampling whole clusters.

    ``differences`` holds one value a query, ``clusters`` the cluster that the query belongs to (its scenario: queries
    over one bundle rise and fall together, so that resampling them singly would make the interval too narrow). A
    resample draws as many clusters as there are, with replacement, and its mean weighs every query alike: the sum of
    the drawn clusters' sums over the sum of their sizes (the ratio estimator of one-stage cluster sampling). Seeded,
    so that the same differences give the same interval.

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
        return Difference(mean, None, None, len(differences), len(names))
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
    return Difference(mean, float(interval.low), float(interval.high), len(differences), len(names))
