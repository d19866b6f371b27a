"""Which paper a question names, and what is asked once the name is taken off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.index.base import ProfileMatches, ScoredRow
from knowledge_index.retrieval.mentions import Mention, Named, find_mention, near_best

NDA = Named(
    "CopAcc NDA | M-2026-0004 | CopAcc_NDA-ToPMentors",
    "Non-Disclosure Agreement between CopAcc GmbH, Halle, and ToP Mentors B.V. about pumps",
)
# Of 100 papers that the caller sees. Whole words as the index has them, stems included.
SHARES = {
    "copacc": 0.01,
    "mentor": 0.02,
    "hall": 0.05,
    "pump": 0.05,
    "non": 0.4,
    "disclosur": 0.4,
    "agreement": 0.9,
    "consid": 0.5,
    "nda": 0.3,
    "secreci": 0.1,
    "duti": 0.7,
    "outliv": 0.3,
    "end": 0.8,
    "confidenti": 0.9,
    "top": 0.2,
}


def matches(**changed: float) -> ProfileMatches:
    return ProfileMatches((ScoredRow("nda", 2.0),), SHARES | changed, 100)


@pytest.mark.parametrize(
    ("query", "words", "rest"),
    [
        (
            "Consider the Non-Disclosure Agreement between CopAcc and ToP Mentors; does the duty outlive its end?",
            ("CopAcc", "Mentors"),
            "Consider ; does the duty outlive its end?",
        ),
        # Stop words beside a name go with it.
        ("CopAcc NDA: does the duty outlive its end", ("CopAcc",), "duty outlive its end"),
        ("does the duty outlive its end (CopAcc)", ("CopAcc",), "does the duty outlive its end"),
        ("copacc confidential", ("copacc",), "confidential"),
    ],
)
def test_the_name_is_taken_off_and_the_question_stays(query: str, words: tuple[str, ...], rest: str) -> None:
    found = find_mention(query, NDA, matches())
    assert found == Mention(words, rest)


@pytest.mark.parametrize(
    "query",
    [
        "does the duty outlive its end",
        # What every contract says names none, though this one says it too.
        "the Non-Disclosure Agreement",
        # Stop words are not looked up, so nothing is known of how many papers hold them.
        "which of the papers is about it",
        "",
        "?!",
    ],
)
def test_words_that_name_no_paper_more_than_another_are_no_mention(query: str) -> None:
    assert find_mention(query, NDA, matches()) is None


def test_a_name_alone_is_asked_as_it_is() -> None:
    assert find_mention("CopAcc", NDA, matches()) == Mention(("CopAcc",), "CopAcc")
    assert find_mention("the CopAcc agreement", NDA, matches()) == Mention(("CopAcc",), "the CopAcc agreement")


def test_a_word_in_lower_case_beside_capitals_has_to_be_all_but_unique() -> None:
    """In a query that keeps to capitals, 'pumps' is a thing and 'Halle' a place."""
    assert find_mention("duty about pumps under the Act", NDA, matches()) is None
    assert find_mention("duty about pumps under the Act", NDA, matches(pump=0.02)) is not None
    assert find_mention("the duty in Halle under the Act", NDA, matches()) is not None
    assert find_mention("duty about pumps", NDA, matches()) is not None


def test_a_word_of_other_papers_is_no_name() -> None:
    assert find_mention("does CopAcc keep silent", NDA, matches(copacc=0.5)) is None
    # 2 of 4 papers are half of them and still hardly any.
    few = ProfileMatches((ScoredRow("nda", 2.0),), SHARES | {"copacc": 0.5}, 4)
    assert find_mention("does CopAcc keep silent", NDA, few) is not None


@given(query=st.text(max_size=120) | st.lists(st.sampled_from(["CopAcc", "the", ";", "duty", "Mentors"])).map(" ".join))
def test_what_is_left_was_typed(query: str) -> None:
    found = find_mention(query, NDA, matches())
    if found is not None:
        assert found.words
        assert all(word in query for word in found.words)
        assert set(found.rest.split()) <= set(query.split()) | set(query.replace("CopAcc", "").split())
        assert found.rest


def test_papers_that_fit_as_well_as_the_best_are_all_meant() -> None:
    rows = (ScoredRow("a", 2.0), ScoredRow("b", 1.99), ScoredRow("c", 1.9))
    assert near_best(ProfileMatches(rows, {}, 3)) == {"a", "b"}
    assert near_best(ProfileMatches((), {}, 3)) == frozenset()
