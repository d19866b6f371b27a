"""A file without a readable text stands aside with its reason, and nothing else waits for it."""

import pytest

from in_process import convert_in_process
from knowledge_index.config import AppConfig, ConversionSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.base import Converter
from knowledge_index.convert.plaintext import PlainTextConverter
from knowledge_index.domain.documents import ConvertedDocument
from small_firm import LEASE_NOTE, PARTNER, SmallFirm

DAMAGED = "Mandate/M-2026-0001 Supply Nordkai/contract/Torn.docx"
PICTURE = "Mandate/M-2026-0001 Supply Nordkai/contract/Site plan.jpg"


class FaultyConverter:
    """Fails on every file as no contract foresees, and counts how often it was asked."""

    name = "faulty"
    version = "1"
    suffixes = frozenset({".txt"})

    def __init__(self) -> None:
        self.calls = 0

    def convert(self, data: bytes) -> ConvertedDocument:
        self.calls += 1
        raise RuntimeError(f"no idea what to do with {len(data)} bytes")


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> FaultyConverter:
    """Stands in for the converter of the lease's note."""
    converter = FaultyConverter()

    def choose(path: str, *ocr: str) -> Converter:
        return converter if path == LEASE_NOTE else converter_for(path, *ocr)

    convert_in_process(monkeypatch, choose)
    return converter


def quarantine(firm: SmallFirm) -> dict[str, str]:
    with firm.catalog() as catalog, catalog.transaction() as session:
        return {each.path: each.error_class for each in session.status.quarantined()}


def test_what_cannot_be_converted_is_quarantined_and_everything_else_goes_on(firm: SmallFirm) -> None:
    firm.write(DAMAGED, b"PK\x03\x04 not a package at all", PARTNER)
    firm.write(PICTURE, b"\xff\xd8\xff\xe0 JFIF", PARTNER)

    report = firm.sync_and_run()

    assert {each.path: each.error_class for each in report.quarantined} == quarantine(firm)
    assert quarantine(firm) == {DAMAGED: "damaged", PICTURE: "unsupported"}
    assert all(each.message and each.source == "dms" for each in report.quarantined)
    assert report.indexed == 12
    assert not {DAMAGED, PICTURE} & set(firm.stores().passages)


def test_a_converters_own_bug_is_one_objects_trouble(firm: SmallFirm, faulty: FaultyConverter) -> None:
    report = firm.sync_and_run()
    (only,) = report.quarantined
    assert (only.path, only.error_class) == (LEASE_NOTE, "internal")
    size_bytes = (firm.root / LEASE_NOTE).stat().st_size
    assert only.message == f"RuntimeError: no idea what to do with {size_bytes} bytes"
    assert report.indexed == 11


def test_a_quarantined_file_is_not_tried_again_while_it_stays(firm: SmallFirm, faulty: FaultyConverter) -> None:
    firm.write(DAMAGED, b"PK\x03\x04 not a package at all", PARTNER)
    firm.sync_and_run()
    files = firm.index_files()

    report = firm.sync_and_run()

    assert faulty.calls == 1
    assert (report.objects, report.quarantined) == (0, [])
    assert firm.index_files() == files
    assert set(quarantine(firm)) == {DAMAGED, LEASE_NOTE}


def test_new_bytes_are_tried_again(firm: SmallFirm, faulty: FaultyConverter) -> None:
    firm.write(DAMAGED, b"PK\x03\x04 not a package at all", PARTNER)
    firm.sync_and_run()
    firm.write(DAMAGED, "A paper that was torn and has been mended with great care.")
    firm.write(LEASE_NOTE, "Die Halle ist übergeben.")

    report = firm.sync_and_run()

    assert faulty.calls == 2
    assert [each.path for each in report.quarantined] == [LEASE_NOTE]
    assert (report.conversions, report.indexed) == (1, 1)
    assert quarantine(firm) == {LEASE_NOTE: "internal"}
    assert firm.search("mended with great care", PARTNER)[0].path == DAMAGED


def test_another_converter_version_is_tried(firm: SmallFirm, faulty: FaultyConverter) -> None:
    firm.sync_and_run()
    faulty.version = "2"
    report = firm.run()
    assert faulty.calls == 2
    assert [each.path for each in report.quarantined] == [LEASE_NOTE]


def test_a_paper_that_a_new_converter_cannot_read_leaves_the_indexes(
    firm: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm.sync_and_run()
    keys = {key for key, _, _ in firm.stores().passages[LEASE_NOTE]}
    converter = FaultyConverter()
    convert_in_process(monkeypatch, lambda path, *ocr: converter if path == LEASE_NOTE else converter_for(path, *ocr))

    report = firm.run()

    stores = firm.stores()
    assert (report.unindexed, report.rows_removed) == (1, len(keys))
    assert not keys & (stores.catalog_keys | stores.lexical_keys | stores.vector_keys)
    assert quarantine(firm) == {LEASE_NOTE: "internal"}


def test_a_mended_converter_brings_the_paper_back(firm: SmallFirm, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        converter = FaultyConverter()
        convert_in_process(patched, lambda path, *ocr: converter if path == LEASE_NOTE else converter_for(path, *ocr))
        firm.sync_and_run()
    report = firm.run()
    assert (report.conversions, report.indexed) == (1, 1)
    assert quarantine(firm) == {}
    assert converter_for(LEASE_NOTE).name == PlainTextConverter.name


def test_what_a_limit_stopped_is_tried_again_under_other_limits_only(firm: SmallFirm) -> None:
    firm.write(LEASE_NOTE, "Die Halle. " * 40_000)
    firm.sync()
    tight = AppConfig(conversion=ConversionSettings(output_mb=1))
    (only,) = firm.run(tight).quarantined
    assert (only.path, only.error_class) == (LEASE_NOTE, "output_too_large")
    assert firm.run(tight).objects == 0

    assert firm.run().quarantined == []
    assert quarantine(firm) == {}
