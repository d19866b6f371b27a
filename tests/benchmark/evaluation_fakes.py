"""A small firm of two groups, and services over it that keep the contracts of the real ones."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from knowledge_index.benchmark.coverage import UnsearchablePath
from knowledge_index.benchmark.evaluation import Evaluation, EvaluationServices, SearchService, evaluate
from knowledge_index.benchmark.freezing import FrozenGold, FrozenGoldMeta
from knowledge_index.benchmark.gold_types import GoldGroup, GoldKind, GoldQuery
from knowledge_index.benchmark.manifest import GeneratorArguments
from knowledge_index.benchmark.presets import LADDER_PRESETS, PresetName
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.grants import Access, Grant, Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.domain.search import QueryExplanation, SearchFilters, SearchHit, SearchResult
from knowledge_index.domain.versions import VersionStatus

LEASES = Principal.parse("group:leases")
SALES = Principal.parse("group:sales")
SOURCE = "firm"
NOTHING_RECOGNISED = QueryExplanation((), (), (), (), "", (), 0)

LEASE_DRAFT = "Mandate/M-1 Halle/lease_draft.docx"
LEASE_FINAL = "Mandate/M-1 Halle/lease_final.docx"
LEASE_LETTER = "Mandate/M-1 Halle/letter.docx"
SALES_TERMS = "Mandate/M-2 Kran/terms.docx"
SALES_OFFER = "Mandate/M-2 Kran/offer.docx"

GRANTS = {
    (SOURCE, LEASE_DRAFT): (Grant(LEASES, Access.ALLOW),),
    (SOURCE, LEASE_FINAL): (Grant(LEASES, Access.ALLOW),),
    (SOURCE, LEASE_LETTER): (Grant(LEASES, Access.ALLOW),),
    (SOURCE, SALES_TERMS): (Grant(SALES, Access.ALLOW),),
    (SOURCE, SALES_OFFER): (Grant(SALES, Access.ALLOW),),
}


def gold_query(
    gold_id: str,
    *groups: Sequence[str],
    kind: GoldKind = GoldKind.FACTOID,
    principal: Principal = LEASES,
    scenario_id: str = "s-1",
) -> GoldQuery:
    return GoldQuery(
        gold_id=gold_id,
        kind=kind,
        query=f"query of {gold_id}",
        principal=principal,
        scenario_id=scenario_id,
        matter_ref="M-1",
        groups=tuple(GoldGroup(paths=tuple(paths), grade=1) for paths in groups),
    )


def frozen_gold(*queries: GoldQuery) -> FrozenGold:
    meta = FrozenGoldMeta(
        schema_version=1,
        name="tiny",
        corpus_sha256="c" * 64,
        generator=GeneratorArguments(areas=None, matters=2, docs_target=5, seed=42),
        counts_by_kind={},
        gold_sha256="a" * 64,
    )
    return FrozenGold(meta, queries)


TWO_GROUP_GOLD = frozen_gold(
    gold_query(
        "ws-1", (LEASE_DRAFT, LEASE_FINAL), (LEASE_LETTER,), kind=GoldKind.INSTRUCTION_WORKING_SET, scenario_id="s-1"
    ),
    gold_query("fact-1", (LEASE_LETTER,), scenario_id="s-1"),
    gold_query("fact-2", (SALES_TERMS,), principal=SALES, scenario_id="s-2"),
)


def hit(path: str, source: str = SOURCE, status: VersionStatus = VersionStatus.UNKNOWN) -> SearchHit:
    return SearchHit(
        hit_id=path,
        source=source,
        path=path,
        document_key=path,
        title="",
        heading="",
        version_status=status,
        matter_ref="M-1",
        matter_title="",
        passage="x",
        start_char=0,
        end_char=1,
        text_sha256="0" * 64,
        converter="fake",
        score=1.0,
        legs=(),
    )


def open_scope(principals: frozenset[Principal]) -> Scope:
    return Scope(principals, frozenset({"class"}), policy_epoch=0)


@dataclass
class FakeSearch:
    """Returns what ``order`` lists for the settings' preset, of it what the caller's grants show."""

    order: Mapping[bool, Sequence[str]]
    leak_to: Callable[[Principal], bool] = lambda principal: False
    calls: list[tuple[str, Principal, bool]] = field(default_factory=list)

    def search(
        self, query: str, scope: Scope, settings: RetrievalSettings, filters: SearchFilters, limit: int
    ) -> SearchResult:
        (principal,) = scope.principals
        collapsed = settings.collapse_per_document
        self.calls.append((query, principal, collapsed))
        allowed = Grant(principal, Access.ALLOW)
        paths = [
            path
            for path in self.order[collapsed]
            if self.leak_to(principal) or allowed in GRANTS.get((SOURCE, path), ())
        ]
        return SearchResult(tuple(hit(path) for path in paths[:limit]), (), NOTHING_RECOGNISED)


@dataclass(frozen=True)
class FakeCoverage:
    missing: Mapping[str, str] = field(default_factory=dict)

    def unsearchable(self, paths: Collection[str]) -> Sequence[UnsearchablePath]:
        return [UnsearchablePath(path, self.missing[path]) for path in paths if path in self.missing]


ALL_PATHS = (LEASE_DRAFT, LEASE_LETTER, SALES_TERMS, SALES_OFFER)
# Collapsed searches (full, bm25) find the right paper first, the flat one (naive_dense) finds one paper twice before.
GOOD_AND_POOR = {
    True: ALL_PATHS,
    False: (LEASE_DRAFT, LEASE_FINAL, LEASE_DRAFT, SALES_OFFER, SALES_OFFER, SALES_TERMS, LEASE_LETTER),
}


def ticking_clock(step_s: float) -> Callable[[], float]:
    """A clock that moves on by ``step_s`` whenever it is read."""
    ticks = count()
    return lambda: next(ticks) * step_s


def services(
    search: SearchService,
    probe_search: SearchService | None = None,
    coverage: FakeCoverage | None = None,
    grants: Mapping[tuple[str, str], tuple[Grant, ...]] | None = None,
) -> EvaluationServices:
    return EvaluationServices(
        search=search,
        probe_search=probe_search or search,
        compile_scope=open_scope,
        coverage=coverage or FakeCoverage(),
        grants=GRANTS if grants is None else grants,
        member_of={},
        corpora=frozenset({"c" * 64}),
        index_signature="fake-model|1",
        clock=ticking_clock(0.010),
    )


def run_evaluation(
    gold: FrozenGold = TWO_GROUP_GOLD,
    using: EvaluationServices | None = None,
    presets: Sequence[PresetName] = LADDER_PRESETS,
    min_lift: float = 0.05,
) -> Evaluation:
    return evaluate(
        gold,
        using or services(FakeSearch(GOOD_AND_POOR)),
        presets,
        RetrievalSettings(),
        min_lift,
        SilentProgress(),
    )
