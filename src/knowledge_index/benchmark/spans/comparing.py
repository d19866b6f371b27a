"""How sure a mean is, and a difference between two configurations."""

from collections.abc import Sequence

from knowledge_index.benchmark.statistics import Difference, paired_cluster_bootstrap

# What the summing of floats may leave of a difference that is 0.
_ROUNDING = 1e-9


def estimate(values: Sequence[float | None], clusters: Sequence[str]) -> Difference | None:
    """The mean over the defined values with its bootstrap interval, or None where none is defined.

    ``clusters`` names each question's document: the questions of one document rise and fall together, so that whole
    documents are resampled.
    """
    defined = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    if not defined:
        return None
    return paired_cluster_bootstrap([value for value, _ in defined], [cluster for _, cluster in defined])


def paired_difference(
    first: Sequence[float | None], second: Sequence[float | None], clusters: Sequence[str]
) -> Difference | None:
    """How far ``second`` lies above ``first``, over the questions for which both are defined."""
    return estimate(
        [None if old is None or new is None else new - old for old, new in zip(first, second, strict=True)], clusters
    )


def is_resolvable(difference: Difference) -> bool:
    """Whether the interval leaves 0 out; without one (a single document) nothing can be told."""
    if difference.low is None or difference.high is None:
        return False
    return difference.low > _ROUNDING or difference.high < -_ROUNDING


def interval_words(difference: Difference, unit: str = "") -> str:
    """The interval for a report."""
    if difference.low is None or difference.high is None:
        return "no interval: one document"
    return f"{_number(difference.low, unit)} to {_number(difference.high, unit)}"


def difference_words(difference: Difference | None, unit: str = "") -> str:
    """The difference with its interval, and whether it can be told from none."""
    if difference is None:
        return "not measured"
    words = f"{_signed(difference.mean, unit)} ({interval_words(difference, unit)})"
    return words if is_resolvable(difference) else f"{words}, not resolvable"


def _number(value: float, unit: str) -> str:
    return f"{value:.1f}{unit}" if unit else f"{value:.3f}"


def _signed(value: float, unit: str) -> str:
    return f"{value:+.1f}{unit}" if unit else f"{value:+.3f}"
