"""German words: one key for their forms and spellings, the parts of their compounds, and the list of parts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.languages import Language
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import open_lexical_index, open_profile_index
from knowledge_index.index.analysis import german_terms, query_terms
from knowledge_index.index.base import Expansion, GermanWeights, LexicalRow, ProfileRow
from knowledge_index.index.german import key_of, parts_of
from knowledge_index.index.german.word_list import listed_words

SCOPE = Scope(frozenset(), frozenset({"class-a"}), 0)
NO_FILTER = SearchFilters()
ON = Expansion((), 0.0, GermanWeights(form=0.8, part=0.4))
OFF = Expansion((), 0.0)


def parts_as_words(word):
    """Which of some everyday words are among a compound's parts."""
    known = (
        "Vertrag Anstellung Geschäftsführer Miete Kündigung Frist Erbschaft Steuer Einkommen Gesetz Zahlung Strafe"
        " Darlehen Kaution Schaden Ersatz Kosten Vorauszahlung Reparatur Teilung Rat Eis Ei Ort"
    )
    return {each for each in known.split() if key_of(each) in parts_of(word)}


@pytest.mark.parametrize(
    ("compound", "expected"),
    [
        ("Geschäftsführeranstellungsvertrag", {"Geschäftsführer", "Anstellung", "Vertrag"}),
        ("Geschaeftsfuehreranstellungsvertrages", {"Geschäftsführer", "Anstellung", "Vertrag"}),
        (
            unicodedata.normalize("NFD", "Geschäftsführeranstellungsverträgen"),
            {"Geschäftsführer", "Anstellung", "Vertrag"},
        ),
        ("Untermietvertrag", {"Miete", "Vertrag"}),
        ("Kündigungsfristen", {"Kündigung", "Frist"}),
        # A reading from the left that never goes back takes "erbschafts" and is left with "teuer".
        ("Erbschaftsteuer", {"Erbschaft", "Steuer"}),
        ("Einkommensteuergesetz", {"Einkommen", "Steuer", "Gesetz"}),
        ("Darlehensrückzahlung", {"Darlehen", "Zahlung"}),
        ("Schadensersatz", {"Schaden", "Ersatz"}),
        ("Mietkautionen", {"Miete", "Kaution"}),
        ("Nebenkostenvorauszahlung", {"Kosten", "Vorauszahlung"}),
        ("Schönheitsreparaturen", {"Reparatur"}),
        # The list does not know all of it, but how it ends.
        ("Zzyxhofpachtvertrag", {"Vertrag"}),
    ],
)
def test_a_compound_has_its_parts_with_any_linking_letters(compound, expected):
    assert parts_as_words(compound) == expected


NO_COMPOUNDS = (
    "Vertrag Verträge Beirat Vorrat Termin Garantie Urteil Beurteilung Betrag Bestand Verein Vorteil Urkunde landmark"
    " handbook agreement warranty information contractor deliberate Arbeitgeber zz 123456789 ab-bau"
)


@pytest.mark.parametrize("word", NO_COMPOUNDS.split())
def test_a_word_that_is_no_compound_has_no_parts(word):
    assert parts_of(word) == ()


@pytest.mark.parametrize(
    "forms",
    [
        ("Vertrag", "Vertrags", "Vertrages", "Verträge", "Verträgen", "Vertraege", "VERTRÄGE"),
        ("Straße", "Strasse", "Straßen", "STRASSE"),
        ("Kündigung", "Kuendigung", "Ku\u0308ndigung", "Kündigungen", "Kundigung"),
    ],
)
def test_forms_and_spellings_of_a_word_share_a_key(forms):
    assert len({key_of(each) for each in forms}) == 1


def test_different_words_keep_different_keys():
    words = "Neue Steuer Quelle Feuer Bauer Mauer Treue Kauf Kunde Haus Hof Recht Frist Erbe Pacht"
    assert len({key_of(each) for each in words.split()}) == len(words.split())


def test_the_list_is_large_plain_and_without_repetition():
    words = listed_words()
    assert len(words) >= 1500
    assert len(set(words)) == len(words)
    assert [each for each in words if len(each) < 3 or not each.isalpha() or each != each.lower()] == []
    assert unicodedata.is_normalized("NFC", " ".join(words))


@given(st.lists(st.sampled_from(listed_words()), min_size=1, max_size=4), st.sampled_from(["", "s", "n", "es"]))
def test_no_part_is_of_one_or_two_letters(words, link):
    assert all(len(part) >= 3 for part in parts_of(link.join(words)))


@given(st.text(max_size=60))
def test_any_text_has_terms(text):
    found = german_terms(text)
    assert all(len(each) >= 3 for each in found.parts)


def rows_of(*texts, language=Language.GERMAN):
    return [LexicalRow(f"{number}", "class-a", "M-1", text, (), language) for number, text in enumerate(texts)]


def search(folder, rows, query, expansion=ON):
    index = open_lexical_index(folder)
    index.add(rows)
    return {each.row_key: each for each in index.search_text(query, SCOPE, NO_FILTER, 10, expansion)}


def test_a_word_finds_its_compounds_and_a_compound_its_parts_below_the_word_itself(tmp_path):
    texts = (
        "Der Vertrag endet im Mai.",
        "Mit den Verträgen im Mai.",
        "Der Geschäftsführeranstellungsvertrag endet im Mai.",
        "Der Betrag fällt im Mai an.",
    )
    found = search(tmp_path, rows_of(*texts), "Vertrag")
    assert set(found) == {"0", "1", "2"}
    assert found["0"].score > found["1"].score > found["2"].score
    assert [each.holds_wording for each in found.values()] == [True, False, False]
    asked_for_compound = search(tmp_path, [], "Geschäftsführeranstellungsvertrag")
    assert max(asked_for_compound.values(), key=lambda each: each.score).row_key == "2"
    assert set(asked_for_compound) == {"0", "1", "2"}
    assert set(search(tmp_path, [], "Vertrag", OFF)) == {"0"}


def test_compounds_meet_over_a_part_that_both_have(tmp_path):
    rows = rows_of("Die Mietkaution ist bei Einzug fällig.", "Das Darlehen ist bei Abruf fällig.")
    assert set(search(tmp_path, rows, "Kautionsrückzahlung")) == {"0"}


def test_only_documents_in_german_are_taken_apart(tmp_path):
    rows = rows_of("Der Mietvertrag endet.", language=Language.UNKNOWN)
    rows += [LexicalRow("en", "class-a", "M-1", "The Mietvertrag ends.", (), Language.ENGLISH)]
    assert search(tmp_path, rows, "Vertrag") == {}


@pytest.mark.parametrize("query", ["rent", "landmark tenant", "Vertrag tenant", "rent of the Mietvertrag"])
def test_a_document_in_english_scores_as_if_there_were_no_german(query, tmp_path):
    texts = ("The tenant pays the rent.", "A landmark of the tenant: rent, rent.", "Vertrag means the contract.")
    rows = rows_of(*texts, language=Language.ENGLISH)
    assert search(tmp_path / "a", rows, query) == search(tmp_path / "a", [], query, OFF)


def test_profiles_are_found_by_parts_of_their_names(tmp_path):
    index = open_profile_index(tmp_path)
    names = ("Gewerbemietvertrag Halle", "Darlehensvertrag Halle", "Lieferschein Halle")
    index.add([ProfileRow(each, "class-a", "M-1", each, "Text", Language.GERMAN) for each in names])
    found = [row.row_key for row in index.search("Miete", SCOPE, NO_FILTER, 10, ON.german).rows]
    assert found == ["Gewerbemietvertrag Halle"]
    assert index.search("Miete", SCOPE, NO_FILTER, 10).rows == ()
    found = {row.row_key for row in index.search("Vertrag", SCOPE, NO_FILTER, 10, ON.german).rows}
    assert found == {"Gewerbemietvertrag Halle", "Darlehensvertrag Halle"}


def test_a_pasted_document_is_asked_by_its_rarest_words_alone(tmp_path):
    words = [f"wort{number}" for number in range(300)]
    rows = rows_of(" ".join([*words, "Mietvertrag"]), "Ein Vertrag.")
    assert "0" in search(tmp_path, rows, " ".join([*words, "Pachtvertrag"]))


def test_the_parts_of_a_query_leave_out_what_it_asks_for_itself():
    terms = query_terms("Vertrag Mietvertrag")
    assert terms.german_parts == (key_of("Miete"),)
    assert [len(each) for each in terms.german_keys] == [1, 1]
