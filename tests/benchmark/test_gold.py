from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.benchmark.criterion_values import fold
from knowledge_index.benchmark.gold import derive_gold
from knowledge_index.benchmark.gold_types import GoldKind, GoldQuery
from knowledge_index.benchmark.packing import PackedScenario
from knowledge_index.benchmark.task_set import Criterion, Scenario
from knowledge_index.domain.principals import Principal


def packed(
    scenario_id: str, *paths: str, criteria: tuple[str, ...] = ("PASS if done.",), group: str = "leases"
) -> PackedScenario:
    scenario = Scenario(
        scenario_id=scenario_id,
        area=group,
        instrument="lease",
        task_type="first-draft",
        name="scenario-01",
        title="t",
        instructions=f"Draft {scenario_id}.",
        criteria=tuple(
            Criterion(id=f"C-{number}", title="t", match_criteria=text) for number, text in enumerate(criteria)
        ),
        criteria_as_read=(),
        documents=(),
        skipped_files=0,
    )
    return PackedScenario(scenario, "M-2026-0001", "Lease", Principal.parse(f"group:{group}"), paths)


def gold_of(kind: GoldKind, scenarios: list[PackedScenario], texts: Mapping[str, str]) -> list[GoldQuery]:
    derived = derive_gold(scenarios, {path: fold(text) for path, text in texts.items()})
    return [query for query in derived.queries if query.kind is kind]


def test_a_working_set_is_the_whole_bundle_with_versions_in_one_group() -> None:
    scenario = packed("s1", "a/lease_final.docx", "a/lease_draft_v1.docx", "a/Lease.docx", "a/b/lease.docx", "a/x.eml")
    (query,) = gold_of(GoldKind.INSTRUCTION_WORKING_SET, [scenario], {})
    assert query.query == "Draft s1."
    assert [(group.paths, group.grade) for group in query.groups] == [
        (("a/b/lease.docx",), 1),
        (("a/Lease.docx", "a/lease_draft_v1.docx", "a/lease_final.docx"), 1),
        (("a/x.eml",), 1),
    ]


def test_a_factoid_lists_only_the_versions_that_hold_the_value() -> None:
    scenario = packed("s1", "a/lease_draft.docx", "a/lease_final.docx", "a/x.eml", criteria=("The rent is EUR 1.500.",))
    texts = {"a/lease_draft.docx": "EUR 1.400", "a/lease_final.docx": "rent eur\n1.500 a month", "a/x.eml": "EUR 15000"}
    (query,) = gold_of(GoldKind.FACTOID, [scenario], texts)
    assert (query.query, query.scenario_id, query.matter_ref) == ("EUR 1.500", "s1", "M-2026-0001")
    assert [group.paths for group in query.groups] == [("a/lease_final.docx",)]


@pytest.mark.parametrize(("held_by", "expected"), [(0, 0), (1, 1), (2, 1), (3, 0)])
def test_a_value_of_none_or_all_of_the_bundle_is_not_asked(held_by: int, expected: int) -> None:
    paths = ("a/1.txt", "a/2.txt", "a/3.txt")
    texts = {path: "REF-77/A" if number < held_by else "-" for number, path in enumerate(paths)}
    scenario = packed("s1", *paths, criteria=("Cites REF-77/A.",))
    assert len(gold_of(GoldKind.FACTOID, [scenario], texts)) == expected


@pytest.mark.parametrize(("held_elsewhere", "expected"), [(8, 1), (9, 1), (10, 0)])
def test_at_most_ten_documents_of_the_principal_may_hold_a_value(held_elsewhere: int, expected: int) -> None:
    first = packed("s1", "a/1.txt", "a/2.txt", criteria=("Cites REF-77/A.",))
    others = packed("s2", *(f"b/{number}.txt" for number in range(12)))
    hidden = packed("s3", *(f"c/{number}.txt" for number in range(12)), group="others")
    texts = {"a/1.txt": "REF-77/A"} | {f"b/{number}.txt": "ref-77/a" for number in range(held_elsewhere)}
    texts |= dict.fromkeys(hidden.paths, "REF-77/A")
    queries = gold_of(GoldKind.FACTOID, [first, others, hidden], texts)
    assert len(queries) == expected
    for query in queries:
        assert {path for group in query.groups for path in group.paths} == {
            "a/1.txt",
            *(f"b/{number}.txt" for number in range(held_elsewhere)),
        }


def test_equal_values_of_one_principal_are_one_query_and_of_two_principals_are_two() -> None:
    scenarios = [
        packed("s2", "b/1.txt", "b/2.txt", criteria=('Names "NORDKAI  AG".',)),
        packed("s1", "a/1.txt", "a/2.txt", criteria=('Names "Nordkai AG" and "Nordkai Ag".',)),
        packed("s3", "c/1.txt", "c/2.txt", criteria=('Names "Nordkai AG".',), group="others"),
    ]
    texts = {"a/1.txt": "Nordkai AG", "b/2.txt": "Nordkai AG", "c/1.txt": "Nordkai AG"}
    queries = gold_of(GoldKind.FACTOID, scenarios, texts)
    assert [(query.scenario_id, query.query, str(query.principal)) for query in queries] == [
        ("s1", "Nordkai AG", "group:leases"),
        ("s3", "Nordkai AG", "group:others"),
    ]
    assert [group.paths for group in queries[0].groups] == [("a/1.txt",), ("b/2.txt",)]
    assert len({query.gold_id for query in queries}) == 2


def test_a_merged_query_belongs_to_the_first_scenario_that_it_is_discriminative_for() -> None:
    scenarios = [
        packed("s1", "a/1.txt", criteria=('Names "Nordkai AG".',)),
        packed("s2", "b/1.txt", "b/2.txt", criteria=('Names "Nordkai AG".',)),
    ]
    (query,) = gold_of(GoldKind.FACTOID, scenarios, {"a/1.txt": "Nordkai AG", "b/2.txt": "Nordkai AG"})
    assert query.scenario_id == "s2"


def test_a_document_without_text_holds_nothing() -> None:
    scenario = packed("s1", "a/1.txt", "a/2.txt", criteria=("Cites REF-77/A.",))
    assert len(gold_of(GoldKind.FACTOID, [scenario], {"a/1.txt": "REF-77/A"})) == 1
    assert gold_of(GoldKind.FACTOID, [scenario], {}) == []


@given(st.permutations(["s1", "s2", "s3"]))
def test_the_order_of_packing_changes_no_id_and_no_order(order: list[str]) -> None:
    criteria = ('Names "Nordkai AG", REF-77/A, 2026-03-14.',)
    scenarios = {name: packed(name, f"{name}/1.txt", f"{name}/2.txt", criteria=criteria) for name in order}
    texts = {f"{name}/1.txt": "nordkai ag ref-77/a 2026-03-14" for name in order}
    shuffled = derive_gold([scenarios[name] for name in order], texts).queries
    assert shuffled == derive_gold([scenarios[name] for name in sorted(order)], texts).queries
    assert [(query.scenario_id, query.kind, query.query) for query in shuffled] == [
        ("s1", "factoid", "2026-03-14"),
        ("s1", "factoid", "Nordkai AG"),
        ("s1", "factoid", "REF-77/A"),
        *((name, "instruction_working_set", f"Draft {name}.") for name in ("s1", "s2", "s3")),
    ]
