"""What is recognised in a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.retrieval.query_analysis import analyse_query


@pytest.mark.parametrize(
    ("query", "terms", "is_identifier"),
    [
        ("12 O 345/25", {"file_reference:12-o-345-25"}, True),
        ("Az. 12 O 345/25", {"file_reference:12-o-345-25"}, True),
        ("HRB 40711", {"register_number:hrb-40711"}, True),
        ("EUR 48,250.00", {"amount:EUR 48250"}, True),
        ("30. September 2026", {"date:2026-09-30"}, True),
        ("what is owed under 12 O 345/25 when the buyer does not pay", {"file_reference:12-o-345-25"}, False),
        ("who pays the operating costs", set(), False),
        ("", set(), False),
    ],
)
def test_values_are_recognised_and_whether_they_are_the_query(query: str, terms: set[str], is_identifier: bool) -> None:
    analysis = analyse_query(query)
    assert analysis.identifier_terms == terms
    assert analysis.is_identifier is is_identifier


@pytest.mark.parametrize(
    ("query", "quotations"),
    [
        ('where does it say "gross negligence" of the seller', ("gross negligence",)),
        ("wo steht „besenrein zurück“ im Mietvertrag", ("besenrein zurück",)),
        ("which paper says “text form only” and »binds the other party«", ("text form only", "binds the other party")),
        # All of it in quotation marks is the query itself, and an apostrophe opens nothing.
        ('"gross negligence"', ()),
        ("the buyer's and the seller's duty", ()),
        ('a pipe of 36" and no more', ()),
        ('" " and nothing', ()),
    ],
)
def test_quotations_are_what_stands_in_quotation_marks(query: str, quotations: tuple[str, ...]) -> None:
    assert analyse_query(query).quotations == quotations


@given(query=st.text(max_size=200))
def test_any_text_is_taken(query: str) -> None:
    analysis = analyse_query(query)
    assert all(query[each.start_char : each.end_char] == each.raw for each in analysis.identifiers)
    assert all(each in query and each.strip() for each in analysis.quotations)
    assert not analysis.is_identifier or analysis.identifiers
