"""What the commands print: JSON alone where it was asked for, and nothing that the caller may not see."""

from pathlib import Path

import pytest
from command_line import Ki

from small_firm import (
    BARRED,
    CORPORATE,
    LEASE_SECRET,
    LEASE_TERMS,
    OUTSIDER,
    PARTNER,
    REAL_ESTATE,
    SUPPLY_FINAL,
    SUPPLY_MAIL,
    SUPPLY_TERMS,
    UNMAPPED,
    SmallFirm,
)

CORPORATE_MATTER, LEASE_MATTER = "M-2026-0001", "M-2026-0002"


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (("search", "gearbox", "--as", CORPORATE), {"hits", "notes", "explanation"}),
        (("search", "gearbox", "--as", OUTSIDER), {"hits", "notes", "explanation"}),
        (("status",), {"home", "sources", "quarantined", "passages", "index_rows", "policy_epoch", "run_interrupted"}),
        (("config", "show"), {"home", "settings", "origins"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_json_is_all_that_is_printed(ki: Ki, indexed_home: Path, arguments: tuple[str, ...], keys: set[str]) -> None:
    outcome = ki("--home", indexed_home, *arguments, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert keys <= set(outcome.json())


def test_a_search_prints_ids_that_show_takes(ki: Ki, indexed_home: Path) -> None:
    hit = ki("--home", indexed_home, "search", "12 O 345/25", "--as", CORPORATE, "--json").json()["hits"][0]
    assert (hit["source"], hit["path"], hit["matter_ref"]) == ("dms", SUPPLY_MAIL, CORPORATE_MATTER)
    assert hit["version_status"] == "unknown"
    assert {leg["leg"] for leg in hit["legs"]} >= {"lexical", "identifier"}

    shown = ki("--home", indexed_home, "show", hit["hit_id"], "--as", CORPORATE, "--json").json()

    for name in ("hit_id", "path", "passage", "start_char", "end_char", "text_sha256", "converter"):
        assert shown[name] == hit[name]
    human = ki("--home", indexed_home, "show", hit["hit_id"], "--as", CORPORATE)
    assert f"dms:{SUPPLY_MAIL}" in human.out
    assert "our reference 12 O 345/25" in human.out
    assert ki("--home", indexed_home, "show", hit["hit_id"], "--as", REAL_ESTATE).code == 2


def test_a_search_for_people_cites_where_each_passage_stands(ki: Ki, indexed_home: Path) -> None:
    outcome = ki("--home", indexed_home, "search", "price of a gearbox in EUR", "--as", CORPORATE, "--limit", 3)
    assert outcome.code == 0
    assert f"dms:{SUPPLY_FINAL}" in outcome.out
    assert "[final]" in outcome.out
    assert "M-2026-0001 Supply Nordkai  |  2. Price" in outcome.out
    assert "rerank" not in outcome.out


def test_an_explained_search_says_what_was_recognised_and_how_each_hit_was_found(ki: Ki, indexed_home: Path) -> None:
    call = ("--home", indexed_home, "search", "Price list: bearings in EUR", "--as", CORPORATE)
    outcome = ki(*call, "--explain", "--limit", 2)
    explained = ki(*call, "--json", "--limit", 2).json()
    assert explained["explanation"]["mentioned"] == ["Price list"]
    assert "Names a paper: list -> Price list\nAsked within it: bearings in EUR\n" in outcome.out
    sizes = ", ".join(f"{leg} {size}" for leg, size in explained["explanation"]["leg_sizes"])
    assert f"Found: {sizes}; 0 hold the query as it is worded" in outcome.out
    for hit in explained["hits"]:
        for leg in hit["legs"]:
            assert f"    {leg['leg']:<10} #{leg['rank']:<4} {leg['score']:.4f}\n" in outcome.out
    assert "Note: rerank is off: no rerank_model is set." in outcome.out
    reference = ki("--home", indexed_home, "search", "our ref 12 O 345/25", "--as", CORPORATE, "--explain")
    assert "Recognised: file_reference: 12 O 345/25\n" in reference.out


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    ("caller", "unseen"),
    [
        (CORPORATE, (LEASE_MATTER, LEASE_SECRET, LEASE_TERMS, UNMAPPED, "Board memo")),
        (REAL_ESTATE, (CORPORATE_MATTER, SUPPLY_TERMS, LEASE_SECRET, UNMAPPED, "Nordkai")),
        (f"{CORPORATE},{BARRED}", (CORPORATE_MATTER, LEASE_MATTER, UNMAPPED)),
        (OUTSIDER, (CORPORATE_MATTER, LEASE_MATTER, UNMAPPED, "Mandate")),
    ],
)
def test_a_search_names_no_path_and_no_matter_that_the_caller_may_not_see(
    ki: Ki, indexed_home: Path, caller: str, unseen: tuple[str, ...], as_json: bool
) -> None:
    options = ("--json",) if as_json else ()
    for query in ("gearbox price liability", "secrecy and notices", "Board memo", "stray note", "Miete"):
        outcome = ki("--home", indexed_home, "search", query, "--as", caller, "--limit", 100, *options)
        assert outcome.code == 0
        assert not [name for name in unseen if name in outcome.out + outcome.err]


def test_a_caller_without_any_hit_is_told_no_more_than_that(ki: Ki, indexed_home: Path) -> None:
    outcome = ki("--home", indexed_home, "search", "gearbox", "--as", OUTSIDER)
    assert outcome.out == "Nothing found that this caller may see.\n"
    explained = ki("--home", indexed_home, "search", "gearbox", "--as", OUTSIDER, "--json").json()["explanation"]
    assert explained == {
        "values": [],
        "mention": [],
        "mentioned": [],
        "clause_types": [],
        "question": "",
        "leg_sizes": [["lexical", 0], ["semantic", 0], ["identifier", 0], ["document", 0]],
        "holds_wording": 0,
    }


def test_matters_narrow_a_search(ki: Ki, indexed_home: Path) -> None:
    call = ("--home", indexed_home, "search", "secrecy", "--as", PARTNER, "--json")
    both = ki(*call, "--matter", CORPORATE_MATTER, "--matter", LEASE_MATTER).json()["hits"]
    one = ki(*call, "--matter", LEASE_MATTER).json()["hits"]
    assert {hit["matter_ref"] for hit in both} == {CORPORATE_MATTER, LEASE_MATTER}
    assert {hit["matter_ref"] for hit in one} == {LEASE_MATTER}


def test_a_setting_on_the_command_line_reaches_the_search(ki: Ki, indexed_home: Path) -> None:
    call = ("search", "secrecy", "--as", CORPORATE, "--json", "--limit", 100)
    collapsed = ki("--home", indexed_home, *call).json()["hits"]
    flat = ki("--home", indexed_home, "--set", "retrieval.collapse_per_document=false", *call).json()["hits"]
    assert len({hit["document_key"] for hit in collapsed}) == len(collapsed) < len(flat)


def test_config_show_says_where_a_setting_comes_from(ki: Ki, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[retrieval]\nfusion_rrf_k = 40\ncandidate_pool = 50\n")
    monkeypatch.setenv("KI_RETRIEVAL__CANDIDATE_POOL", "60")
    shown = ki("--home", home, "--set", "retrieval.weight_lexical=0.7", "config", "show", "--json").json()
    assert shown["settings"]["retrieval"]["fusion_rrf_k"] == 40
    assert shown["settings"]["retrieval"]["candidate_pool"] == 60
    assert shown["settings"]["retrieval"]["weight_lexical"] == 0.7
    assert {key: origin.split()[0] for key, origin in shown["origins"].items()} == {
        "retrieval.fusion_rrf_k": str(home / "config.toml").split()[0],
        "retrieval.candidate_pool": "environment",
        "retrieval.weight_lexical": "command",
    }
    text = ki("--home", home, "config", "show").out
    assert "fusion_rrf_k = 40" in text
    assert "# rerank_model is not set" in text
    assert "off because no rerank_model is set" in text


def test_status_counts_what_an_operator_has_to_know(ki: Ki, firm_files: SmallFirm, indexed_home: Path) -> None:
    firm_files.write("Plan.jpg", b"\xff\xd8")
    firm_files.write("New.txt", "A new paper.", PARTNER)
    firm_files.sync()  # writes the ACL map anew
    ki("--home", indexed_home, "sync")
    waiting = ki("--home", indexed_home, "status", "--json").json()["sources"][0]
    ki("--home", indexed_home, "run")
    status = ki("--home", indexed_home, "status", "--json").json()

    (source,) = status["sources"]
    assert (waiting["current"], waiting["indexed"], waiting["pending"]) == (14, 12, 2)
    assert (source["current"], source["indexed"], source["pending"], source["quarantined"]) == (14, 13, 0, 1)
    # The stray note and the picture stand in no ACL map.
    assert source["without_grants"] == 2
    assert [each["path"] for each in status["quarantined"]] == ["Plan.jpg"]
    assert [set(each["paths"]) for each in status["on_both_sides_of_a_wall"]] == [
        {f"dms:{SUPPLY_TERMS}", f"dms:{LEASE_TERMS}"}
    ]
    assert status["run_interrupted"] is False
    text = ki("--home", indexed_home, "status").out
    assert "no grants     2 (visible to nobody)" in text
    assert "Plan.jpg: unsupported" in text


def test_status_of_a_new_home_says_what_comes_next(ki: Ki, home: Path) -> None:
    outcome = ki("--home", home, "status")
    assert (outcome.code, "ki add-source" in outcome.out) == (0, True)


def test_commands_say_what_they_did(ki: Ki, firm_files: SmallFirm, home: Path) -> None:
    added = ki("--home", home, "add-source", firm_files.root, "--name", "dms", "--acl-map", firm_files.acl_file)
    assert "11 paths have grants" in added.out
    assert "dms: 12 new, 0 changed, 0 moved, 0 gone, 0 unchanged" in ki("--home", home, "sync").out
    limited = ki("--home", home, "run", "--limit", 5)
    assert "5 objects: 5 conversions" in limited.out
    assert "7 left for the next run (--limit)" in limited.out
    assert ki("--home", home, "run").out.startswith("7 objects: 6 conversions")
    again = ki("--home", home, "run").out
    assert "0 objects: 0 conversions" in again
    assert "0 embeddings (0 reused), 0 index rows written, 0 removed" in again


def test_progress_goes_to_standard_error(ki: Ki, firm_files: SmallFirm, home: Path) -> None:
    ki("--home", home, "add-source", firm_files.root, "--name", "dms")
    ki("--home", home, "sync")
    outcome = ki("--home", home, "run")
    assert "convert: 12/12 in" in outcome.err
    assert "convert:" not in outcome.out
