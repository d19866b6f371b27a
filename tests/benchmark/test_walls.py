import pytest
from evaluation_fakes import (
    GOOD_AND_POOR,
    GRANTS,
    LEASE_DRAFT,
    LEASE_LETTER,
    LEASES,
    SALES,
    SALES_TERMS,
    SOURCE,
    TWO_GROUP_GOLD,
    FakeSearch,
    frozen_gold,
    gold_query,
    hit,
    run_evaluation,
    services,
)

from knowledge_index.benchmark.evaluation import Evaluation
from knowledge_index.benchmark.presets import LADDER_PRESETS, PresetName
from knowledge_index.benchmark.report import WallProbe, WallStatus
from knowledge_index.benchmark.walls import WallAudit, inherited_grants, may_see, outsider_of, principals_to_probe
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal, PrincipalKind

OUTSIDER = Principal(PrincipalKind.USER, "benchmark-outsider")
FULL = PresetName.FULL


def statuses(evaluation: Evaluation) -> dict[WallProbe, WallStatus]:
    return {probe: evaluation.report.walls.status_of(probe) for probe in WallProbe}


@pytest.mark.parametrize(
    ("grants", "expected"),
    [
        ((), False),
        ((Grant(SALES, Access.ALLOW),), False),
        ((Grant(LEASES, Access.ALLOW),), True),
        ((Grant(LEASES, Access.DENY),), False),
        ((Grant(LEASES, Access.ALLOW), Grant(LEASES, Access.DENY)), False),
        ((Grant(LEASES, Access.ALLOW), Grant(SALES, Access.DENY)), True),
    ],
)
def test_only_an_allow_without_a_deny_shows(grants: tuple[Grant, ...], expected: bool) -> None:
    assert may_see(LEASES, grants) is expected


def test_the_outsider_is_named_by_nothing() -> None:
    assert outsider_of(TWO_GROUP_GOLD.queries, GRANTS) == OUTSIDER
    taken = GRANTS | {(SOURCE, "x"): (Grant(OUTSIDER, Access.DENY),)}
    assert outsider_of(TWO_GROUP_GOLD.queries, taken) == Principal(PrincipalKind.USER, "benchmark-outsider-2")


def test_principals_of_the_gold_and_of_the_grants_are_probed() -> None:
    other = Principal.parse("user:zoe")
    grants = {(SOURCE, "x"): (Grant(other, Access.DENY),)}
    assert principals_to_probe([gold_query("q", ("a",))], grants) == (LEASES, other)


def test_every_query_is_asked_by_everyone_under_every_preset() -> None:
    measured, probing = FakeSearch(GOOD_AND_POOR), FakeSearch(GOOD_AND_POOR)
    evaluation = run_evaluation(using=services(measured, probing))
    rows = {(row.probe, row.preset): row for row in evaluation.report.walls.rows}
    assert len(rows) == 12
    # Three queries and two groups: each query has one other group.
    for preset in LADDER_PRESETS:
        assert rows[WallProbe.OUTSIDER, preset].n_searches == 3
        assert rows[WallProbe.OTHER_PRINCIPALS, preset].n_searches == 3
        assert rows[WallProbe.OWN_PRINCIPAL, preset].n_searches == 3
        assert rows[WallProbe.OUTSIDER, preset].n_hits == 0
        assert rows[WallProbe.OTHER_PRINCIPALS, preset].n_hits > 0
    assert len(probing.calls) == 3 * 4 * 2
    assert set(statuses(evaluation).values()) == {WallStatus.HELD}
    assert evaluation.report.walls.outsider == "user:benchmark-outsider"


@pytest.mark.parametrize(
    ("caller", "probe", "n_leaks"),
    [
        # The outsider gets 4 (three times) and 7 hits for each of 3 queries, and none of them is his.
        (OUTSIDER, WallProbe.OUTSIDER, 3 * (4 + 4 + 4 + 7)),
        # Leases sees two foreign papers in a collapsed list, three foreign passages in the flat one.
        (LEASES, WallProbe.OTHER_PRINCIPALS, 1 * (2 + 2 + 2 + 3)),
    ],
)
def test_a_service_that_leaks_is_caught(caller: Principal, probe: WallProbe, n_leaks: int) -> None:
    leaking = FakeSearch(GOOD_AND_POOR, leak_to=lambda principal: principal == caller)
    evaluation = run_evaluation(using=services(FakeSearch(GOOD_AND_POOR), leaking))
    walls = evaluation.report.walls
    assert walls.status_of(probe) is WallStatus.LEAKED
    assert walls.n_leaks == n_leaks
    assert len(walls.leaks) == min(n_leaks, 20)
    assert {leak.principal for leak in walls.leaks} == {str(caller)}
    assert all(leak.path for leak in walls.leaks)
    assert not evaluation.report.gate.passed
    assert any(reason.startswith(f"walls leak: {n_leaks} forbidden hits") for reason in evaluation.report.gate.reasons)


def test_a_leak_in_the_measured_searches_themselves_is_caught() -> None:
    leaking = FakeSearch(GOOD_AND_POOR, leak_to=lambda principal: principal == SALES)
    evaluation = run_evaluation(using=services(leaking, FakeSearch(GOOD_AND_POOR)), presets=[FULL])
    assert evaluation.report.walls.status_of(WallProbe.OWN_PRINCIPAL) is WallStatus.LEAKED
    assert {(leak.gold_id, leak.path) for leak in evaluation.report.walls.leaks} == {
        ("fact-2", LEASE_DRAFT),
        ("fact-2", LEASE_LETTER),
    }


def test_a_leak_under_one_baseline_alone_fails_the_gate() -> None:
    # The collapsed list is clean; only the flat one, naive_dense, shows leases a paper of sales.
    class LeakyWhenFlat(FakeSearch):
        def search(self, query, scope, settings, filters, limit):  # type: ignore[no-untyped-def]
            self.leak_to = lambda principal: principal == LEASES and not settings.collapse_per_document
            return super().search(query, scope, settings, filters, limit)

    evaluation = run_evaluation(using=services(FakeSearch(GOOD_AND_POOR), LeakyWhenFlat(GOOD_AND_POOR)))
    assert {leak.preset for leak in evaluation.report.walls.leaks} == {PresetName.NAIVE_DENSE}
    assert evaluation.report.gate.reasons == ("walls leak: 3 forbidden hits for other principals under naive_dense",)


def test_a_hit_that_no_grant_knows_of_is_a_leak() -> None:
    audit = WallAudit(GRANTS, OUTSIDER, [FULL])
    audit.record(WallProbe.OWN_PRINCIPAL, FULL, LEASES, "q", [hit("Mandate/unknown.docx")])
    audit.record(WallProbe.OWN_PRINCIPAL, FULL, LEASES, "q", [hit(LEASE_DRAFT, source="another source")])
    assert audit.report().n_leaks == 2


def test_with_one_group_the_walls_between_groups_are_not_probed() -> None:
    gold = frozen_gold(gold_query("q-1", (LEASE_DRAFT,)), gold_query("q-2", (LEASE_LETTER,), scenario_id="s-2"))
    grants = {key: each for key, each in GRANTS.items() if each[0].principal == LEASES}
    evaluation = run_evaluation(gold, services(FakeSearch(GOOD_AND_POOR), grants=grants), [FULL])
    assert statuses(evaluation) == {
        WallProbe.OUTSIDER: WallStatus.HELD,
        WallProbe.OTHER_PRINCIPALS: WallStatus.NOT_PROBED,
        WallProbe.OWN_PRINCIPAL: WallStatus.HELD,
    }
    assert evaluation.report.gate.notes == (
        "walls between principals were not probed: the gold and the grants name only one",
    )


def test_probes_that_bring_nothing_back_prove_nothing() -> None:
    silent = FakeSearch({True: (), False: ()})
    evaluation = run_evaluation(using=services(FakeSearch(GOOD_AND_POOR), silent))
    assert statuses(evaluation)[WallProbe.OTHER_PRINCIPALS] is WallStatus.NOTHING_CAME_BACK
    assert statuses(evaluation)[WallProbe.OUTSIDER] is WallStatus.HELD
    assert evaluation.report.gate.reasons == (
        "walls prove nothing for other principals: no search of theirs brought anything back",
    )


def test_a_baseline_whose_probes_bring_nothing_back_is_noted() -> None:
    half_silent = FakeSearch({True: (), False: (SALES_TERMS, LEASE_LETTER)})
    evaluation = run_evaluation(using=services(FakeSearch(GOOD_AND_POOR), half_silent))
    assert evaluation.report.gate.passed
    assert evaluation.report.gate.notes == (
        "walls prove nothing for other principals under bm25, rrf, full: nothing came back",
    )


def test_a_probe_that_never_ran_is_reported_as_such() -> None:
    report = WallAudit(GRANTS, OUTSIDER, [FULL]).report()
    assert {row.status for row in report.rows} == {WallStatus.NOT_PROBED}
    assert {report.status_of(probe) for probe in WallProbe} == {WallStatus.NOT_PROBED}


def test_grants_of_outer_groups_are_a_principals_own() -> None:
    anna, team, firm = (Principal.parse(each) for each in ("user:anna", "group:team", "group:firm"))
    grants = {("dms", "a"): (Grant(firm, Access.ALLOW),), ("dms", "b"): (Grant(firm, Access.DENY),)}
    ring = {anna: frozenset({team}), team: frozenset({firm}), firm: frozenset({team})}
    own = inherited_grants(grants, ring, [anna])
    assert may_see(anna, own["dms", "a"])
    assert Grant(anna, Access.DENY) in own["dms", "b"]
    assert not may_see(anna, inherited_grants(grants, {}, [anna])["dms", "a"])
