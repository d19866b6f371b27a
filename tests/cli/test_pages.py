"""Pages and what was lost of a file, from the bytes to what a person sees."""

from pathlib import Path

from command_line import Ki

from gold_files import DATA
from small_firm import OUTSIDER, PARTNER, SmallFirm


def index(ki: Ki, firm_files: SmallFirm, home: Path) -> None:
    firm_files.write("Offer/Rahmen.pdf", (DATA / "pdf" / "header_drawn_last.pdf").read_bytes(), PARTNER)
    firm_files.write("Offer/Bates.pdf", (DATA / "pdf" / "scanned_pages.pdf").read_bytes(), PARTNER)
    firm_files.sync()  # writes the ACL map anew
    assert ki("--home", home, "sync").code == 0
    assert ki("--home", home, "run").code == 0


def test_a_hit_says_its_page_and_what_is_missing(ki: Ki, firm_files: SmallFirm, indexed_home: Path) -> None:
    index(ki, firm_files, indexed_home)
    hits = ki("--home", indexed_home, "search", "Gegenstand Maschinen", "--as", PARTNER, "--json").json()["hits"]
    (framework,) = (hit for hit in hits if hit["path"] == "Offer/Rahmen.pdf")
    assert (framework["page"], framework["degraded"]) == (1, [])
    text = ki("--home", indexed_home, "search", "ABC000123", "--as", PARTNER).out
    assert "dms:Offer/Bates.pdf, page " in text
    assert "degraded: pages 2-3 scanned, without text: needs OCR" in text
    shown = ki("--home", indexed_home, "show", framework["hit_id"], "--as", PARTNER)
    assert "dms:Offer/Rahmen.pdf, page 1" in shown.out
    as_json = ki("--home", indexed_home, "show", framework["hit_id"], "--as", PARTNER, "--json").json()
    assert (as_json["page"], as_json["degraded"]) == (1, [])
    plain = ki("--home", indexed_home, "search", "gearbox", "--as", PARTNER, "--json").json()["hits"][0]
    assert plain["page"] is None


def test_status_lists_degraded_papers_and_counts_scanned_pages(
    ki: Ki, firm_files: SmallFirm, indexed_home: Path
) -> None:
    assert " degraded, " not in ki("--home", indexed_home, "status").out
    index(ki, firm_files, indexed_home)
    status = ki("--home", indexed_home, "status")
    assert "1 degraded, 2 scanned pages without text:\n  dms:Offer/Bates.pdf: pages 2-3 scanned" in status.out
    (paper,) = ki("--home", indexed_home, "status", "--json").json()["degraded"]
    assert (paper["path"], paper["pages_without_text"]) == ("Offer/Bates.pdf", 2)


def test_what_is_degraded_is_told_to_nobody_who_may_not_see_the_paper(
    ki: Ki, firm_files: SmallFirm, indexed_home: Path
) -> None:
    index(ki, firm_files, indexed_home)
    outcome = ki("--home", indexed_home, "search", "ABC000123", "--as", OUTSIDER)
    assert "degraded" not in outcome.out
    assert "Bates" not in outcome.out
