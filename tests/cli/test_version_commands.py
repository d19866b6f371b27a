"""ki search names the more binding version, ki show --versions lists the chain: for this caller."""

from pathlib import Path

from command_line import Ki

from small_firm import CORPORATE, OUTSIDER, SUPPLY_DRAFT, SUPPLY_FINAL, SUPPLY_REDLINE


def test_a_hit_leads_to_the_versions_of_its_paper(ki: Ki, indexed_home: Path) -> None:
    arguments = ("--home", indexed_home, "search", "price of a gearbox", "--as", CORPORATE)
    hit = next(each for each in ki(*arguments, "--json").json()["hits"] if each["path"] == SUPPLY_FINAL)
    assert (hit["other_versions"], hit["most_binding"]) == (2, None)

    shown = ki("--home", indexed_home, "show", hit["hit_id"], "--versions", "--as", CORPORATE, "--json").json()
    assert [(each["path"], each["version_status"]) for each in shown["versions"]] == [
        (SUPPLY_DRAFT, "draft"),
        (SUPPLY_REDLINE, "draft"),
        (SUPPLY_FINAL, "final"),
    ]
    assert [each["is_asked_for"] for each in shown["versions"]] == [False, False, True]

    printed = ki("--home", indexed_home, "show", hit["hit_id"], "--versions", "--as", CORPORATE).out
    assert f" 3. dms:{SUPPLY_FINAL}  <- this hit\n    final: name says 'final'\n    order: status final\n" in printed

    refused = ki("--home", indexed_home, "show", hit["hit_id"], "--versions", "--as", OUTSIDER)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == ki("--home", indexed_home, "show", hit["hit_id"], "--as", OUTSIDER).err


def test_a_passage_of_a_draft_names_the_version_that_binds(ki: Ki, indexed_home: Path) -> None:
    """Only the redline and the draft say so; the final version was changed."""
    flat = ("--set", "retrieval.collapse_per_document=false")
    arguments = ("--home", indexed_home, *flat, "search", "price of a gearbox", "--as", CORPORATE)
    hit = next(each for each in ki(*arguments, "--json").json()["hits"] if each["path"] == SUPPLY_DRAFT)
    assert hit["most_binding"] == {"path": SUPPLY_FINAL, "version_status": "final"}
    assert f"    also: final ({SUPPLY_FINAL})\n" in ki(*arguments).out
