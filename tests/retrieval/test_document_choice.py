"""Documents chosen by their names, pasted wording, and a paper that the query names, with every store real."""

from pathlib import Path

import pytest

from knowledge_index.access import compile_scope
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import Leg, SearchFilters, SearchResult
from small_firm import CLAUSES, SmallFirm, paper

CALLER = "group:deals"
HIDDEN = "group:other"
FOLDER = "M-2026-0007 Pumps"
PARTIES = ("Nordkai", "Walfisch", "Brandung", "Ostwind", "Kranich", "Seefeld")
SETTINGS = RetrievalSettings()


def agreement(party: str, years: str) -> str:
    """All alike but for the party, which the opening alone names, and how long the duty lasts."""
    secrecy = CLAUSES["Secrecy"].replace("three years", f"{years} years")
    return paper(f"Confidentiality agreement of {party} GmbH", "Secrecy", "Notices", changed={"Secrecy": secrecy})


def path_of(party: str) -> str:
    return f"{FOLDER}/agreement {party[0].lower()}.txt"


@pytest.fixture(scope="module")
def deals(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("deals") / "firm")
    for party, years in zip(PARTIES, ("two", "four", "five", "six", "seven", "eight"), strict=True):
        firm.write(path_of(party), agreement(party, years), CALLER)
    firm.write(f"{FOLDER}/Board minutes.txt", paper("Minutes", "Supply", "Price"), CALLER)
    firm.write(f"{FOLDER}/secret.txt", agreement("Leviathan", "nine"), HIDDEN)
    firm.sync_and_run()
    return firm


def ask(firm: SmallFirm, query: str, settings: RetrievalSettings = SETTINGS, caller: str = CALLER) -> SearchResult:
    with firm.retrieval() as service:
        with service.catalog.transaction() as session:
            scope = compile_scope(session, parse_principals(caller))
        return service.search(query, scope, settings, SearchFilters(), 20)


@pytest.mark.parametrize("party", PARTIES)
def test_of_papers_that_are_all_alike_the_named_one_comes_first_with_what_was_asked(
    deals: SmallFirm, party: str
) -> None:
    # The made-up embedder knows no meaning, so within the paper the words decide.
    words_alone = RetrievalSettings(weight_semantic=0)
    query = f"How long does the duty outlive the end of their dealings under the {party} agreement?"
    result = ask(deals, query, words_alone)
    assert result.explanation.mention == (party,)
    assert result.explanation.mentioned == (f"Agreement {party[0].lower()}",)
    assert party not in result.explanation.question
    first = result.hits[0]
    assert (first.path, first.heading) == (path_of(party), "1. Secrecy")
    assert Leg.DOCUMENT in {leg.leg for leg in first.legs}


def test_without_a_name_no_paper_is_chosen(deals: SmallFirm) -> None:
    result = ask(deals, "How long does the duty outlive the end of their dealings?")
    assert (result.explanation.mention, result.explanation.mentioned, result.explanation.question) == ((), (), "")
    assert len(result.hits) == len(PARTIES) + 1


def test_a_name_does_not_choose_where_that_is_off(deals: SmallFirm) -> None:
    query = "Walfisch: notices are valid in text form"
    off = RetrievalSettings(mentioned_first=False, weight_document=0)
    assert ask(deals, query).hits[0].heading == "2. Notices"
    assert ask(deals, query).hits[0].path == path_of("Walfisch")
    # "Walfisch" stands in one opening only, so words bring that up and not what was asked.
    assert ask(deals, query, off).hits[0].score < ask(deals, query).hits[0].score
    assert ask(deals, query, off).explanation.mentioned == ()
    assert Leg.DOCUMENT not in {leg.leg for hit in ask(deals, query, off).hits for leg in hit.legs}


def test_the_document_leg_alone_tells_papers_apart_that_say_the_same(deals: SmallFirm) -> None:
    chosen = RetrievalSettings(mentioned_first=False, weight_document=5.0)
    hits = ask(deals, "Kranich text form", chosen).hits
    assert hits[0].path == path_of("Kranich")
    assert {hit.path for hit in hits} >= {path_of(party) for party in PARTIES}


def test_a_pasted_wording_comes_before_a_paper_that_fits_in_every_other_way(deals: SmallFirm) -> None:
    wording = "The duty outlives the end of their dealings by five years"
    result = ask(deals, wording)
    assert result.hits[0].path == path_of("Brandung")
    assert result.explanation.holds_wording == 1
    assert result.hits[0].score > 2 * result.hits[1].score
    plain = ask(deals, wording, RetrievalSettings(exact_first=False, mentioned_first=False))
    assert plain.hits[0].score < 2 * plain.hits[1].score


def test_a_wording_that_names_a_paper_is_looked_for_and_not_taken_as_a_name(deals: SmallFirm) -> None:
    result = ask(deals, "Confidentiality agreement of Ostwind GmbH")
    assert result.explanation.mention == ()
    assert result.explanation.holds_wording == 1
    assert result.hits[0].path == path_of("Ostwind")
    assert result.hits[0].passage.startswith("Confidentiality agreement of Ostwind GmbH")


def test_an_identifier_that_is_the_query_is_found_in_any_spelling(deals: SmallFirm) -> None:
    first, second = ask(deals, "48.250,00 EUR").hits[:2]
    assert (first.path, first.heading) == (f"{FOLDER}/Board minutes.txt", "2. Price")
    assert "EUR 48,250.00" in first.passage
    assert first.score > 2 * second.score


def test_a_hidden_paper_is_neither_named_nor_counted(deals: SmallFirm, tmp_path: Path) -> None:
    query = "How long does the duty last under the Leviathan agreement?"
    result = ask(deals, query)
    assert "eviathan" not in repr(result)
    # As if there were none.
    firm = SmallFirm.in_folder(tmp_path / "firm")
    firm.home.key_file.write_bytes(deals.home.key_file.read_bytes())
    for party, years in zip(PARTIES, ("two", "four", "five", "six", "seven", "eight"), strict=True):
        firm.write(path_of(party), agreement(party, years), CALLER)
    firm.write(f"{FOLDER}/Board minutes.txt", paper("Minutes", "Supply", "Price"), CALLER)
    firm.sync_and_run()
    assert ask(firm, query) == result
    assert ask(deals, query, caller=f"{CALLER},{HIDDEN}").explanation.mention == ("Leviathan",)


def test_a_scope_without_papers_is_told_what_a_scope_without_a_fitting_one_is_told(deals: SmallFirm) -> None:
    nobody = ask(deals, "12 O 345/25", caller="user:nobody")
    assert nobody.hits == ()
    assert nobody.explanation.values == ("file_reference: 12 O 345/25",)
    assert [size for _, size in nobody.explanation.leg_sizes] == [0, 0, 0, 0]
