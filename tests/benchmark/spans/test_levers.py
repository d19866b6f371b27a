from dataclasses import replace

from span_sets import configuration, outcome, places, query, run_of

from knowledge_index.benchmark.spans.client_report import client_report
from knowledge_index.benchmark.spans.configurations import Configuration, Lever, differing_levers
from knowledge_index.benchmark.spans.failure_labels import FailureLabel
from knowledge_index.benchmark.spans.levers import fix_backlog, single_lever
from knowledge_index.benchmark.spans.ranking import ChunkPlace
from knowledge_index.benchmark.spans.report import report
from knowledge_index.benchmark.spans.running import ConfigurationOutcome, SpanRun

TEXTS = {name: f"The clause on {name} says this and that. " * 40 for name in "abcdef"}
CHUNKS = [place for name in TEXTS for place in places(*((at, at + 100) for at in range(0, 1000, 100)), doc_id=name)]
FOUND, LOW = 1, 8


def order(doc_id: str, rank: int) -> list[ChunkPlace]:
    """The chunks of a document, the one with the answer at that rank."""
    own = [place for place in CHUNKS if place.doc_id == doc_id]
    others = own[1:]
    return [*others[: rank - 1], own[0], *others[rank - 1 :]]


def made_up(named: Configuration, ranks: dict[str, int]) -> ConfigurationOutcome:
    rankings = [(query((10, 90), query_id=f"q-{name}", doc_id=name), order(name, rank)) for name, rank in ranks.items()]
    return outcome(named, CHUNKS, rankings, TEXTS)


def run(*outcomes: ConfigurationOutcome) -> SpanRun:
    return run_of(outcomes, TEXTS)


CLAUSE = made_up(configuration("clause"), dict.fromkeys(TEXTS, LOW))


def test_levers_are_found_by_comparing_every_setting() -> None:
    clause = configuration("clause")
    assert differing_levers(clause, replace(clause, name="other")) == ()
    assert differing_levers(clause, configuration("clause-unfiltered")) == (Lever.DOCUMENT_SCOPE,)
    assert differing_levers(clause, configuration("clause+hybrid+rerank")) == (Lever.RETRIEVER, Lever.RERANK)
    assert differing_levers(clause, configuration("clause+header")) == (Lever.CONTEXT_HEADER,)


def test_a_delta_belongs_to_the_lever_that_alone_differs() -> None:
    hybrid = made_up(configuration("clause+hybrid"), {**dict.fromkeys(TEXTS, FOUND), "a": LOW})
    (entry,) = fix_backlog(run(CLAUSE, hybrid))
    assert (entry.label, len(entry.failures)) == (FailureLabel.RANK_MISS, 6)
    (delta,) = entry.deltas
    assert (delta.lever, delta.configuration, delta.resolved) == (Lever.RETRIEVER, "clause+hybrid", 5)
    assert delta.difference.mean == 5 / 6


def test_a_delta_of_two_levers_belongs_to_neither() -> None:
    both = made_up(configuration("clause+hybrid+rerank"), dict.fromkeys(TEXTS, FOUND))
    found = run(CLAUSE, both)
    (entry,) = fix_backlog(found)
    assert single_lever(found, both) is None
    assert entry.deltas == ()
    assert set(entry.levers) == {Lever.RERANK, Lever.RETRIEVER, Lever.CONTEXT_HEADER}
    assert client_report(found).count("not measured") >= 3
    assert "not measured: retriever, rerank differ" in report(found)


def test_a_lever_that_does_nothing_against_a_failure_is_not_listed_for_it() -> None:
    unscoped = made_up(configuration("clause-unfiltered"), dict.fromkeys(TEXTS, FOUND))
    (entry,) = fix_backlog(run(CLAUSE, unscoped))
    assert Lever.DOCUMENT_SCOPE not in {delta.lever for delta in entry.deltas}


def test_failures_are_those_of_the_baseline_and_the_most_frequent_come_first() -> None:
    mixed = made_up(configuration("clause"), {"a": FOUND, "b": LOW, "c": LOW, "d": LOW, "e": LOW, "f": LOW})
    missed = [(each.query, [place.place for place in each.ranking]) for each in mixed.queries]
    # The question on b finds nothing of its document.
    missed[1] = (missed[1][0], order("a", LOW))
    base = outcome(configuration("clause"), CHUNKS, missed, TEXTS)
    backlog = fix_backlog(run(base))
    assert [(each.label, len(each.failures)) for each in backlog] == [
        (FailureLabel.RANK_MISS, 4),
        (FailureLabel.RETRIEVAL_MISS, 1),
    ]


def test_a_difference_that_may_be_none_is_called_not_resolvable() -> None:
    one_better = made_up(configuration("clause+hybrid"), {**dict.fromkeys(TEXTS, LOW), "a": FOUND})
    all_better = made_up(configuration("clause+header"), dict.fromkeys(TEXTS, FOUND))
    rows = [line for line in client_report(run(CLAUSE, one_better, all_better)).splitlines() if "| rank-miss" in line]
    by_configuration = {row.split(" | ")[3]: row for row in rows}
    assert "not resolvable" in by_configuration["clause+hybrid"]
    assert "not resolvable" not in by_configuration["clause+header"]
    assert "+1.000 (1.000 to 1.000)" in by_configuration["clause+header"]


def test_the_client_report_has_four_sections_and_two_questions_a_pattern() -> None:
    text = client_report(run(CLAUSE))
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [
        "## 1. Where retrieval stands",
        "## 2. Top failure patterns",
        "## 3. Fix backlog",
        "## 4. Scope",
    ]
    assert text.count("- **q-") == 2
    assert "missed: “" in text
