"""What a run costs and leaves behind: over a fresh estate, an unchanged one, and one that changed a little."""

import pytest

from knowledge_index.domain.versions import VersionStatus
from small_firm import (
    BARRED,
    CLAUSES,
    CORPORATE,
    LEASE_DRAFT,
    LEASE_EXECUTED,
    LEASE_NOTE,
    LEASE_SECRET,
    LEASE_TERMS,
    OUTSIDER,
    PARTNER,
    REAL_ESTATE,
    SUPPLY_DRAFT,
    SUPPLY_FINAL,
    SUPPLY_MAIL,
    SUPPLY_PRICES,
    SUPPLY_REDLINE,
    SUPPLY_TERMS,
    UNMAPPED,
    SmallFirm,
    Stores,
    paper,
)

ALL_PATHS = {
    *(SUPPLY_DRAFT, SUPPLY_REDLINE, SUPPLY_FINAL, SUPPLY_MAIL, SUPPLY_PRICES, SUPPLY_TERMS),
    *(LEASE_DRAFT, LEASE_EXECUTED, LEASE_NOTE, LEASE_TERMS, LEASE_SECRET, UNMAPPED),
}
QUERIES = ("price of a gearbox", "12 O 345/25", "Betriebskosten der Halle", "loss of profit", "HRB 40711")
CALLERS = (CORPORATE, REAL_ESTATE, PARTNER, f"{CORPORATE},{BARRED}", OUTSIDER)


def keys(stores: Stores, *paths: str) -> set[str]:
    return {key for path in paths for key, _, _ in stores.passages[path]}


def answers(firm: SmallFirm) -> list[object]:
    return [firm.search(query, caller) for query in QUERIES for caller in CALLERS]


@pytest.fixture
def indexed(firm: SmallFirm) -> SmallFirm:
    firm.sync_and_run()
    firm.embedder.asked.clear()
    return firm


def test_a_first_run_takes_every_paper_through_every_stage(firm: SmallFirm) -> None:
    report = firm.sync_and_run()

    stores = firm.stores()
    assert set(stores.passages) == ALL_PATHS
    stores.assert_agreed()
    # Twelve files, two of which hold the same bytes.
    assert (report.objects, report.conversions, report.enriched, report.indexed) == (12, 11, 11, 12)
    assert report.passages == sum(len(passages) for passages in stores.passages.values())
    assert report.rows_written == len(stores.catalog_keys)
    assert report.embeddings == len(firm.embedder.asked) == len(set(firm.embedder.asked))
    assert (report.quarantined, report.unread, report.left_for_later, report.rows_removed) == ([], [], 0, 0)


def test_a_run_without_any_source_or_file_does_nothing(tmp_path) -> None:
    firm = SmallFirm.in_folder(tmp_path / "empty")
    report = firm.sync_and_run()
    assert report.objects == 0
    assert firm.index_files() == {}


def test_relations_come_from_names_and_folders(indexed: SmallFirm) -> None:
    with indexed.catalog() as catalog, catalog.transaction() as session:
        relations = {each.path: each.relation for each in session.pipeline_objects.current() if each.relation}
    draft, redline, final = (relations[path] for path in (SUPPLY_DRAFT, SUPPLY_REDLINE, SUPPLY_FINAL))
    assert draft.document_key == redline.document_key == final.document_key
    assert (draft.matter_ref, draft.matter_title) == ("M-2026-0001", "Supply Nordkai")
    assert (draft.version_status, final.version_status) == (VersionStatus.DRAFT, VersionStatus.FINAL)
    assert draft.version_order < final.version_order
    assert relations[LEASE_EXECUTED].version_status is VersionStatus.EXECUTED


def test_a_second_sync_and_run_touch_nothing(indexed: SmallFirm) -> None:
    before, files = indexed.stores(), indexed.index_files()

    report = indexed.sync_and_run()

    assert (report.objects, report.conversions, report.enriched, report.indexed, report.unindexed) == (0, 0, 0, 0, 0)
    assert (report.embeddings, report.rows_written, report.rows_removed) == (0, 0, 0)
    assert indexed.embedder.asked == []
    assert indexed.index_files() == files
    assert indexed.stores() == before


def test_steps_of_a_limited_run_end_where_one_run_ends(firm: SmallFirm) -> None:
    firm.sync()
    stepwise = firm.with_home_copy(firm.folder / "stepwise")
    firm.run()

    left = []
    for _ in range(40):
        report = stepwise.run(limit=1)
        assert report.conversions <= 1
        assert report.indexed <= 1
        left.append(report.left_for_later)
        if not report.objects:
            break

    assert left[-1] == 0
    assert left[0] == 11
    assert stepwise.stores() == firm.stores()
    assert answers(stepwise) == answers(firm)


def test_a_changed_file_alone_is_converted_and_its_unchanged_clauses_cost_no_vector(indexed: SmallFirm) -> None:
    dearer = {"Price": CLAUSES["Price"].replace("48,250.00", "51,000.00")}
    indexed.write(SUPPLY_DRAFT, paper("Supply Agreement", "Supply", "Price", "Liability", "Notices", changed=dearer))

    report = indexed.sync_and_run()

    assert (report.conversions, report.indexed, report.unindexed) == (1, 1, 1)
    assert [text for text in indexed.embedder.asked if "51,000.00" in text] == indexed.embedder.asked
    assert (report.embeddings, report.rows_written) == (1, 1)
    # The draft's old wording of Liability stood nowhere else, but its new text has it again; its old price is gone
    # from the draft and still stands in the redline and the final version.
    assert report.rows_removed == 0
    indexed.stores().assert_agreed()


def test_a_redline_costs_the_clauses_that_it_changes(firm: SmallFirm) -> None:
    for path in (SUPPLY_REDLINE, SUPPLY_FINAL):
        (firm.root / path).rename(firm.folder / path.rsplit("/", 1)[1])
    firm.sync_and_run()
    firm.embedder.asked.clear()
    (firm.folder / SUPPLY_REDLINE.rsplit("/", 1)[1]).rename(firm.root / SUPPLY_REDLINE)

    report = firm.sync_and_run()

    assert (report.conversions, report.embeddings, report.rows_written) == (1, 1, 1)
    (asked,) = firm.embedder.asked
    assert "twice the price of the lot" in asked


def test_a_clause_that_stands_in_every_version_is_one_row(indexed: SmallFirm) -> None:
    stores = indexed.stores()
    draft, redline, final = (
        [key for key, _, _ in stores.passages[path]] for path in (SUPPLY_DRAFT, SUPPLY_REDLINE, SUPPLY_FINAL)
    )
    # Preamble, Supply, Price and Notices are the draft's; Liability is the redline's; Secrecy is new.
    assert draft[:3] == redline[:3] == final[:3]
    assert draft[4] == redline[4] == final[4]
    assert draft[3] != redline[3] == final[3]
    assert len(final) == 6


def test_a_deleted_file_leaves_all_three_stores(indexed: SmallFirm) -> None:
    before = indexed.stores()
    alone = keys(before, SUPPLY_MAIL) | (keys(before, SUPPLY_DRAFT) - keys(before, SUPPLY_REDLINE))
    for path in (SUPPLY_MAIL, SUPPLY_DRAFT):
        (indexed.root / path).unlink()

    report = indexed.sync_and_run()

    after = indexed.stores()
    assert after.catalog_keys == before.catalog_keys - alone
    after.assert_agreed()
    assert set(after.passages) == ALL_PATHS - {SUPPLY_MAIL, SUPPLY_DRAFT}
    assert (report.conversions, report.embeddings, report.unindexed, report.rows_removed) == (0, 0, 2, len(alone))
    assert not any(
        hit.path in (SUPPLY_MAIL, SUPPLY_DRAFT) for hit in indexed.search("signed copies 12 O 345/25", PARTNER)
    )


def test_deleting_everything_empties_the_indexes(indexed: SmallFirm) -> None:
    for path in ALL_PATHS:
        (indexed.root / path).unlink()
    indexed.sync(confirm_deletions=True)
    indexed.run()
    stores = indexed.stores()
    assert (stores.passages, stores.catalog_keys) == ({}, set())
    stores.assert_agreed()
    assert indexed.search("gearbox", PARTNER) == ()


def test_a_moved_file_costs_no_conversion_and_no_embedding(indexed: SmallFirm) -> None:
    before = indexed.stores()
    moved = SUPPLY_MAIL.replace("contract/", "correspondence/out/")
    (indexed.root / moved).parent.mkdir(parents=True)
    (indexed.root / SUPPLY_MAIL).rename(indexed.root / moved)
    indexed.acl[moved] = indexed.acl.pop(SUPPLY_MAIL)

    assert indexed.sync().moved == 1
    report = indexed.run()

    assert (report.conversions, report.embeddings, report.rows_written, report.rows_removed) == (0, 0, 0, 0)
    after = indexed.stores()
    assert after.passages[moved] == before.passages[SUPPLY_MAIL]
    assert after.catalog_keys == before.catalog_keys
    after.assert_agreed()
    assert indexed.search("12 O 345/25", CORPORATE)[0].path == moved


def test_identical_bytes_on_both_sides_of_a_wall_share_work_and_no_row(indexed: SmallFirm) -> None:
    stores = indexed.stores()
    supply, lease = stores.passages[SUPPLY_TERMS], stores.passages[LEASE_TERMS]
    assert [span for _, *span in supply] == [span for _, *span in lease]
    assert not keys(stores, SUPPLY_TERMS) & keys(stores, LEASE_TERMS)
    assert stores.objects[SUPPLY_TERMS][3] == stores.objects[LEASE_TERMS][3]


def test_a_copy_under_another_class_in_the_same_matter_is_embedded_by_nobody(indexed: SmallFirm) -> None:
    copy = SUPPLY_TERMS.replace("contract/", "copies/")
    indexed.write(copy, (indexed.root / SUPPLY_TERMS).read_bytes(), PARTNER)
    before = keys(indexed.stores(), SUPPLY_TERMS)

    report = indexed.sync_and_run()

    assert (report.conversions, report.embeddings) == (0, 0)
    assert report.rows_written == len(before)
    assert not before & keys(indexed.stores(), copy)


def test_a_change_of_grants_costs_rows_and_no_embedding(indexed: SmallFirm) -> None:
    old = keys(indexed.stores(), SUPPLY_PRICES)
    indexed.grant(SUPPLY_PRICES, REAL_ESTATE)

    report = indexed.sync_and_run()

    stores = indexed.stores()
    assert (report.conversions, report.embeddings, report.rows_written, report.rows_removed) == (0, 0, 1, 1)
    assert not old & stores.catalog_keys
    stores.assert_agreed()
    assert SUPPLY_PRICES in {hit.path for hit in indexed.search("bearing", REAL_ESTATE)}
    assert SUPPLY_PRICES not in {hit.path for hit in indexed.search("bearing", CORPORATE)}


def test_a_title_is_made_from_what_its_own_class_sees(tmp_path) -> None:
    """The draft's subject names the deal; behind the wall that the final version stands on, nothing tells of it."""
    firm = SmallFirm.in_folder(tmp_path / "walled")
    mail = "From: a@nordkai.example\nTo: b@kran.example\nSubject: {}\n\nThe offer stands until Friday.\n"
    firm.write("M-2026-0009 Deal/offer_draft.eml", mail.format("Project Walfisch").encode(), PARTNER)
    firm.write("M-2026-0009 Deal/offer_redline.eml", mail.format("Again").encode(), PARTNER)
    firm.write("M-2026-0009 Deal/offer_final.eml", mail.format("The offer").encode(), CORPORATE)
    firm.sync_and_run()
    with firm.catalog() as catalog, catalog.transaction() as session:
        titles = {each.path: each.relation.title for each in session.pipeline_objects.current() if each.relation}
    assert titles == {
        "M-2026-0009 Deal/offer_draft.eml": "Project Walfisch",
        "M-2026-0009 Deal/offer_redline.eml": "Project Walfisch",
        "M-2026-0009 Deal/offer_final.eml": "The offer",
    }
    assert not any("Walfisch" in text for text in firm.embedder.asked if "Subject: The offer" in text)


def test_a_file_that_changed_since_the_sync_is_reported_and_left_alone(firm: SmallFirm) -> None:
    firm.sync()
    firm.write(LEASE_NOTE, "Die Schlüssel sind verloren gegangen, alle sechs, und niemand weiß wo.\n")

    report = firm.run()

    assert [path for path, _ in report.unread] == [LEASE_NOTE]
    assert "ki sync" in report.unread[0][1]
    assert report.indexed == 11
    assert LEASE_NOTE not in firm.stores().passages
    assert firm.sync_and_run().indexed == 1


def test_a_file_that_is_gone_since_the_sync_is_reported(firm: SmallFirm) -> None:
    firm.sync()
    (firm.root / LEASE_NOTE).unlink()
    report = firm.run()
    assert [path for path, _ in report.unread] == [LEASE_NOTE]
    assert report.indexed == 11


def test_files_that_cannot_be_read_do_not_use_up_a_limit(firm: SmallFirm) -> None:
    firm.sync()
    # The first path in order: with a limit of 1 it would otherwise be the only one ever tried.
    (firm.root / SUPPLY_MAIL).unlink()
    report = firm.run(limit=1)
    assert [path for path, _ in report.unread] == [SUPPLY_MAIL]
    assert (report.conversions, report.indexed) == (1, 1)
