"""Wordings move the query's vector towards such clauses, and are embedded once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_embedder import FakeEmbedder
from knowledge_index.retrieval.clauses import (
    expansion_terms,
    load_clause_library,
    mixed_vector,
    recognise,
    wording_embedder,
)

LIBRARY = load_clause_library()
QUERY_VECTOR = np.eye(8, dtype=np.float32)[3]


def unit(vector):
    return vector / np.linalg.norm(vector)


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 1), st.sampled_from(["governing law", "choice of law and jurisdiction"]))
def test_the_mix_is_the_two_directions_in_their_shares(own_share, query):
    recognised = recognise(LIBRARY, query)
    vector = mixed_vector(QUERY_VECTOR, recognised, FakeEmbedder(), own_share)
    means = [unit(FakeEmbedder().embed(each.type.english.wordings).mean(axis=0)) for each in recognised]
    expected = unit(own_share * QUERY_VECTOR + (1 - own_share) * unit(np.mean(means, axis=0)))
    assert vector.dtype == np.float32
    assert vector == pytest.approx(expected, abs=1e-6)


def test_a_german_request_reaches_clauses_of_both_languages():
    recognised = recognise(LIBRARY, "anwendbares Recht")
    clause = recognised[0].type
    german, english = (
        unit(FakeEmbedder().embed(each.wordings).mean(axis=0)) for each in (clause.german, clause.english)
    )
    vector = mixed_vector(QUERY_VECTOR, recognised, FakeEmbedder(), own_share=0)
    assert vector == pytest.approx(unit(german + english), abs=1e-6)


def test_without_a_type_nothing_changes_and_nothing_is_embedded():
    embedder = FakeEmbedder()
    assert mixed_vector(QUERY_VECTOR, (), embedder, 0.3) is QUERY_VECTOR
    assert embedder.asked == []


def test_only_recognised_types_are_embedded_and_only_once(tmp_path):
    beneath = FakeEmbedder()
    recognised = recognise(LIBRARY, "governing law")
    cache_file = tmp_path / "vectors.sqlite"
    first = mixed_vector(QUERY_VECTOR, recognised, wording_embedder(beneath, cache_file), 0.3)
    assert sorted(beneath.asked) == sorted(recognised[0].type.english.wordings)
    again = FakeEmbedder()
    second = mixed_vector(QUERY_VECTOR, recognised, wording_embedder(again, cache_file), 0.3)
    assert again.asked == []
    assert first.tobytes() == second.tobytes()


def test_a_home_that_cannot_be_written_to_is_left_alone(tmp_path, monkeypatch):
    # The superuser, as whom tests may run, can write anywhere.
    monkeypatch.setattr("os.access", lambda *_: False)
    beneath = FakeEmbedder()
    embedder = wording_embedder(beneath, tmp_path / "cache" / "vectors.sqlite")
    recognised = recognise(LIBRARY, "governing law")
    for _ in range(2):
        mixed_vector(QUERY_VECTOR, recognised, embedder, 0.3)
    assert sorted(beneath.asked) == sorted(recognised[0].type.english.wordings)
    assert list(tmp_path.iterdir()) == []


def test_expansion_adds_the_other_names_but_no_word_twice():
    query = "Which law governs?"
    terms = expansion_terms(query, recognise(LIBRARY, query))
    assert ("choic",) in terms
    assert not {"law", "govern"} & {term for alternatives in terms for term in alternatives}
    assert len(set(terms)) == len(terms)
    # English asked for, so no German names.
    assert not any(term.startswith("rechtswahl") for alternatives in terms for term in alternatives)


def test_expansion_of_a_german_request_has_both_languages():
    query = "Gerichtsstand"
    terms = {alternatives[0] for alternatives in expansion_terms(query, recognise(LIBRARY, query))}
    assert {"jurisdict", "gerichtsstandsvereinbarung"} <= terms


def test_no_type_no_expansion():
    assert expansion_terms("Nordwind", ()) == ()
