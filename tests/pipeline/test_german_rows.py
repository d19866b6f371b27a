"""Which rows depend on the analysis of German words."""

import pytest

from knowledge_index.config import RetrievalSettings
from knowledge_index.index import open_lexical_index, open_profile_index
from knowledge_index.pipeline import passages
from small_firm import SmallFirm

GERMAN = "M-1/contract/Mietvertrag.txt"
ENGLISH = "M-1/contract/Lease.txt"
READER = "group:all"
WORDS_ALONE = RetrievalSettings.model_validate({"weight_semantic": 0.0})


@pytest.fixture
def firm(tmp_path):
    firm = SmallFirm.in_folder(tmp_path / "firm")
    firm.write(GERMAN, "Der Gewerbemietvertrag endet mit dem Ablauf des Jahres und ist nicht zu verlängern.", READER)
    firm.write(ENGLISH, "The lease of the hall ends with the year and is not to be renewed by the tenant.", READER)
    firm.sync_and_run()
    return firm


def row_keys(firm, path):
    with firm.catalog() as catalog, catalog.transaction() as session:
        rows = session.passages.rows_with_text("passage")
        marker = "Gewerbemietvertrag" if path == GERMAN else "lease"
        return {row.row_key for row, text in rows if marker in text}


def test_a_changed_word_list_makes_the_rows_of_german_documents_anew_and_no_others(firm, monkeypatch):
    before = {path: row_keys(firm, path) for path in (GERMAN, ENGLISH)}
    assert all(before.values())
    asked = len(firm.embedder.asked)
    for name in ("GERMAN_SIGNATURE", "ROWS_VERSION"):
        monkeypatch.setattr(passages, name, f"{getattr(passages, name)} changed")
    report = firm.run()
    assert (report.indexed, report.rows_written, report.rows_removed) == (2, 1, 1)
    assert len(firm.embedder.asked) == asked
    assert row_keys(firm, ENGLISH) == before[ENGLISH]
    assert not row_keys(firm, GERMAN) & before[GERMAN]
    assert [hit.path for hit in firm.search("Miete", READER, settings=WORDS_ALONE)] == [GERMAN]


def test_the_indexes_can_be_made_anew_from_the_catalog_with_their_german_terms(firm):
    with firm.catalog() as catalog:
        with catalog.transaction() as session:
            passage_rows = [passages.lexical_row(*each) for each in session.passages.rows_with_text("passage")]
            profile_rows = [passages.profile_row(*each) for each in session.passages.rows_with_text("profile")]
        assert not open_lexical_index(firm.home.lexical_folder).compare(passage_rows)
        assert not open_profile_index(firm.home.profile_folder).compare(profile_rows)
    assert [hit.path for hit in firm.search("Vertrag", READER, settings=WORDS_ALONE)] == [GERMAN]
