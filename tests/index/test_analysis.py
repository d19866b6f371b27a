"""How queries become terms."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.index.analysis import indexing_analyzer, normalised, query_terms, storable


def own_terms(query: str) -> list[str]:
    return [terms[0] for terms in query_terms(query).alternatives]


def all_terms(query: str) -> set[str]:
    return {term for terms in query_terms(query).alternatives for term in terms}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Az.: 3 O 12/24", ["az", "3", "o", "12", "24"]),
        ("EUR 12.345,67", ["eur", "12", "345", "67"]),
        ("§ 12 BGB", ["12", "bgb"]),
        ("terminates terminating termination", ["termin"]),
        ("What is the notice period of the lease?", ["notic", "period", "leas"]),
        ("To be", ["to", "be"]),
        ("The Who", ["the", "who"]),
        ("rent rent RENT", ["rent"]),
        ("Straße", ["strass"]),
    ],
)
def test_words_are_stemmed_once_and_stop_words_dropped_unless_there_is_nothing_else(query, expected):
    assert own_terms(query) == expected


@pytest.mark.parametrize("spelling", ["Müller", "Mu\u0308ller", "Mueller", "MÜLLER"])
@pytest.mark.parametrize("text", ["Müller", "Mueller", "Mu\u0308ller"])
def test_german_spellings_meet(spelling, text):
    assert all_terms(spelling) & set(indexing_analyzer().analyze(normalised(text)))


@pytest.mark.parametrize("word", ["value", "issues", "request", "frequent", "neue", "does", "lease", "due"])
def test_digraphs_that_spell_no_umlaut_stay(word):
    assert len(all_terms(word)) == 1


@given(st.text(max_size=80))
def test_the_wording_is_what_the_index_holds_of_the_same_text(text):
    assert list(query_terms(text).wording) == indexing_analyzer().analyze(normalised(text))


@given(st.text(alphabet="abc äöüßÄÖÜ-/.12", max_size=80))
def test_german_wording_is_what_the_index_holds_of_the_same_text(text):
    expected = indexing_analyzer().analyze(normalised(text))
    assert list(query_terms(text).wording) == expected
    assert list(query_terms(unicodedata.normalize("NFD", text)).wording) == expected


@given(st.text(alphabet=st.characters(codec=None)))
def test_anything_becomes_storable_and_what_is_stays(text):
    storable(text).encode("utf-8")
    assert storable(storable(text)) == storable(text)
