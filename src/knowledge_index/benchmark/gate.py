"""Whether an evaluation passes, and everything that speaks against it."""

import math

from knowledge_index.benchmark.report import (
    ALL_KINDS,
    CoverageReport,
    GateReport,
    LiftReport,
    WallProbe,
    WallsReport,
    WallStatus,
)
from knowledge_index.domain.errors import UsageError


def check_min_lift(min_lift: float) -> None:
    """Refuse what no lift can be compared with; below 0 is a loss that is still accepted.

    Raises:
        UsageError: it is no finite number.
    """
    if not math.isfinite(min_lift):
        raise UsageError(f"--min-lift {min_lift}: has to be a finite number of nDCG@10, such as 0.05")


def judge(lift: LiftReport | None, walls: WallsReport, coverage: CoverageReport, min_lift: float) -> GateReport:
    """Judge the lift, where ``full`` and ``naive_dense`` both ran, and the walls, always.

    A wall between groups cannot be probed where there is but one principal: that is noted, never counted as held, and
    fails nothing, since there is no such wall. An estate that holds other files than the gold's corpus is noted too.
    """
    check_min_lift(min_lift)
    reasons, notes = _wall_findings(walls)
    if not coverage.corpus_is_the_golds:
        notes.append("no source holds exactly the corpus that this gold was derived from: figures cannot be compared")
    if lift is not None:
        reasons = _lift_reasons(lift, min_lift) + reasons
    return GateReport(
        passed=not reasons,
        min_lift=None if lift is None else min_lift,
        reasons=tuple(reasons),
        notes=tuple(notes),
    )


def _lift_reasons(lift: LiftReport, min_lift: float) -> list[str]:
    row = next(row for row in lift.rows if row.kind == ALL_KINDS)
    reasons = []
    if row.difference < min_lift:
        reasons.append(
            f"{lift.preset} lies {row.difference:+.4f} nDCG@10 above {lift.over}, less than the {min_lift:g} asked for"
        )
    if row.interval_low is None:
        reasons.append(f"the lift has no interval: {row.n_scenarios} scenario cannot be resampled")
    elif row.interval_low <= 0:
        reasons.append(f"the lift's interval [{row.interval_low:+.4f}, {row.interval_high:+.4f}] does not lie above 0")
    return reasons


def _wall_findings(walls: WallsReport) -> tuple[list[str], list[str]]:
    reasons, notes = [], []
    for probe in WallProbe:
        rows = [row for row in walls.rows if row.probe is probe]
        match walls.status_of(probe):
            case WallStatus.LEAKED:
                n_leaks = sum(row.n_leaks for row in rows)
                presets = ", ".join(row.preset for row in rows if row.n_leaks)
                reasons.append(f"walls leak: {n_leaks} forbidden hits for {_words(probe)} under {presets}")
            case WallStatus.NOT_PROBED if probe is WallProbe.OTHER_PRINCIPALS:
                notes.append("walls between principals were not probed: the gold and the grants name only one")
            case WallStatus.NOT_PROBED:
                reasons.append(f"walls were not probed for {_words(probe)}")
            case WallStatus.NOTHING_CAME_BACK:
                reasons.append(f"walls prove nothing for {_words(probe)}: no search of theirs brought anything back")
            case WallStatus.HELD:
                empty = [row.preset for row in rows if row.status is WallStatus.NOTHING_CAME_BACK]
                if empty:
                    notes.append(f"walls prove nothing for {_words(probe)} under {', '.join(empty)}: nothing came back")
    return reasons, notes


def _words(probe: WallProbe) -> str:
    return {
        WallProbe.OUTSIDER: "the outsider",
        WallProbe.OTHER_PRINCIPALS: "other principals",
        WallProbe.OWN_PRINCIPAL: "the query's own principal",
    }[probe]
