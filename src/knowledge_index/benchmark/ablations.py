"""What each mechanism is worth: full without it, compared query by query with full."""

from collections.abc import Mapping, Sequence

from knowledge_index.benchmark.gold_types import GoldQuery
from knowledge_index.benchmark.metrics import MeasureValues
from knowledge_index.benchmark.presets import LADDER_PRESETS, PresetName
from knowledge_index.benchmark.report import AblationRow, AblationsReport
from knowledge_index.benchmark.statistics import CONFIDENCE_LEVEL, holm_adjusted, paired_cluster_bootstrap


def compare_ablations(
    queries: Sequence[GoldQuery],
    kinds: Mapping[str, Sequence[int]],
    values: Mapping[PresetName, Mapping[str, MeasureValues]],
) -> AblationsReport | None:
    """The differences of every ablation to full, by kind; None where full or every ablation did not run.

    ``kinds`` gives for each kind the places of its queries, ``values`` for each preset the measures by gold id.
    """
    over = PresetName.FULL
    ablations = [name for name in values if name not in LADDER_PRESETS]
    if over not in values or not ablations:
        return None
    rows = []
    for kind, places in kinds.items():
        held = [queries[place] for place in places]
        differences = [
            paired_cluster_bootstrap(
                [values[name][query.gold_id].ndcg_at_10 - values[over][query.gold_id].ndcg_at_10 for query in held],
                [query.scenario_id for query in held],
            )
            for name in ablations
        ]
        adjusted = holm_adjusted([each.p_value for each in differences])
        for name, difference, p_holm in zip(ablations, differences, adjusted, strict=True):
            leaves_0_out = (
                difference.low is not None
                and difference.high is not None
                and (difference.low > 0 or difference.high < 0)
            )
            rows.append(
                AblationRow(
                    preset=name,
                    kind=kind,
                    n_queries=difference.n_queries,
                    n_scenarios=difference.n_clusters,
                    difference=difference.mean,
                    interval_low=difference.low,
                    interval_high=difference.high,
                    p_holm=p_holm,
                    is_resolved=leaves_0_out and p_holm < 1 - CONFIDENCE_LEVEL,
                )
            )
    return AblationsReport(over=over, rows=tuple(rows))
