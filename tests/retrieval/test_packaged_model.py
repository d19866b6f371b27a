"""The whole way once with the model that ships: what words alone do not find, meaning does."""

from pathlib import Path

import pytest

from knowledge_index.config import EmbeddingSettings, RetrievalSettings
from knowledge_index.domain.search import Leg
from knowledge_index.embed import build_embedder
from small_firm import (
    CORPORATE,
    LEASE_EXECUTED,
    REAL_ESTATE,
    SUPPLY_FINAL,
    SmallFirm,
    write_estate,
)


@pytest.fixture(scope="module")
def modelled_firm(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("modelled") / "firm")
    firm.embedder = build_embedder(EmbeddingSettings())
    write_estate(firm)
    firm.sync_and_run()
    return firm


def test_a_paraphrase_finds_its_clause_in_the_binding_version(modelled_firm: SmallFirm) -> None:
    hits = modelled_firm.search(
        "what does the buyer owe when an invoice is overdue",
        CORPORATE,
        settings=RetrievalSettings(weight_lexical=0, weight_document=0),
    )
    assert (hits[0].path, hits[0].heading) == (SUPPLY_FINAL, "2. Price")
    assert [leg.leg for leg in hits[0].legs] == [Leg.SEMANTIC]


def test_the_shipped_settings_find_a_pasted_value_and_a_german_clause(modelled_firm: SmallFirm) -> None:
    amount = modelled_firm.search("11.900,00 EUR", REAL_ESTATE)[0]
    assert (amount.path, amount.heading) == (LEASE_EXECUTED, "1. Miete")
    assert modelled_firm.search("Wer trägt die Betriebskosten?", REAL_ESTATE)[0].heading == "2. Nebenkosten"


def test_a_second_run_with_the_model_does_nothing(modelled_firm: SmallFirm) -> None:
    files = modelled_firm.index_files()
    report = modelled_firm.sync_and_run()
    assert (report.objects, report.embeddings, report.rows_written) == (0, 0, 0)
    assert modelled_firm.index_files() == files


def test_the_rows_of_a_redline_come_from_the_cache(modelled_firm: SmallFirm, tmp_path: Path) -> None:
    copy = modelled_firm.with_home_copy(tmp_path / "home")
    (copy.home.folder / "index").rename(tmp_path / "index of before")
    assert copy.run().embeddings == 0
    before = modelled_firm.search("notices in text form", CORPORATE)
    assert copy.search("notices in text form", CORPORATE) == before
