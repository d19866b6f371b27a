"""An evaluation for people: tables and lines that fit 80 columns."""

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from knowledge_index.benchmark.metrics import MeasureValues
from knowledge_index.benchmark.report import (
    ALL_KINDS,
    AblationsReport,
    EvaluationReport,
    LiftReport,
    WallProbe,
    WallStatus,
)

_MEASURE_HEADINGS = ("nDCG@10", "R@1", "R@5", "R@10", "R@20", "MRR@10")
_PROBE_WORDS = {
    WallProbe.OUTSIDER: "outsider",
    WallProbe.OTHER_PRINCIPALS: "other principals",
    WallProbe.OWN_PRINCIPAL: "own principal",
}
_STATUS_WORDS = {
    WallStatus.HELD: "held",
    WallStatus.LEAKED: "LEAKED",
    WallStatus.NOTHING_CAME_BACK: "nothing came back: proves nothing",
    WallStatus.NOT_PROBED: "not probed",
}


def render_report(report: EvaluationReport) -> RenderableType:
    """The measures of each baseline and kind, the ceiling, rank 1, the lift, the walls and the gate."""
    gold = report.gold
    parts: list[RenderableType] = [
        Text(f"{gold.name}: {gold.n_queries} queries, {gold.n_scenarios} scenarios, {gold.n_groups} papers to find"),
        Text(),
        _measures_table(report),
        Text(),
        _status_table(report),
        Text(),
    ]
    if report.lift is not None:
        parts += [_lift_table(report.lift), Text()]
    if report.ablations is not None:
        parts += [_ablations_table(report, report.ablations), Text()]
    parts.append(_walls_table(report))
    if report.walls.leaks:
        parts.append(_leaks_text(report))
    parts += [Text(), _gate_text(report)]
    return Group(*parts)


def _table(*columns: str, first: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _measures_table(report: EvaluationReport) -> Table:
    table = _table(*_MEASURE_HEADINGS, "p50 ms", "p95 ms", first="baseline, kind")
    timings = {(row.preset, row.kind): row for row in report.timings}
    for baseline in report.baselines:
        for row in baseline.metrics:
            timing = timings[baseline.preset, row.kind]
            times = (f"{timing.p50_ms:.1f}", f"{timing.p95_ms:.1f}")
            table.add_row(*_label(baseline.preset, row.kind), *_measure_cells(row.measures), *times)
    for ceiling in report.ceiling:
        table.add_row(*_label("ceiling", ceiling.kind), *_measure_cells(ceiling.measures), "", "", style="dim")
    return table


def _status_table(report: EvaluationReport) -> Table:
    table = _table("queries", "executed", "final", "draft", "unknown", "none", first="status at rank 1")
    for baseline in report.baselines:
        for row in baseline.metrics:
            mix = row.rank_1_version_status
            shares = (mix.executed, mix.final, mix.draft, mix.unknown, mix.none)
            cells = (f"{share:.1%}" for share in shares)
            table.add_row(*_label(baseline.preset, row.kind), str(row.n_queries), *cells)
    return table


def _label(name: str, kind: str) -> tuple[str]:
    """The first cell: a baseline's row over everything bears its name, the rows of its kinds are indented below."""
    return (escape(name),) if kind == ALL_KINDS else (f" {escape(kind)}",)


def _measure_cells(measures: MeasureValues) -> tuple[str, ...]:
    values = (
        *(measures.ndcg_at_10, measures.recall_at_1, measures.recall_at_5),
        *(measures.recall_at_10, measures.recall_at_20, measures.mrr_at_10),
    )
    return tuple(f"{value:.3f}" for value in values)


def _lift_table(lift: LiftReport) -> Table:
    table = _table("queries", "scenarios", "nDCG@10", f"{lift.confidence_level:.0%} interval", first="lift")
    for row in lift.rows:
        interval = (
            "none: one scenario"
            if row.interval_low is None or row.interval_high is None
            else f"{row.interval_low:+.4f} to {row.interval_high:+.4f}"
        )
        counts = (str(row.n_queries), str(row.n_scenarios))
        table.add_row(*_label(f"{lift.preset} - {lift.over}", row.kind), *counts, f"{row.difference:+.4f}", interval)
    return table


def _ablations_table(report: EvaluationReport, ablations: AblationsReport) -> Table:
    """Kind by kind: what full scores, what a perfect ranking would, and what each mechanism is worth."""
    table = _table("nDCG@10", f"{ablations.confidence_level:.0%} interval", "p (Holm)", first="kind, full without")
    full = next(each for each in report.baselines if each.preset is ablations.over)
    ceilings = {row.kind: row.measures.ndcg_at_10 for row in report.ceiling}
    for metrics in full.metrics:
        ceiling = f"ceiling {ceilings[metrics.kind]:.3f}"
        table.add_row(escape(metrics.kind), f"{metrics.measures.ndcg_at_10:.3f}", ceiling, "")
        for row in ablations.rows:
            if row.kind != metrics.kind:
                continue
            interval = (
                "none: one scenario"
                if row.interval_low is None or row.interval_high is None
                else f"{row.interval_low:+.4f} to {row.interval_high:+.4f}"
            )
            verdict = f"{row.p_holm:.4f}" if row.is_resolved else "not resolvable"
            table.add_row(f" {escape(row.preset)}", f"{row.difference:+.4f}", interval, verdict)
    return table


def _walls_table(report: EvaluationReport) -> Table:
    table = _table("callers", "searches", "hits", "leaks", first="walls: who asked")
    table.add_column("result")
    for probe in WallProbe:
        rows = [row for row in report.walls.rows if row.probe is probe]
        counts = (
            max((row.n_principals for row in rows), default=0),
            *(sum(row.n_searches for row in rows), sum(row.n_hits for row in rows), sum(row.n_leaks for row in rows)),
        )
        status = report.walls.status_of(probe)
        style = "" if status is WallStatus.HELD else "bold red" if status is WallStatus.LEAKED else "yellow"
        result = Text(_STATUS_WORDS[status], style=style)
        table.add_row(_PROBE_WORDS[probe], *map(str, counts), result)
    return table


def _leaks_text(report: EvaluationReport) -> Text:
    walls = report.walls
    lines = [f"  {leak.preset}: {leak.principal} got {leak.path} for {leak.gold_id}" for leak in walls.leaks]
    if walls.n_leaks > len(walls.leaks):
        lines.append(f"  and {walls.n_leaks - len(walls.leaks)} more")
    return Text("\n".join(lines), style="red")


def _gate_text(report: EvaluationReport) -> Text:
    gate = report.gate
    text = Text("\n".join(f"note: {note}" for note in gate.notes) + ("\n" if gate.notes else ""))
    if not gate.passed:
        return text.append(f"gate failed: {'; '.join(gate.reasons)}", style="bold red")
    judged = "walls alone" if gate.min_lift is None else f"lift of at least {gate.min_lift:g}, and walls"
    return text.append(f"gate passed ({judged})", style="bold green")
