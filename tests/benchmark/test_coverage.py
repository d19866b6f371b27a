import unicodedata

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
    FakeCoverage,
    FakeSearch,
    gold_query,
    run_evaluation,
    services,
)

from knowledge_index.benchmark.coverage import require_coverage
from knowledge_index.domain.errors import PreconditionError
from knowledge_index.domain.grants import Access, Grant


def test_distinct_paths_are_counted() -> None:
    report = require_coverage(TWO_GROUP_GOLD.queries, FakeCoverage(), GRANTS, corpus_is_the_golds=True)
    # Two versions of the lease, the letter (in two queries), the terms.
    assert (report.n_gold_paths, report.n_searchable_paths) == (4, 4)


def test_nothing_is_searched_while_a_gold_path_is_missing() -> None:
    search = FakeSearch(GOOD_AND_POOR)
    coverage = FakeCoverage({LEASE_DRAFT: "quarantined: damaged", SALES_TERMS: "not in the catalog"})
    with pytest.raises(PreconditionError) as raised:
        run_evaluation(using=services(search, coverage=coverage))
    assert raised.value.exit_code == 3
    message = str(raised.value)
    assert message.startswith("2 of the gold's 4 paths cannot be found")
    assert f"  {LEASE_DRAFT}: quarantined: damaged\n" in message
    assert f"  {SALES_TERMS}: not in the catalog\n" in message
    assert not search.calls


def test_twenty_paths_are_listed_and_the_rest_counted() -> None:
    paths = [f"p{number:02}" for number in range(25)]
    query = gold_query("q", *((path,) for path in paths))
    with pytest.raises(PreconditionError) as raised:
        require_coverage([query], FakeCoverage(dict.fromkeys(paths, "pending")), {}, corpus_is_the_golds=True)
    lines = str(raised.value).splitlines()
    assert lines[1:21] == [f"  {path}: pending" for path in paths[:20]]
    assert lines[21] == "  and 5 more"


def test_a_path_that_its_query_may_not_see_is_missing() -> None:
    walled = GRANTS | {(SOURCE, LEASE_LETTER): (Grant(LEASES, Access.ALLOW), Grant(LEASES, Access.DENY))}
    with pytest.raises(
        PreconditionError, match=r"1 of the gold's 4(.|\n)*letter\.docx: no grant shows it to group:leases"
    ):
        require_coverage(TWO_GROUP_GOLD.queries, FakeCoverage(), walled, corpus_is_the_golds=True)


def test_one_source_that_shows_the_path_is_enough() -> None:
    grants = {("old", "a"): (), ("new", "a"): (Grant(SALES, Access.ALLOW),)}
    assert (
        require_coverage(
            [gold_query("q", ("a",), principal=SALES)], FakeCoverage(), grants, corpus_is_the_golds=True
        ).n_gold_paths
        == 1
    )


def test_umlauts_spelt_either_way_name_one_path() -> None:
    composed, decomposed = "Verträge.docx", unicodedata.normalize("NFD", "Verträge.docx")
    grants = {(SOURCE, decomposed): (Grant(LEASES, Access.ALLOW),)}
    query = gold_query("q", (decomposed,), (composed,))
    assert require_coverage([query], FakeCoverage(), grants, corpus_is_the_golds=True).n_gold_paths == 1
