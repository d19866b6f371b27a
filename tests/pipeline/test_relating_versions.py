"""Which files are versions of one paper, and which only look like it."""

import sqlite3
from pathlib import Path

import pytest

from version_estate import SUBJECTS, VersionEstate, contract

ALPHA, BETA, GAMMA = "Alphorn Getriebe GmbH", "Betzdorf Kranbau AG", "Gammertingen Werke SE"
DRAFT = contract(ALPHA, BETA)
LATER = contract(ALPHA, BETA, changed=["insurance", "late payment"])


@pytest.fixture
def estate(tmp_path: Path) -> VersionEstate:
    return VersionEstate(tmp_path)


def papers_of(estate: VersionEstate, files: dict[str, str]) -> list[set[str]]:
    for path, text in files.items():
        estate.add(path, text)
    estate.relate()
    return [set(paper) for paper in estate.papers()]


ONE_PAPER = {
    "marks alone": ("m/supply-draft-v1.docx", "m/supply-redline-v2.docx", "m/supply-final.docx"),
    "a copy's number": ("m/supply.docx", "m/supply (2).docx"),
    "a copy": ("m/supply.docx", "m/Copy of supply.docx"),
    "eine Kopie": ("m/Liefervertrag.docx", "m/Kopie von Liefervertrag.docx"),
    "dates": ("m/supply 2024-05-01.docx", "m/2024-05-09 supply.docx"),
    "initials": ("m/supply v2 ABC.docx", "m/supply v3 DEF.docx"),
    "hashes": ("m/9f8a7c6b5d4e3f21.docx", "m/0a1b2c3d4e5f6071.docx"),
    "numbered names with marks": ("m/lease12-draft.docx", "m/lease12-executed.pdf"),
    "scans": ("m/Scan_0012.pdf", "m/supply.docx"),
    "a longer name": ("m/supply.docx", "m/supply Alphorn.docx"),
    "a folder for what is signed": ("m/supply-final.docx", "m/signed/supply-executed.pdf"),
    "ein Ordner für Unterzeichnetes": ("m/Vertrag.docx", "m/Unterzeichnet/Vertrag.pdf"),
    "the closing's folder": ("m/supply-final.docx", "m/03 Closing/supply-executed.pdf"),
    "an old version's folder": ("m/supply.docx", "m/superseded/supply v1.docx"),
    "rounds": ("m/round-1/supply-draft.docx", "m/round-2/supply-final.docx"),
}


@pytest.mark.parametrize("paths", ONE_PAPER.values(), ids=ONE_PAPER)
def test_these_are_one_paper(estate: VersionEstate, paths: tuple[str, ...]) -> None:
    texts = [DRAFT, LATER, LATER]
    assert len(papers_of(estate, dict(zip(paths, texts, strict=False)))) == 1


def test_a_name_with_marks_needs_no_resemblance(estate: VersionEstate) -> None:
    """An executed copy may be a scan without text, and a redline may leave no clause as it was."""
    files = {"m/lease12-draft.docx": DRAFT, "m/lease12-final.docx": "All is new.", "m/lease12-executed.pdf": ""}
    assert papers_of(estate, files) == [{"lease12-draft.docx", "lease12-final.docx", "lease12-executed.pdf"}]


FORM = contract("[Name]", "[●]")
TWO_PAPERS = {
    "two parties, one template": {"m/nda (1).docx": DRAFT, "m/nda (2).docx": contract(ALPHA, GAMMA)},
    "two parties under hashes": {"m/1f2e3d4c5b6a.docx": DRAFT, "m/6a5b4c3d2e1f.docx": contract(ALPHA, GAMMA)},
    "initials that are parties": {"m/nda v1 ABC.docx": DRAFT, "m/nda v1 XYZ.docx": contract(ALPHA, GAMMA)},
    "parties in the names": {"m/nda alphorn.docx": DRAFT, "m/nda gammertingen.docx": DRAFT + " More."},
    "numbers in the names": {"m/amendment no 1.docx": DRAFT, "m/amendment no 2.docx": LATER},
    "long numbers in the names": {"m/invoice 10023456.docx": DRAFT, "m/invoice 10023457.docx": LATER},
    "numbers at the names": {"m/lease1.docx": DRAFT, "m/lease2.docx": LATER},
    "letters in the names": {"m/annex a.docx": DRAFT, "m/annex b.docx": LATER},
    "the form and what was made of it": {"m/form.docx": FORM, "m/form (2).docx": DRAFT},
    "numbered letters": {"m/letter (1).docx": DRAFT, "m/letter (2).docx": contract(ALPHA, BETA, without=SUBJECTS[:9])},
    "the same bytes in two folders": {"m/a/nda.docx": DRAFT, "m/b/nda.docx": DRAFT},
    "the same bytes in two matters": {"m/1f2e3d4c5b6a.docx": DRAFT, "n/6a5b4c3d2e1f.docx": DRAFT},
    "a mail with the paper's name": {"m/nda.docx": DRAFT, "m/nda.eml": DRAFT},
    "a table with the paper's name": {"m/nda.docx": DRAFT, "m/nda.xlsx": DRAFT},
    "minutes of two days": {
        "m/minutes 2024-01-15.docx": "Minutes of the meeting held on 15 January.\n" + DRAFT,
        "m/minutes 2024-02-19.docx": "Minutes of the meeting held on 19 February.\n" + DRAFT,
    },
    "minutes of two days, both final": {
        "m/minutes 2024-01-15 final.docx": "Minutes of the meeting held on 15 January.\n" + DRAFT,
        "m/minutes 2024-02-19 final.docx": "Minutes of the meeting held on 19 February.\n" + DRAFT,
    },
    "one letter in two rounds": {"m/round-1/cover.docx": DRAFT, "m/round-2/cover.docx": contract(GAMMA, "Delta Ltd")},
}


@pytest.mark.parametrize("files", TWO_PAPERS.values(), ids=TWO_PAPERS)
def test_these_are_two_papers(estate: VersionEstate, files: dict[str, str]) -> None:
    assert len(papers_of(estate, files)) == 2


def test_a_second_time_nothing_is_written(estate: VersionEstate) -> None:
    papers_of(estate, {"m/1f2e3d4c5b6a.docx": DRAFT, "m/6a5b4c3d2e1f.docx": LATER})
    watcher = sqlite3.connect(estate.file)
    before = watcher.execute("PRAGMA data_version").fetchone()
    estate.relate()
    assert watcher.execute("PRAGMA data_version").fetchone() == before
    watcher.close()


def test_files_that_come_one_by_one_end_where_all_at_once_end(tmp_path: Path) -> None:
    files = {
        "m/1f2e3d4c5b6a.docx": DRAFT,
        "m/6a5b4c3d2e1f.docx": LATER,
        "m/supply (2).docx": DRAFT,
        "m/signed/supply-executed.pdf": LATER,
        "m/letter.txt": "Nothing to do with it.",
    }
    at_once, one_by_one = VersionEstate(tmp_path / "once"), VersionEstate(tmp_path / "stepwise")
    papers = papers_of(at_once, files)
    for path in reversed(files):
        one_by_one.add(path, files[path])
        one_by_one.relate()
    assert [set(paper) for paper in one_by_one.papers()] == papers
    assert one_by_one.titles() == at_once.titles()


def test_a_version_that_is_gone_joins_nothing(estate: VersionEstate) -> None:
    """The two ends resemble each other too little; the middle resembles both."""
    middle = contract(ALPHA, BETA, changed=SUBJECTS[:3])
    end = contract(ALPHA, BETA, changed=SUBJECTS[:3], without=SUBJECTS[8:])
    start = contract(ALPHA, BETA, without=SUBJECTS[:3])
    files = {"m/1f2e3d4c5b6a.docx": start, "m/2f2e3d4c5b6a.docx": middle, "m/3f2e3d4c5b6a.docx": end}
    assert len(papers_of(estate, files)) == 1
    estate.remove("m/2f2e3d4c5b6a.docx")
    assert len(estate.papers()) == 2
    estate.relate()
    assert len(estate.papers()) == 2


def test_a_title_keeps_the_case_of_the_file_name(estate: VersionEstate) -> None:
    papers_of(estate, {"m/Aktenvermerk-Telefonat_Süß.txt": "Kurz.", "m/Liefervertrag SPA (2).docx": DRAFT})
    assert set(estate.titles().values()) == {"Aktenvermerk Telefonat Süß", "Liefervertrag SPA"}


def test_a_title_comes_from_versions_of_the_same_class(estate: VersionEstate) -> None:
    """The earlier, better named version lies behind a wall: its name must not reach the other's title."""
    estate.add("m/Project Hailstorm supply.docx", DRAFT, "user:partner")
    estate.add("m/supply.docx", LATER)
    estate.relate()
    assert estate.titles()["m/supply.docx"] == "Supply"
    assert len(estate.papers("user:partner,group:everyone")) == 1
