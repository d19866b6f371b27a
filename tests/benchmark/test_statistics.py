from itertools import product

import numpy as np
import pytest
from scipy.stats import bootstrap

from knowledge_index.benchmark.statistics import Difference, holm_adjusted, paired_cluster_bootstrap


def test_one_query_a_cluster_is_the_plain_paired_bootstrap() -> None:
    random = np.random.default_rng(7)
    full, dense = random.uniform(0.3, 1.0, 60), random.uniform(0.0, 0.9, 60)
    ours = paired_cluster_bootstrap(list(full - dense), [f"s{number:02}" for number in range(60)])
    plain = bootstrap(
        (full, dense),
        lambda upper, lower, axis: np.mean(upper, axis=axis) - np.mean(lower, axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert ours.mean == pytest.approx(np.mean(full) - np.mean(dense))
    assert (ours.low, ours.high) == pytest.approx((plain.low, plain.high), abs=0.01)


def test_clusters_of_two_sizes_against_every_resample_there_is() -> None:
    # Three clusters have 27 equally likely resamples, so that the interval can be worked out in full.
    clusters = {"a": [0.9], "b": [0.1, 0.2, 0.3], "c": [-0.4, 0.0]}
    every = sorted(
        sum(sum(clusters[name]) for name in drawn) / sum(len(clusters[name]) for name in drawn)
        for drawn in product(clusters, repeat=3)
    )
    differences = [value for values in clusters.values() for value in values]
    ours = paired_cluster_bootstrap(differences, [name for name, values in clusters.items() for _ in values])
    assert ours.mean == pytest.approx(sum(differences) / 6)
    # 2.5 % of 27 lies within the lowest resample (c, c, c), 97.5 % within the highest (a, a, a).
    assert (ours.low, ours.high) == pytest.approx((every[0], every[-1]))
    assert (ours.n_queries, ours.n_clusters) == (6, 3)


def test_queries_of_one_bundle_are_not_counted_as_independent() -> None:
    random = np.random.default_rng(3)
    by_cluster = np.repeat(random.normal(0.1, 0.2, 20), 10)
    clustered = paired_cluster_bootstrap(list(by_cluster), [f"s{number // 10}" for number in range(200)])
    alone = paired_cluster_bootstrap(list(by_cluster), [f"s{number}" for number in range(200)])
    assert clustered.high - clustered.low > 2 * (alone.high - alone.low)


def test_the_same_differences_give_the_same_interval() -> None:
    differences, clusters = [0.3, -0.1, 0.4, 0.2], ["a", "b", "b", "c"]
    assert paired_cluster_bootstrap(differences, clusters) == paired_cluster_bootstrap(differences, clusters)


def test_a_constant_difference_has_no_spread() -> None:
    assert paired_cluster_bootstrap([0.25] * 4, ["a", "b", "c", "c"]) == Difference(
        0.25, 0.25, 0.25, pytest.approx(2 / 10_001), 4, 3
    )


def test_one_cluster_has_no_interval() -> None:
    ours = paired_cluster_bootstrap([0.5, 0.7], ["only", "only"])
    assert ours.mean == pytest.approx(0.6)
    assert (ours.low, ours.high) == (None, None)


@pytest.mark.parametrize(("differences", "clusters"), [([], []), ([0.1], ["a", "b"])])
def test_what_does_not_fit_together_is_refused(differences: list[float], clusters: list[str]) -> None:
    with pytest.raises(ValueError, match="differences for"):
        paired_cluster_bootstrap(differences, clusters)


def test_a_p_value_is_below_the_level_where_the_interval_leaves_0_out() -> None:
    clusters = [f"s-{number}" for number in range(12)]
    for shift in (-0.3, -0.1, 0.0, 0.05, 0.1, 0.3):
        found = paired_cluster_bootstrap([shift + 0.1 * (-1) ** number * number / 6 for number in range(12)], clusters)
        assert found.low is not None
        assert found.high is not None
        # At the level itself either may fall on either side of it by one resample.
        if abs(found.p_value - 0.05) > 0.002:
            assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)


def test_a_single_cluster_has_no_p_value_to_speak_of() -> None:
    assert paired_cluster_bootstrap([0.5, 0.5], ["a", "a"]).p_value == 1


# Worked out by hand after Holm 1979: the smallest times 4, the next times 3, each at least the one before it.
@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.4], [0.8, 0.8]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_holm_adjusts_a_family(raw: list[float], adjusted: list[float]) -> None:
    assert holm_adjusted(raw) == pytest.approx(adjusted)
