"""The report of an evaluation: its schema, and how it is written."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge_index.benchmark.metrics import MeasureValues, VersionStatusMix
from knowledge_index.benchmark.presets import PresetName
from knowledge_index.benchmark.statistics import CONFIDENCE_LEVEL, N_RESAMPLES, SEED
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import UsageError

SCHEMA_VERSION = 2
# The row over all queries, beside one row for each gold kind.
ALL_KINDS = "all"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GoldDescription(_Model):
    """Which gold was measured."""

    name: str
    sha256: str
    corpus_sha256: str
    n_queries: int
    n_scenarios: int
    n_groups: int


class CoverageReport(_Model):
    """What of the gold could be found at all; nothing is scored unless it is everything."""

    n_gold_paths: int
    n_searchable_paths: int
    corpus_is_the_golds: bool
    """Whether some source holds exactly the files, by path and bytes, that the gold was derived from."""


class MetricsRow(_Model):
    """Means over the queries of one kind, or over all."""

    kind: str
    n_queries: int
    measures: MeasureValues
    rank_1_version_status: VersionStatusMix


class CeilingRow(_Model):
    """What a perfect ranking would score on the queries of one kind, or on all."""

    kind: str
    n_queries: int
    measures: MeasureValues


class BaselineReport(_Model):
    """One preset: the exact settings it ran with, and what it scored."""

    preset: PresetName
    settings: RetrievalSettings
    metrics: tuple[MetricsRow, ...]


class LiftRow(_Model):
    """Mean difference in nDCG@10 with its bootstrap interval; no interval where there is but one scenario."""

    kind: str
    n_queries: int
    n_scenarios: int
    difference: float
    interval_low: float | None
    interval_high: float | None


class LiftReport(_Model):
    """How far ``preset`` lies above ``over``; only the row over all queries is gated."""

    preset: PresetName
    over: PresetName
    measure: Literal["ndcg_at_10"] = "ndcg_at_10"
    confidence_level: float = CONFIDENCE_LEVEL
    resamples: int = N_RESAMPLES
    resampled_unit: Literal["scenario"] = "scenario"
    seed: int = SEED
    rows: tuple[LiftRow, ...]


class AblationRow(_Model):
    """Mean difference in nDCG@10 to full, of one mechanism off, on the queries of one kind.

    ``p_holm`` is adjusted over the ablations of the same kind. ``is_resolved``: the interval leaves 0 out, and the
    adjusted p-value is below one less the confidence level; else this gold cannot tell the two apart.
    """

    preset: PresetName
    kind: str
    n_queries: int
    n_scenarios: int
    difference: float
    interval_low: float | None
    interval_high: float | None
    p_holm: float
    is_resolved: bool


class AblationsReport(_Model):
    """What each mechanism of ``over`` is worth: the difference that it makes to switch it off."""

    over: PresetName
    measure: Literal["ndcg_at_10"] = "ndcg_at_10"
    confidence_level: float = CONFIDENCE_LEVEL
    resamples: int = N_RESAMPLES
    resampled_unit: Literal["scenario"] = "scenario"
    seed: int = SEED
    rows: tuple[AblationRow, ...]


class WallProbe(StrEnum):
    """Who asks in a wall check."""

    OUTSIDER = "outsider"
    OTHER_PRINCIPALS = "other_principals"
    OWN_PRINCIPAL = "own_principal"


class WallStatus(StrEnum):
    """What a wall check showed; only ``held`` is proof."""

    HELD = "held"
    LEAKED = "leaked"
    NOTHING_CAME_BACK = "nothing_came_back"
    NOT_PROBED = "not_probed"


class WallRow(_Model):
    """The searches of one kind of probe: how many, what came back, and how much of it should not have."""

    probe: WallProbe
    preset: PresetName
    status: WallStatus
    n_principals: int
    n_searches: int
    n_hits: int
    n_leaks: int


class Leak(_Model):
    """One hit that its caller may not see."""

    probe: WallProbe
    preset: PresetName
    gold_id: str
    principal: str
    source: str
    path: str


class WallsReport(_Model):
    """All wall checks; ``leaks`` lists the first of ``n_leaks``."""

    outsider: str
    rows: tuple[WallRow, ...]
    n_leaks: int
    leaks: tuple[Leak, ...]

    def status_of(self, probe: WallProbe) -> WallStatus:
        """The status of one kind of probe over all presets together."""
        rows = [row for row in self.rows if row.probe is probe]
        if any(row.n_leaks for row in rows):
            return WallStatus.LEAKED
        if not any(row.n_searches for row in rows):
            return WallStatus.NOT_PROBED
        held = any(row.status is WallStatus.HELD for row in rows)
        return WallStatus.HELD if held else WallStatus.NOTHING_CAME_BACK


class TimingRow(_Model):
    """Wall-clock time of the searches of one preset and kind, the query's embedding included, in milliseconds."""

    preset: PresetName
    kind: str
    n_searches: int
    p50_ms: float
    p95_ms: float


class QueryResult(_Model):
    """One query under one preset; ``group_ranks`` follows the gold's groups, None where one was not found."""

    preset: PresetName
    ndcg_at_10: float
    group_ranks: tuple[int | None, ...]


class QueryReport(_Model):
    """One query under every preset."""

    gold_id: str
    kind: str
    scenario_id: str
    results: tuple[QueryResult, ...]


class GateReport(_Model):
    """Whether the evaluation passed; ``reasons`` names everything that failed, ``notes`` what was not proved."""

    passed: bool
    min_lift: float | None = Field(description="None where the presets that the lift needs did not both run")
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


class EvaluationReport(_Model):
    """Everything that an evaluation found; but for ``timings`` it is a function of index, gold and settings."""

    schema_version: int = SCHEMA_VERSION
    package_version: str
    gold: GoldDescription
    index_signature: str
    search_limit: int
    coverage: CoverageReport
    baselines: tuple[BaselineReport, ...]
    ceiling: tuple[CeilingRow, ...]
    lift: LiftReport | None
    ablations: AblationsReport | None
    walls: WallsReport
    timings: tuple[TimingRow, ...]
    gate: GateReport
    queries: tuple[QueryReport, ...]


def write_report(report: EvaluationReport, file: Path) -> None:
    """Write the report as JSON, its folder made if absent.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{file}: the report cannot be written ({error.strerror}); name another --report") from error
