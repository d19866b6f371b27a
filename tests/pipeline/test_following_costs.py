"""What a change of an estate costs in the run after it: conversions, embeddings, and how long it takes to be seen."""

from pathlib import Path

import pytest

from in_process import convert_in_process
from small_firm import (
    CORPORATE,
    LEASE_NOTE,
    OUTSIDER,
    PARTNER,
    REAL_ESTATE,
    SUPPLY,
    SUPPLY_FINAL,
    SUPPLY_TERMS,
    SmallFirm,
)

TORN = f"{SUPPLY}/Torn.docx"


@pytest.fixture
def indexed(firm: SmallFirm) -> SmallFirm:
    firm.write(TORN, b"PK torn", PARTNER)
    firm.sync_and_run()
    return firm


def test_a_changed_map_takes_effect_by_sync_alone_and_embeds_nothing(indexed: SmallFirm) -> None:
    assert indexed.search("sechs Schlüssel", REAL_ESTATE)
    indexed.grant(LEASE_NOTE, OUTSIDER)
    indexed.sync()
    assert LEASE_NOTE not in {hit.path for hit in indexed.search("sechs Schlüssel", REAL_ESTATE)}
    report = indexed.run()
    assert (report.conversions, report.embeddings, report.indexed) == (0, 0, 1)
    assert [hit.path for hit in indexed.search("sechs Schlüssel", OUTSIDER)] == [LEASE_NOTE]


def test_every_paper_into_another_class_embeds_nothing(indexed: SmallFirm) -> None:
    indexed.acl = {path: [*grants, (OUTSIDER, "allow")] for path, grants in indexed.acl.items()}
    indexed.sync()
    report = indexed.run()
    # The stray note has no entry and stays where it is; the torn file has no text.
    assert (report.conversions, report.embeddings, report.indexed) == (0, 0, 11)


def test_a_file_that_moves_within_its_matter_costs_nothing_whether_it_can_be_read_or_not(indexed: SmallFirm) -> None:
    for path in (SUPPLY_TERMS, TORN):
        there = path.replace("/contract/", "/signed/")
        (indexed.root / there).parent.mkdir(exist_ok=True)
        (indexed.root / path).rename(indexed.root / there)
        indexed.acl[there] = indexed.acl.pop(path)
    assert indexed.sync().moved == 2
    report = indexed.run()
    assert (report.conversions, report.embeddings, report.quarantined) == (0, 0, [])
    assert SUPPLY_TERMS.replace("/contract/", "/signed/") in {hit.path for hit in indexed.search("secrecy", CORPORATE)}


def test_a_later_version_of_a_name_costs_no_conversion_and_no_embedding(indexed: SmallFirm) -> None:
    there = SUPPLY_FINAL.replace("_final", "_executed")
    (indexed.root / SUPPLY_FINAL).rename(indexed.root / there)
    indexed.acl[there] = indexed.acl.pop(SUPPLY_FINAL)
    assert indexed.sync().moved == 1
    report = indexed.run()
    assert (report.conversions, report.embeddings) == (0, 0)


def test_another_name_costs_no_conversion_and_no_embedding(indexed: SmallFirm) -> None:
    there = LEASE_NOTE.replace("Übergabe", "Protokoll")
    (indexed.root / LEASE_NOTE).rename(indexed.root / there)
    indexed.acl[there] = indexed.acl.pop(LEASE_NOTE)
    indexed.sync()
    report = indexed.run()
    # The name is known to the profile alone, which has no vector.
    assert (report.conversions, report.embeddings) == (0, 0)


def test_a_newer_converter_does_exactly_its_files_again(indexed: SmallFirm, monkeypatch: pytest.MonkeyPatch) -> None:
    before = indexed.stores().objects
    monkeypatch.setattr("knowledge_index.convert.docx.DocxConverter.version", "next")
    convert_in_process(monkeypatch)
    report = indexed.run()
    after = indexed.stores().objects
    changed = {path for path in after if after[path] != before[path]}
    assert changed == {path for path in after if Path(path).suffix == ".docx"} - {TORN}
    # The torn one is tried again too: a newer converter may be able to read it.
    assert [each.path for each in report.quarantined] == [TORN]
    assert (report.conversions, report.embeddings) == (3, 0)
    assert indexed.run().objects == 0
