"""Every refusal has its exit code, says what to do, and shows no traceback unless asked to."""

import json
import sys
from pathlib import Path

import pytest
from command_line import Ki, in_a_child

from knowledge_index.config.home import Home
from small_firm import LEASE_NOTE, SmallFirm

MAIN = "from knowledge_index.cli import main; main()"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["search"], 2, "Missing argument"),
        (["search", "rent"], 2, "--as"),
        (["--set", "retrieval.no_such_knob=1", "config", "show"], 2, "retrieval.no_such_knob: unknown setting"),
        (["--set", "fusion_rrf_k", "config", "show"], 2, "SECTION.KEY=VALUE"),
        (["--set", "retrieval.fusion_rrf_k=none", "config", "show"], 2, "fusion_rrf_k"),
        (["search", "rent", "--as", "jdoe"], 2, "'jdoe' is not a principal"),
        (["search", "rent", "--as", "dog:rex"], 2, "'dog:rex' is not a principal"),
        (["search", "rent", "--as", " , "], 2, "no principal given"),
        (["show", "some-hit", "--as", "jdoe"], 2, "'jdoe' is not a principal"),
        (["show", "some-hit", "--as", "user:a"], 2, "names no passage"),
        (["search", "rent", "--as", "user:a"], 3, "nothing is indexed yet"),
        (["search", "rent", "--as", "user:a", "--limit", "0"], 2, "--limit"),
        (["sync"], 2, "there is no source yet"),
        (["sync", "--source", "dms"], 2, "there is no source named 'dms'"),
        (["run", "--limit", "0"], 2, "--limit"),
        (["run-retrieval-eval", "no-such-gold", "--baseline", "full"], 2, "no frozen gold is named 'no-such-gold'"),
        (["run-retrieval-eval", "g", "--baseline", "full", "--min-lift", "nan"], 2, "--min-lift nan"),
        (["run-retrieval-eval", "sample", "--baseline", "best"], 2, "'best' is no baseline"),
        (["run-retrieval-eval", "sample", "--baseline", "full"], 3, "nothing is indexed yet"),
        (["generate-benchmark", "out", "--source", "no-such-folder"], 2, "no-such-folder"),
        (["freeze-gold", "no-such-folder", "--name", "x"], 2, "no-such-folder"),
        (["add-source", "no-such-folder", "--name", "x"], 2, "no-such-folder: is no folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_refusal(
    ki: Ki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = ki("--home", tmp_path / "home", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_an_unknown_variable_and_an_unknown_key_in_the_file_are_refused(
    ki: Ki, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KI_RETRIEVAL__FUSION_K", "3")
    outcome = ki("--home", home, "config", "show")
    assert (outcome.code, "KI_RETRIEVAL__FUSION_K" in outcome.err) == (2, True)
    monkeypatch.delenv("KI_RETRIEVAL__FUSION_K")
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[retrieval]\nfusion_k = 3\n")
    outcome = ki("--home", home, "config", "show")
    assert (outcome.code, "config.toml: retrieval.fusion_k: unknown setting" in outcome.err) == (2, True)


def test_a_traceback_is_shown_on_request(tmp_path: Path) -> None:
    calls = [(["--debug"], {}), ([], {"KI_DEBUG": "1"}), ([], {})]
    for options, environment in calls:
        outcome = in_a_child(MAIN, "--home", tmp_path, *options, "sync", **environment)
        assert ("Traceback" in outcome.err) == bool(options or environment)
        assert "there is no source yet" in outcome.err
        assert outcome.code != 0


@pytest.mark.parametrize("command", ["sync", "run", "add-source"])
def test_a_home_that_another_process_writes_to_is_busy(
    ki: Ki, indexed_home: Path, tmp_path: Path, command: str
) -> None:
    arguments = (command, tmp_path / "firm" / "dms", "--name", "again") if command == "add-source" else (command,)
    with Home(indexed_home).writing():
        outcome = ki("--home", indexed_home, *arguments)
        reading = ki("--home", indexed_home, "search", "gearbox", "--as", "group:corporate")
    assert outcome.code == 3
    assert "another ki process" in outcome.err
    assert reading.code == 0


def test_strict_fails_on_what_was_newly_quarantined(ki: Ki, firm_files: SmallFirm, indexed_home: Path) -> None:
    firm_files.write("Torn.docx", b"PK torn")
    assert ki("--home", indexed_home, "sync").code == 0

    outcome = ki("--home", indexed_home, "run", "--strict")

    assert outcome.code == 1
    assert "1 newly quarantined:\n  Torn.docx: damaged: " in outcome.out
    # Nothing new any more: known trouble is what status is for.
    assert ki("--home", indexed_home, "run", "--strict").code == 0
    assert "Torn.docx: damaged" in ki("--home", indexed_home, "status").out


def test_without_strict_a_quarantine_is_listed_and_the_run_went_through(
    ki: Ki, firm_files: SmallFirm, indexed_home: Path
) -> None:
    firm_files.write("Plan.jpg", b"\xff\xd8")
    ki("--home", indexed_home, "sync")
    outcome = ki("--home", indexed_home, "run")
    assert outcome.code == 0
    assert "Plan.jpg: unsupported: " in outcome.out


def test_a_file_that_could_not_be_read_is_no_success(ki: Ki, firm_files: SmallFirm, indexed_home: Path) -> None:
    firm_files.write(LEASE_NOTE, "Neue Übergabe.\n")
    ki("--home", indexed_home, "sync")
    (firm_files.root / LEASE_NOTE).unlink()
    outcome = ki("--home", indexed_home, "run")
    assert outcome.code == 1
    assert "1 could not be read" in outcome.out


def test_a_source_may_not_hold_its_own_home(ki: Ki, tmp_path: Path) -> None:
    outcome = ki("--home", tmp_path / "estate" / "home", "add-source", tmp_path, "--name", "dms")
    assert (outcome.code, "would index itself" in outcome.err) == (2, True)


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a:b", "a\nb"])
def test_a_source_name_that_would_garble_a_path_is_refused(ki: Ki, home: Path, tmp_path: Path, name: str) -> None:
    assert ki("--home", home, "add-source", tmp_path / "firm", "--name", name).code == 2


def test_a_second_source_of_the_same_name_is_refused(ki: Ki, firm_files: SmallFirm, indexed_home: Path) -> None:
    outcome = ki("--home", indexed_home, "add-source", firm_files.root, "--name", "dms")
    assert (outcome.code, "exists already" in outcome.err) == (2, True)


def test_a_malformed_acl_map_applies_nothing(ki: Ki, firm_files: SmallFirm, indexed_home: Path) -> None:
    firm_files.acl_file.write_text(json.dumps({LEASE_NOTE: [{"principal": "group:corporate", "access": "maybe"}]}))
    before = ki("--home", indexed_home, "status", "--json").out
    outcome = ki("--home", indexed_home, "sync")
    assert (outcome.code, "nothing of the map was applied" in outcome.err) == (2, True)
    assert ki("--home", indexed_home, "status", "--json").out == before


def test_an_interrupted_command_says_that_it_can_go_on(
    ki: Ki, firm_files: SmallFirm, indexed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("knowledge_index.pipeline.run_pipeline", interrupt)
    outcome = ki("--home", indexed_home, "run")
    assert (outcome.code, "Traceback" in outcome.err) == (130, False)
    assert "run the same command again" in outcome.err


def test_the_home_is_found_by_option_then_variable_then_platform(
    ki: Ki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown_home(*options: object) -> str:
        return str(ki(*options, "config", "show", "--json").json()["home"])

    if sys.platform == "linux":
        assert shown_home() == str(tmp_path / "data" / "knowledge_index")
    monkeypatch.setenv("KI_HOME", str(tmp_path / "by variable"))
    assert shown_home() == str(tmp_path / "by variable")
    assert shown_home("--home", tmp_path / "by option") == str(tmp_path / "by option")
