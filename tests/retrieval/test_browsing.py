"""Documents, versions and matters: what the scope of the moment lets through, and in the log first."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.catalog.records import DocumentRecord
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import AuditLogError, NotVisibleError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.retrieval.browsing import document_id_of, list_matters_as, list_versions_as, read_document_as
from small_firm import (
    CORPORATE,
    LEASE_EXECUTED,
    LEASE_TERMS,
    OUTSIDER,
    PARTNER,
    REAL_ESTATE,
    SUPPLY_DRAFT,
    SUPPLY_FINAL,
    SUPPLY_REDLINE,
    SmallFirm,
    paper,
)
from version_estate import EVERYONE, VersionEstate, contract


@pytest.fixture
def recorder(tmp_path: Path) -> AccessRecorder:
    log = AuditLog(tmp_path / "log" / "audit.jsonl")
    return AccessRecorder(log, b"key", False, "tester", lambda: datetime(2026, 3, 2, 9, tzinfo=UTC))


def document_id(firm: SmallFirm, path: str, caller: str) -> str:
    every_passage = RetrievalSettings.model_validate({"collapse_per_document": False})
    hits = firm.search("Secrecy Miete price", caller, settings=every_passage)
    return next(hit.hit_id for hit in hits if hit.path == path).rpartition(".")[0]


def test_pages_put_together_are_the_text_wherever_they_are_cut(
    shared_firm: SmallFirm, recorder: AccessRecorder
) -> None:
    name = document_id(shared_firm, LEASE_TERMS, REAL_ESTATE)
    caller = parse_principals(REAL_ESTATE)
    with shared_firm.catalog() as catalog:
        whole = read_document_as(catalog, recorder, caller, name, 0, 10**6)
        for length in (1, 7, 100, whole.document.length_chars):
            starts = range(0, whole.document.length_chars, length)
            pages = [read_document_as(catalog, recorder, caller, name, start, length) for start in list(starts)[:40]]
            assert "".join(page.text for page in pages) == whole.text[: 40 * length]
        beyond = read_document_as(catalog, recorder, caller, name, 10**6, 5)
    assert whole.text.strip() == paper("General terms", "Secrecy", "Notices").strip()
    assert (beyond.text, beyond.start_char, beyond.end_char) == ("", len(whole.text), len(whole.text))


def test_a_version_behind_a_wall_is_in_no_list(firm: SmallFirm, recorder: AccessRecorder) -> None:
    firm.sync_and_run()
    firm.grant(SUPPLY_REDLINE, PARTNER)
    firm.sync_and_run()
    name = document_id(firm, SUPPLY_FINAL, CORPORATE)
    with firm.catalog() as catalog:
        seen = {
            caller: [each.path for each in list_versions_as(catalog, recorder, parse_principals(caller), name)]
            for caller in (CORPORATE, PARTNER)
        }
    assert seen == {
        CORPORATE: [SUPPLY_DRAFT, SUPPLY_FINAL],
        PARTNER: [SUPPLY_DRAFT, SUPPLY_REDLINE, SUPPLY_FINAL],
    }


FIRST = contract("Alphorn Getriebe GmbH", "Betzdorf Kranbau AG")
CHANGED = contract("Alphorn Getriebe GmbH", "Betzdorf Kranbau AG", changed=["insurance", "late payment"])
# Names that say nothing, so that the chain is told by texts and tracked changes alone.
DRAFT, REDLINE, SIGNED = "m/4a1b2c3d4e5f.docx", "m/2b1c2d3e4f5a.docx", "m/3a1b2c3d4e5f.pdf"


def versions_listed(estate: VersionEstate, recorder: AccessRecorder, path: str, caller: str) -> list[DocumentRecord]:
    """What is listed, without the catalog's own numbers, which nobody is shown."""
    name = estate.hit_id(path, caller).rpartition(".")[0]
    listed = list_versions_as(estate.catalog, recorder, parse_principals(caller), name)
    assert name in [document_id_of(each.object_key, each.text_sha256) for each in listed]
    return [replace(each, object_id=0) for each in listed]


def test_versions_are_those_of_the_visible_chain_whatever_the_names(tmp_path: Path, recorder: AccessRecorder) -> None:
    estate = VersionEstate(tmp_path)
    estate.add(DRAFT, FIRST)
    estate.add(REDLINE, CHANGED, PARTNER, original_text=FIRST)
    estate.add(SIGNED, CHANGED, EVERYONE, PARTNER)
    estate.relate()
    both = f"{EVERYONE},{PARTNER}"
    for path in (DRAFT, REDLINE, SIGNED):
        listed = versions_listed(estate, recorder, path, both)
        chain = estate.versions(path, both).versions
        assert [(each.path, each.version_status) for each in listed] == [
            (each.path, each.version_status) for each in chain
        ]
        assert [each.path for each in listed] == [DRAFT, REDLINE, SIGNED]
        assert listed[0].version_status is VersionStatus.DRAFT
    # Alone, nothing says of the first that it is a draft.
    shown = versions_listed(estate, recorder, DRAFT, EVERYONE)
    assert (DRAFT, VersionStatus.UNKNOWN) in [(each.path, each.version_status) for each in shown]


@pytest.mark.parametrize("hidden_path", [REDLINE, "m/0-least of all names.docx", "m/3a1b2c3d4e5f_executed.pdf"])
def test_a_hidden_version_changes_nothing_of_a_list_or_a_page(
    tmp_path: Path, recorder: AccessRecorder, hidden_path: str
) -> None:
    def seen(folder: str, *, with_hidden: bool) -> object:
        estate = VersionEstate(tmp_path / folder)
        estate.add(DRAFT, FIRST)
        estate.add(SIGNED, CHANGED)
        if with_hidden:
            estate.add(hidden_path, CHANGED, PARTNER, original_text=FIRST)
        estate.relate()
        name = estate.hit_id(DRAFT).rpartition(".")[0]
        page = read_document_as(estate.catalog, recorder, parse_principals(EVERYONE), name, 0, 100)
        lists = [versions_listed(estate, recorder, path, EVERYONE) for path in (DRAFT, SIGNED)]
        return lists, replace(page, document=replace(page.document, object_id=0))

    assert seen("without", with_hidden=False) == seen("with", with_hidden=True)


def test_matters_show_and_count_only_what_the_caller_may_see(shared_firm: SmallFirm, recorder: AccessRecorder) -> None:
    def matters(caller: str, after: str = "", limit: int = 10) -> list[tuple[str, str, int]]:
        with shared_firm.catalog() as catalog:
            found = list_matters_as(catalog, recorder, parse_principals(caller), after, limit)
        return [(each.ref, each.title, each.document_count) for each in found]

    supply, lease = ("M-2026-0001", "Supply Nordkai", 6), ("M-2026-0002", "Lease Werk Süd", 4)
    assert matters(CORPORATE) == [supply]
    assert matters(REAL_ESTATE) == [lease]
    assert matters(PARTNER) == [supply, (*lease[:2], 5)]
    assert matters(PARTNER, limit=1) == [supply]
    assert matters(PARTNER, after=supply[0]) == [(*lease[:2], 5)]
    assert matters(OUTSIDER) == []


def test_unknown_forbidden_changed_and_deleted_are_one_message(firm: SmallFirm, recorder: AccessRecorder) -> None:
    firm.sync_and_run()
    walled = document_id(firm, LEASE_EXECUTED, REAL_ESTATE)
    changed = document_id(firm, SUPPLY_FINAL, CORPORATE)
    deleted = document_id(firm, SUPPLY_DRAFT, CORPORATE)
    firm.write(SUPPLY_FINAL, paper("Supply Agreement", "Price"))
    (firm.root / SUPPLY_DRAFT).unlink()
    firm.acl.pop(SUPPLY_DRAFT)
    firm.sync_and_run()
    messages = set()
    with firm.catalog() as catalog:
        for name in (walled, changed, deleted, "0" * 32 + ".00000000", "", "x", walled + "0"):
            for read in (read_document_as, list_versions_as):
                more = (0, 10) if read is read_document_as else ()
                with pytest.raises(NotVisibleError) as refused:
                    read(catalog, recorder, parse_principals(CORPORATE), name, *more)  # type: ignore[operator]
                messages.add(str(refused.value))
    assert len(messages) == 1
    assert all(each.event.returned == () for each in recorder.log.entries())


def test_what_cannot_be_recorded_is_not_shown(shared_firm: SmallFirm, recorder: AccessRecorder) -> None:
    name = document_id(shared_firm, LEASE_TERMS, REAL_ESTATE)
    caller = parse_principals(REAL_ESTATE)
    recorder.log.file.mkdir(parents=True)
    with shared_firm.catalog() as catalog:
        for each in (name, "unknown"):
            with pytest.raises(AuditLogError):
                read_document_as(catalog, recorder, caller, each, 0, 10)
            with pytest.raises(AuditLogError):
                list_versions_as(catalog, recorder, caller, each)
        with pytest.raises(AuditLogError):
            list_matters_as(catalog, recorder, caller, "", 10)
