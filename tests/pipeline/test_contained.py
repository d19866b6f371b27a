"""Files inside mails and archives: objects of their own, that stand and fall with their container."""

import sqlite3
from contextlib import closing
from random import Random

import pytest

from in_process import convert_in_process
from knowledge_index.access import compile_scope
from knowledge_index.convert import converter_for
from knowledge_index.convert.zip import ZipConverter
from knowledge_index.domain.contained import MAX_DEPTH
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError, NotVisibleError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.pipeline import trees
from knowledge_index.retrieval import show_thread
from mail_files import archive, mail
from small_firm import CLAUSES, CORPORATE, PARTNER, REAL_ESTATE, SmallFirm, paper

MAIL = "M-2026-0001 Supply/offer.eml"
OFFER = f"{MAIL}!/Offer_v2.txt"
LEASE = f"{MAIL}!/papers.zip!/lease/Mietvertrag.txt"
ROOF = "The roof of the hall was mended in spring and holds for ten years.\n"


@pytest.fixture
def firm(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("estate") / "firm")
    papers = archive({"lease/Mietvertrag.txt": CLAUSES["Miete"].encode(), "plan.dwg": b"lines"})
    attached = {"Offer_v2.txt": CLAUSES["Price"].encode(), "papers.zip": papers, "roof": mail("Roof", ROOF)}
    firm.write(MAIL, mail("Our offer", "The offer and its papers are enclosed.", attached).as_bytes(), CORPORATE)
    return firm


def paths(firm: SmallFirm, query: str, caller: str) -> list[str]:
    return [hit.path for hit in firm.search(query, caller)]


def test_each_contained_file_is_found_under_the_path_through_its_containers(firm: SmallFirm) -> None:
    report = firm.sync_and_run()
    assert [(each.path, each.error_class, each.is_contained) for each in report.quarantined] == [
        (f"{MAIL}!/papers.zip!/plan.dwg", "unsupported", True)
    ]
    assert set(firm.stores().objects) == {
        MAIL,
        OFFER,
        f"{MAIL}!/papers.zip",
        LEASE,
        f"{MAIL}!/papers.zip!/plan.dwg",
        f"{MAIL}!/Roof.eml",
    }
    (lease,) = (hit for hit in firm.search("Miete für die Halle", CORPORATE) if hit.path == LEASE)
    assert lease.passage in CLAUSES["Miete"]
    assert (lease.matter_ref, lease.title) == ("M-2026-0001", "Mietvertrag")
    assert paths(firm, "price of a gearbox", PARTNER) == []


def test_a_second_sync_and_run_does_nothing(firm: SmallFirm) -> None:
    firm.sync_and_run()
    before, files = firm.stores(), firm.index_files()
    synced = firm.sync()
    assert (synced.new, synced.gone, synced.unchanged) == (0, 0, 1)
    report = firm.run()
    assert (report.objects, report.conversions, report.embeddings, report.quarantined) == (0, 0, 0, [])
    assert firm.stores() == before
    assert firm.index_files() == files


def test_a_moved_container_takes_its_files_along_without_a_conversion(firm: SmallFirm) -> None:
    firm.sync_and_run()
    moved = "M-2026-0002 Lease/offer.eml"
    (firm.root / moved).parent.mkdir()
    (firm.root / MAIL).rename(firm.root / moved)
    firm.grant(moved, CORPORATE)
    assert firm.sync().moved == 1
    assert paths(firm, "price of a gearbox", CORPORATE) == []
    report = firm.run()
    assert report.conversions == 0
    (hit,) = (hit for hit in firm.search("price of a gearbox", CORPORATE) if hit.path == f"{moved}!/Offer_v2.txt")
    assert hit.matter_ref == "M-2026-0002"
    assert not any(path.startswith(MAIL) for path in firm.stores().objects)


def test_a_wall_around_a_container_is_around_its_files_before_the_next_run(firm: SmallFirm) -> None:
    firm.sync_and_run()
    assert OFFER in paths(firm, "price of a gearbox", CORPORATE)
    (hit, *_) = firm.search("price of a gearbox", CORPORATE)
    firm.grant(MAIL, PARTNER)
    assert firm.sync().grants_changed == 1
    assert paths(firm, "price of a gearbox", CORPORATE) == []
    with firm.catalog() as catalog, pytest.raises(NotVisibleError):
        show_thread(catalog, hit.hit_id, parse_principals(CORPORATE))
    report = firm.run()
    assert report.conversions == 0
    assert OFFER in paths(firm, "price of a gearbox", PARTNER)
    assert paths(firm, "price of a gearbox", CORPORATE) == []


def test_every_object_has_the_class_of_the_file_on_disk_around_it(firm: SmallFirm) -> None:
    firm.sync_and_run()
    firm.grant(MAIL, REAL_ESTATE)
    firm.sync()
    with closing(sqlite3.connect(firm.home.catalog_file)) as connection:
        classes = connection.execute("SELECT DISTINCT acl_class_id FROM source_object WHERE state = 'current'")
        assert len(classes.fetchall()) == 1


@pytest.mark.parametrize("change", ["deleted", "emptied"])
def test_files_go_with_their_container(firm: SmallFirm, change: str) -> None:
    firm.sync_and_run()
    if change == "deleted":
        (firm.root / MAIL).unlink()
    else:
        firm.write(MAIL, mail("Our offer", "The papers were left out.").as_bytes())
    firm.sync()
    if change == "deleted":
        # All that there was is missing: until that is believed, what is inside stays as well.
        assert OFFER in paths(firm, "price of a gearbox", CORPORATE)
        firm.sync(confirm_deletions=True)
    assert set(firm.stores().objects) == (set() if change == "deleted" else {MAIL})
    assert paths(firm, "price of a gearbox", CORPORATE) == []
    firm.run()
    assert len(firm.stores().catalog_keys) == (0 if change == "deleted" else 1)


def test_equal_bytes_in_two_mails_are_converted_once_and_keep_their_own_grants(firm: SmallFirm) -> None:
    same = {"Price copy.txt": CLAUSES["Price"].encode()}
    firm.write("M-2026-0003 Other/note.eml", mail("Note", "A copy is enclosed.", same).as_bytes(), REAL_ESTATE)
    report = firm.sync_and_run()
    # Two mails, the forwarded one, the archive, the lease and the price clause once.
    assert report.conversions == 6
    assert "M-2026-0003 Other/note.eml!/Price copy.txt" in paths(firm, "price of a gearbox", REAL_ESTATE)
    assert not any(path.startswith(MAIL) for path in paths(firm, "price of a gearbox", REAL_ESTATE))


def test_a_file_that_fails_is_set_aside_alone_and_not_tried_again_in_another_place(firm: SmallFirm) -> None:
    torn = {"torn.docx": b"no archive", "fine.txt": ROOF.encode()}
    firm.write("a/mail.eml", mail("Two files", "One of them is torn.", torn).as_bytes(), CORPORATE)
    report = firm.sync_and_run()
    assert ("a/mail.eml!/torn.docx", "damaged") in [(each.path, each.error_class) for each in report.quarantined]
    assert "a/mail.eml!/fine.txt" in paths(firm, "roof of the hall", CORPORATE)
    (firm.root / "b").mkdir()
    (firm.root / "a/mail.eml").rename(firm.root / "b/mail.eml")
    firm.sync()
    report = firm.run()
    assert report.conversions == 0
    assert ("b/mail.eml!/torn.docx", "damaged") in [(each.path, each.error_class) for each in report.quarantined]


def test_what_lies_too_deep_is_said_to_and_the_rest_is_read(firm: SmallFirm) -> None:
    letter = mail("Level 25", ROOF)
    for level in range(24, 0, -1):
        letter = mail(f"Level {level}", f"This is level {level}.", {"inner": letter})
    firm.write("deep/mail.eml", letter.as_bytes(), CORPORATE)
    inner = archive({"bottom.txt": ROOF.encode()})
    for _ in range(24):
        inner = archive({"inner.zip": inner})
    firm.write("deep/box.zip", inner, CORPORATE)
    report = firm.sync_and_run()
    too_deep = [each.path for each in report.quarantined if each.error_class == "too_deep"]
    assert too_deep == ["deep/box.zip" + "!/inner.zip" * (MAX_DEPTH + 1), _level(MAX_DEPTH + 1)]
    assert _level(MAX_DEPTH) in firm.stores().passages


def _level(depth: int) -> str:
    return "deep/mail.eml" + "".join(f"!/Level {level}.eml" for level in range(2, depth + 2))


def test_a_container_that_holds_more_than_one_file_may_is_set_aside(
    firm: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MAX_FILES", 4)
    report = firm.sync_and_run()
    # The mail's three files fit; the archive's two more do not.
    failed = {(each.path, each.error_class) for each in report.quarantined}
    assert failed == {(f"{MAIL}!/papers.zip", "too_many_files")}
    assert OFFER in firm.stores().passages
    assert LEASE not in firm.stores().objects


def test_a_run_limited_to_one_object_at_a_time_ends_where_an_unlimited_one_does(firm: SmallFirm) -> None:
    firm.sync()
    whole = firm.with_home_copy(firm.folder / "whole")
    whole.run()
    for _ in range(8):
        firm.run(limit=1)
    assert firm.run(limit=1).left_for_later == 0
    assert firm.stores() == whole.stores()


def test_a_newer_converter_of_the_container_leaves_the_files_alone_that_are_as_before(
    firm: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm.sync_and_run()
    monkeypatch.setattr("knowledge_index.convert.eml.EmlConverter.version", "next")
    convert_in_process(monkeypatch)
    report = firm.run()
    # The mail and the forwarded one; offer, archive and lease are what they were.
    assert report.conversions == 2
    assert firm.run().conversions == 0


def test_a_newer_converter_of_a_contained_file_opens_its_containers_again(
    firm: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm.sync_and_run()
    monkeypatch.setattr("knowledge_index.convert.plaintext.PlainTextConverter.version", "next")
    convert_in_process(monkeypatch)
    firm.run()
    assert {each[2] for each in firm.stores().objects.values()} >= {"plaintext", "eml", "zip"}
    assert firm.run().conversions == 0
    assert LEASE in paths(firm, "Miete für die Halle", CORPORATE)


def test_a_folder_named_like_a_container_gets_in_nobodys_way(firm: SmallFirm) -> None:
    firm.sync_and_run()
    firm.write(OFFER, ROOF, PARTNER)
    firm.sync_and_run()
    assert paths(firm, "roof of the hall", PARTNER) == [OFFER]
    (hit,) = (hit for hit in firm.search("price of a gearbox", CORPORATE) if hit.path == OFFER)
    assert "gearbox" in hit.passage
    assert not any("roof" in hit.passage for hit in firm.search("price of a gearbox", CORPORATE) if hit.path == OFFER)


def test_versions_inside_one_archive_are_one_paper_and_never_one_with_files_beside_it(firm: SmallFirm) -> None:
    both = archive({"Supply_draft.txt": paper("Supply", "Price").encode(), "Supply_final.txt": b"Signed.\n"})
    firm.write("x/all.zip", both, CORPORATE)
    firm.write("x/Supply_executed.txt", paper("Supply", "Price"), CORPORATE)
    firm.sync_and_run()
    objects = firm.stores().objects
    keys = {path: objects[path][4].document_key for path in objects if path.startswith("x/")}  # type: ignore[attr-defined]
    assert keys["x/all.zip!/Supply_draft.txt"] == keys["x/all.zip!/Supply_final.txt"] != keys["x/Supply_executed.txt"]


def test_status_counts_contained_files_and_decorations(firm: SmallFirm) -> None:
    noisy = archive({"a.txt": ROOF.encode(), "Thumbs.db": b"x", "__MACOSX/a.txt": b"x"})
    firm.write("x/all.zip", noisy, CORPORATE)
    firm.sync_and_run()
    with firm.catalog() as catalog, catalog.transaction() as session:
        (status,) = session.status.sources()
    assert (status.current, status.contained, status.decorations, status.pending) == (8, 6, 2, 0)


def test_large_files_inside_others_are_read_like_small_ones(firm: SmallFirm) -> None:
    filling = Random(1).randbytes(3 << 20)
    inner = archive({"plan.bin": filling, "roof.txt": ROOF.encode()})
    outer = archive({"more.bin": filling[::-1], "inner.zip": inner, "Miete.txt": CLAUSES["Miete"].encode()})
    firm.write("x/large.eml", mail("Plans", "See the plans.", {"a.zip": outer, "b.zip": outer}).as_bytes(), CORPORATE)
    report = firm.sync_and_run()
    assert {each.error_class for each in report.quarantined} == {"unsupported"}
    texts = {path for path, each in firm.stores().objects.items() if path.startswith("x/") and each[2] == "plaintext"}
    assert texts == {
        f"x/large.eml!/{outside}.zip!/{inside}" for outside in "ab" for inside in ("inner.zip!/roof.txt", "Miete.txt")
    }
    assert firm.run().conversions == 0


def test_a_container_that_changed_since_the_sync_is_reported_once(firm: SmallFirm) -> None:
    firm.sync()
    firm.write(MAIL, b"Subject: other\n\nother words")
    report = firm.run()
    assert [path for path, _ in report.unread] == [MAIL]
    assert report.conversions == 0


def test_a_converter_that_gives_a_file_out_once_only_costs_that_file(
    firm: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(ZipConverter):
        def convert(self, data: bytes) -> ConvertedDocument:
            raise ConversionError("damaged", "is torn")

    convert_in_process(
        monkeypatch, lambda path, *ocr: Failing() if path.endswith(".zip") else converter_for(path, *ocr)
    )
    report = firm.sync_and_run()
    assert [(each.path, each.error_class) for each in report.quarantined] == [(f"{MAIL}!/papers.zip", "damaged")]
    with firm.catalog() as catalog, catalog.transaction() as session:
        assert compile_scope(session, parse_principals(CORPORATE)).acl_class_ids
