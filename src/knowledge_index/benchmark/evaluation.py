"""Runs the gold's queries under each preset, scores what comes back, and probes the walls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import knowledge_index
from knowledge_index.benchmark.ablations import compare_ablations
from knowledge_index.benchmark.coverage import CoverageCheck, require_coverage
from knowledge_index.benchmark.freezing import FrozenGold
from knowledge_index.benchmark.gate import judge
from knowledge_index.benchmark.gold_types import GoldQuery
from knowledge_index.benchmark.metrics import (
    MeasureValues,
    mean_of,
    score_ideal,
    score_rankings,
    version_status_mix,
)
from knowledge_index.benchmark.presets import LADDER_PRESETS, PresetName, preset
from knowledge_index.benchmark.rankings import Ranking, canonical_path, group_ranks, rank_hits
from knowledge_index.benchmark.report import (
    ALL_KINDS,
    BaselineReport,
    CeilingRow,
    EvaluationReport,
    GoldDescription,
    LiftReport,
    LiftRow,
    MetricsRow,
    QueryReport,
    QueryResult,
    TimingRow,
    WallProbe,
)
from knowledge_index.benchmark.statistics import paired_cluster_bootstrap
from knowledge_index.benchmark.walls import (
    MemberOf,
    ObjectGrants,
    WallAudit,
    inherited_grants,
    outsider_of,
    principals_to_probe,
)
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import InputError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.progress import Progress
from knowledge_index.domain.search import SearchFilters, SearchResult

# Deep enough for the deepest measure, recall@20.
SEARCH_LIMIT = 20
_NO_FILTERS = SearchFilters()


class SearchService(Protocol):
    """What is measured."""

    def search(
        self, query: str, scope: Scope, settings: RetrievalSettings, filters: SearchFilters, limit: int
    ) -> SearchResult:
        """The best ``limit`` hits for the query that the scope may see."""
        ...


@dataclass(frozen=True)
class EvaluationServices:
    """What an evaluation works on.

    ``search`` is timed and must be the one that users have; ``probe_search`` is not timed and may remember query
    vectors, as it asks each query once for every principal. ``clock`` is monotonic, in seconds.
    ``member_of`` are the declared memberships. ``corpora`` are the contents of the sources, named as ``corpus_sha256``
    of the manifest names them.
    """

    search: SearchService
    probe_search: SearchService
    compile_scope: Callable[[frozenset[Principal]], Scope]
    coverage: CoverageCheck
    grants: ObjectGrants
    member_of: MemberOf
    corpora: frozenset[str]
    index_signature: str
    clock: Callable[[], float]


@dataclass(frozen=True)
class Evaluation:
    """A report and the rankings it was made from; each preset's rankings follow the gold's order."""

    report: EvaluationReport
    queries: tuple[GoldQuery, ...]
    rankings: Mapping[PresetName, tuple[Ranking, ...]]


@dataclass(frozen=True)
class _Measured:
    """One preset's share of the work; every list follows the gold's order, ``seconds`` are of the searches alone."""

    settings: RetrievalSettings
    rankings: tuple[Ranking, ...]
    seconds: tuple[float, ...]


def evaluate(
    gold: FrozenGold,
    services: EvaluationServices,
    presets: Sequence[PresetName],
    shipped: RetrievalSettings,
    min_lift: float,
    progress: Progress,
) -> Evaluation:
    """Measure the presets over the gold, probe the walls and judge the result.

    ``shipped`` are the settings in force, of which each preset is a copy. ``min_lift`` is in nDCG@10. An ablation that
    runs beside full is asked by each query's own principal alone: other callers probe the walls of full.

    Raises:
        InputError: the gold cannot be scored, because an id has white space or a path stands in two groups.
        PreconditionError: a gold path cannot be found; nothing was scored.
    """
    settings = {name: preset(name, shipped) for name in presets}
    queries = gold.queries
    _require_sound(gold)
    named = principals_to_probe(queries, services.grants)
    grants = inherited_grants(services.grants, services.member_of, named)
    coverage = require_coverage(
        queries,
        services.coverage,
        grants,
        corpus_is_the_golds=gold.meta.corpus_sha256 in services.corpora,
    )
    outsider = outsider_of(queries, services.grants)
    scopes = {principal: services.compile_scope(frozenset({principal})) for principal in (*named, outsider)}
    audit = WallAudit(grants, outsider, tuple(settings))
    measured = {
        name: _measure(name, each, queries, services, scopes, audit, progress) for name, each in settings.items()
    }
    probed = {name: each for name, each in settings.items() if name in LADDER_PRESETS} or settings
    _probe_walls(probed, queries, services, scopes, outsider, audit, progress)
    walls = audit.report()
    values = {name: score_rankings(queries, each.rankings) for name, each in measured.items()}
    lift = _lift(queries, values)
    report = EvaluationReport(
        package_version=knowledge_index.__version__,
        gold=GoldDescription(
            name=gold.meta.name,
            sha256=gold.meta.gold_sha256,
            corpus_sha256=gold.meta.corpus_sha256,
            n_queries=len(queries),
            n_scenarios=len({query.scenario_id for query in queries}),
            n_groups=sum(len(query.groups) for query in queries),
        ),
        index_signature=services.index_signature,
        search_limit=SEARCH_LIMIT,
        coverage=coverage,
        baselines=tuple(_baseline(name, each, queries, values[name]) for name, each in measured.items()),
        ceiling=_ceiling(queries),
        lift=lift,
        ablations=compare_ablations(queries, _kinds(queries), values),
        walls=walls,
        timings=tuple(row for name, each in measured.items() for row in _timings(name, each, queries)),
        gate=judge(lift, walls, coverage, min_lift),
        queries=tuple(_query_report(index, query, measured, values) for index, query in enumerate(queries)),
    )
    return Evaluation(report, queries, {name: each.rankings for name, each in measured.items()})


def _require_sound(gold: FrozenGold) -> None:
    """Refuse what freezing does not look at and what would make a wrong figure in silence."""
    for query in gold.queries:
        where = f"gold '{gold.meta.name}', gold_id '{query.gold_id}'"
        if query.gold_id.split() != [query.gold_id]:
            raise InputError(f"{where}: the id has white space, which no run file can hold; name it otherwise")
        paths = [canonical_path(path) for group in query.groups for path in group.paths]
        if len(paths) != len(set(paths)):
            raise InputError(f"{where}: a path stands in two groups, so that one hit would find both; merge them")


def _measure(
    name: PresetName,
    settings: RetrievalSettings,
    queries: Sequence[GoldQuery],
    services: EvaluationServices,
    scopes: Mapping[Principal, Scope],
    audit: WallAudit,
    progress: Progress,
) -> _Measured:
    first = queries[0]
    # The first search loads a model and opens the engines; its time says nothing about the searches after it.
    services.search.search(first.query, scopes[first.principal], settings, _NO_FILTERS, SEARCH_LIMIT)
    rankings, seconds = [], []
    with progress.task(f"Measuring {name}", len(queries)) as bar:
        for query in queries:
            scope = scopes[query.principal]
            started = services.clock()
            result = services.search.search(query.query, scope, settings, _NO_FILTERS, SEARCH_LIMIT)
            seconds.append(services.clock() - started)
            rankings.append(rank_hits(query, result.hits))
            audit.record(WallProbe.OWN_PRINCIPAL, name, query.principal, query.gold_id, result.hits)
            bar.advance()
    return _Measured(settings, tuple(rankings), tuple(seconds))


def _probe_walls(
    settings: Mapping[PresetName, RetrievalSettings],
    queries: Sequence[GoldQuery],
    services: EvaluationServices,
    scopes: Mapping[Principal, Scope],
    outsider: Principal,
    audit: WallAudit,
    progress: Progress,
) -> None:
    """Ask each query as everyone but its own principal, whose hits the measuring has checked."""
    with progress.task("Probing walls", len(settings) * len(queries) * (len(scopes) - 1)) as bar:
        for query in queries:
            for principal, scope in scopes.items():
                if principal == query.principal:
                    continue
                probe = WallProbe.OUTSIDER if principal == outsider else WallProbe.OTHER_PRINCIPALS
                for name, each in settings.items():
                    result = services.probe_search.search(query.query, scope, each, _NO_FILTERS, SEARCH_LIMIT)
                    audit.record(probe, name, principal, query.gold_id, result.hits)
                    bar.advance()


def _kinds(queries: Sequence[GoldQuery]) -> dict[str, list[int]]:
    """The places in the gold of all queries, and of each kind's."""
    kinds = {ALL_KINDS: list(range(len(queries)))}
    for kind in sorted({str(query.kind) for query in queries}):
        kinds[kind] = [index for index, query in enumerate(queries) if query.kind == kind]
    return kinds


def _baseline(
    name: PresetName, measured: _Measured, queries: Sequence[GoldQuery], values: Mapping[str, MeasureValues]
) -> BaselineReport:
    rows = tuple(
        MetricsRow(
            kind=kind,
            n_queries=len(places),
            measures=mean_of([values[queries[index].gold_id] for index in places]),
            rank_1_version_status=version_status_mix([measured.rankings[index] for index in places]),
        )
        for kind, places in _kinds(queries).items()
    )
    return BaselineReport(preset=name, settings=measured.settings, metrics=rows)


def _ceiling(queries: Sequence[GoldQuery]) -> tuple[CeilingRow, ...]:
    ideal = score_ideal(queries)
    return tuple(
        CeilingRow(
            kind=kind, n_queries=len(places), measures=mean_of([ideal[queries[index].gold_id] for index in places])
        )
        for kind, places in _kinds(queries).items()
    )


def _lift(queries: Sequence[GoldQuery], values: Mapping[PresetName, Mapping[str, MeasureValues]]) -> LiftReport | None:
    upper, lower = PresetName.FULL, PresetName.NAIVE_DENSE
    if upper not in values or lower not in values:
        return None
    rows = []
    for kind, places in _kinds(queries).items():
        ids = [queries[index].gold_id for index in places]
        difference = paired_cluster_bootstrap(
            [values[upper][gold_id].ndcg_at_10 - values[lower][gold_id].ndcg_at_10 for gold_id in ids],
            [queries[index].scenario_id for index in places],
        )
        rows.append(
            LiftRow(
                kind=kind,
                n_queries=difference.n_queries,
                n_scenarios=difference.n_clusters,
                difference=difference.mean,
                interval_low=difference.low,
                interval_high=difference.high,
            )
        )
    return LiftReport(preset=upper, over=lower, rows=tuple(rows))


def _timings(name: PresetName, measured: _Measured, queries: Sequence[GoldQuery]) -> list[TimingRow]:
    import numpy as np

    rows = []
    for kind, places in _kinds(queries).items():
        p50, p95 = np.percentile([measured.seconds[index] * 1000 for index in places], [50, 95])
        rows.append(TimingRow(preset=name, kind=kind, n_searches=len(places), p50_ms=float(p50), p95_ms=float(p95)))
    return rows


def _query_report(
    index: int,
    query: GoldQuery,
    measured: Mapping[PresetName, _Measured],
    values: Mapping[PresetName, Mapping[str, MeasureValues]],
) -> QueryReport:
    return QueryReport(
        gold_id=query.gold_id,
        kind=query.kind,
        scenario_id=query.scenario_id,
        results=tuple(
            QueryResult(
                preset=name,
                ndcg_at_10=values[name][query.gold_id].ndcg_at_10,
                group_ranks=tuple(group_ranks(query, each.rankings[index])),
            )
            for name, each in measured.items()
        ),
    )
