"""ki search narrows by what documents are, and says what is wrong with a filter."""

from pathlib import Path

import pytest
from command_line import Ki

from small_firm import CORPORATE, REAL_ESTATE, SUPPLY, SUPPLY_DRAFT, SUPPLY_FINAL, SUPPLY_MAIL, SUPPLY_REDLINE

EVERYONE = f"{CORPORATE},{REAL_ESTATE}"


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (("--type", "email"), {SUPPLY_MAIL}),
        (("--from", "2026-02-01"), {SUPPLY_MAIL}),
        (("--from", "2.2.2026", "--to", "2026-02-02"), {SUPPLY_MAIL}),
        (("--version-status", "draft", "--path", SUPPLY), {SUPPLY_DRAFT, SUPPLY_REDLINE}),
        (("--version-status", "final", "--version-status", "executed", "--path", SUPPLY), {SUPPLY_FINAL}),
        (("--as-of", "2026-03-01", "--type", "agreement", "--path", SUPPLY), {SUPPLY_FINAL}),
        (("--as-of", "2026-03-01", "--version-status", "draft", "--path", SUPPLY), {SUPPLY_REDLINE}),
        (("--as-of", "2025-12-31"), set()),
        (("--language", "de", "--path", SUPPLY), set()),
    ],
)
def test_a_search_shows_what_fits(ki: Ki, indexed_home: Path, options: tuple[str, ...], paths: set[str]) -> None:
    flat = ("--set", "retrieval.collapse_per_document=false")
    asked = ("--home", indexed_home, *flat, "search", "gearbox price Miete", "--as", EVERYONE, "--limit", "200")
    assert {each["path"] for each in ki(*asked, *options, "--json").json()["hits"]} == paths


def test_a_hit_says_what_filters_ask_for(ki: Ki, indexed_home: Path) -> None:
    asked = ("--home", indexed_home, "search", "signed copies", "--as", CORPORATE, "--type", "email")
    (hit,) = ki(*asked, "--json").json()["hits"]
    assert [hit[name] for name in ("document_type", "language", "document_date", "date_evidence")] == [
        "email",
        "en",
        "2026-02-02",
        "mail",
    ]
    assert "    type email  |  language en  |  2026-02-02 (mail)\n" in ki(*asked).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--type", "novel"), "there is no type 'novel'; the known ones are agreement, amendment,"),
        (("--version-status", "signed"), "the known ones are draft, executed, final, unknown"),
        (("--language", "fr"), "the known ones are de, en, unknown"),
        (("--as-of", "2026-02-30"), "as of: '2026-02-30' is no date; write a day as 2026-03-31 or 31.03.2026"),
        (("--from", "soon"), "from: 'soon' is no date"),
        (("--from", "2026-03-02", "--to", "2026-03-01"), "no day lies from 2026-03-02 to 2026-03-01"),
        (("--path", "Mandate/\udc80"), "holds bytes that are no text"),
    ],
)
def test_a_filter_that_cannot_be_is_refused(ki: Ki, indexed_home: Path, options: tuple[str, ...], message: str) -> None:
    refused = ki("--home", indexed_home, "search", "gearbox", "--as", EVERYONE, *options)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err
