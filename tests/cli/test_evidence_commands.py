"""Receipts from the command line: issued, checked without the home, replayed."""

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from command_line import Ki

from small_firm import (
    CORPORATE,
    LEASE_NOTE,
    OUTSIDER,
    REAL_ESTATE,
    SUPPLY_FINAL,
    SUPPLY_REDLINE,
    SUPPLY_TERMS,
    SmallFirm,
    paper,
)

QUERY = "liability for gross negligence"


@pytest.fixture
def indexed_home(shared_firm: SmallFirm, tmp_path: Path) -> Path:
    """A copy of a home that was indexed once; its source is only read."""
    shutil.copytree(shared_firm.home.folder, tmp_path / "home", ignore=shutil.ignore_patterns("keys", "trees", "audit"))
    return tmp_path / "home"


@pytest.fixture
def own_firm(firm: SmallFirm) -> SmallFirm:
    """A firm whose files may be changed."""
    firm.sync_and_run()
    return firm


@pytest.fixture
def receipt(ki: Ki, indexed_home: Path, tmp_path: Path) -> Path:
    file = tmp_path / "receipt.json"
    outcome = ki("--home", indexed_home, "search", QUERY, "--as", CORPORATE, "--limit", 3, "--receipt", file)
    assert (outcome.code, outcome.err) == (0, "Note: acting as a group, not as a person.\n")
    return file


@pytest.fixture
def key(ki: Ki, indexed_home: Path, receipt: Path, tmp_path: Path) -> Path:
    file = tmp_path / "keys.pem"
    assert ki("--home", indexed_home, "keys", "export", file).code == 0
    return file


def test_a_receipt_is_checked_without_the_home(
    ki: Ki, indexed_home: Path, receipt: Path, key: Path, tmp_path: Path
) -> None:
    hits = ki("--home", indexed_home, "search", QUERY, "--as", CORPORATE, "--limit", 3, "--json").json()["hits"]
    (tmp_path / "passage.txt").write_text(hits[0]["passage"], encoding="utf-8")
    shutil.rmtree(indexed_home)
    outcome = ki("--home", tmp_path / "none", "verify", receipt, "--key", key, "--text", tmp_path / "passage.txt")
    assert (outcome.code, outcome.err) == (0, "")
    assert "text       it is the passage of result 0\nThe receipt holds." in outcome.out
    assert not (tmp_path / "none").exists()


def test_a_receipt_says_which_file_it_is_about(
    ki: Ki, shared_firm: SmallFirm, receipt: Path, key: Path, tmp_path: Path
) -> None:
    outcome = ki("verify", receipt, "--key", key, "--document", shared_firm.root / SUPPLY_FINAL, "--json")
    assert (outcome.code, outcome.json()["passed"]) == (0, True)
    # The file was converted again, and says at these offsets what the receipt is about.
    assert [each["name"] for each in outcome.json()["checks"]][-2:] == ["document", "converted"]
    renamed = tmp_path / "paper.unknown"
    shutil.copy(shared_firm.root / SUPPLY_FINAL, renamed)
    outcome = ki("verify", receipt, "--key", key, "--document", renamed, "--json")
    assert (outcome.code, "cannot be converted" in outcome.json()["notes"][0]) == (0, True)
    outcome = ki("verify", receipt, "--key", key, "--document", shared_firm.root / LEASE_NOTE, "--json")
    assert outcome.code == 1
    assert [each["name"] for each in outcome.json()["checks"] if not each["passed"]] == ["document"]


def test_without_a_trusted_key_nothing_is_said(ki: Ki, receipt: Path, key: Path, tmp_path: Path) -> None:
    outcome = ki("verify", receipt)
    assert (outcome.code, outcome.out) == (2, "")
    assert "proves nothing" in outcome.err
    for missing in (("verify", receipt, "--key", tmp_path / "none"), ("verify", tmp_path / "none", "--key", key)):
        assert ki(*missing).code == 2
    assert ki("verify", receipt, "--key", receipt).code == 2
    receipt.write_bytes(receipt.read_bytes().replace(b'"limit":3', b'"limit":4'))
    outcome = ki("verify", receipt, "--key", key)
    assert outcome.code == 1
    assert "FAILED  signature" in outcome.out
    assert outcome.out.endswith("The receipt does NOT hold.\n")


def test_keys_are_shown_rotated_and_exported(
    ki: Ki, indexed_home: Path, receipt: Path, key: Path, tmp_path: Path
) -> None:
    assert stat.S_IMODE((indexed_home / "keys" / "signing-key.pem").stat().st_mode) == 0o600
    (first,) = ki("--home", indexed_home, "keys", "show", "--json").json()
    assert first["is_current"]
    assert first["key_id"] == json.loads(receipt.read_bytes())["signature"]["key_id"]
    rotated = ki("--home", indexed_home, "keys", "rotate")
    assert rotated.code == 0
    old, new = ki("--home", indexed_home, "keys", "show", "--json").json()
    assert (old["key_id"], old["is_current"], new["is_current"]) == (first["key_id"], False, True)
    assert new["key_id"] in rotated.out
    both = tmp_path / "both.pem"
    ki("--home", indexed_home, "keys", "export", both)
    assert "PRIVATE" not in both.read_text()
    assert ki("--home", indexed_home, "keys", "export").out == both.read_text()
    second = tmp_path / "second.json"
    assert ki("--home", indexed_home, "search", QUERY, "--as", CORPORATE, "--receipt", second).code == 0
    assert ki("verify", receipt, "--key", both).code == ki("verify", second, "--key", both).code == 0
    assert ki("verify", second, "--key", key).code == 1
    assert "signing-key" in ki("--home", indexed_home, "audit", "show").out


def test_public_tools_check_the_signature(ki: Ki, receipt: Path, key: Path, tmp_path: Path) -> None:
    """As docs/evidence.md shows it, with OpenSSL alone."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no OpenSSL is installed")
    head, _, rest = receipt.read_bytes().partition(b',"signature":{')
    signature, _, tail = rest.partition(b"}")
    (tmp_path / "signed.json").write_bytes(head + tail)
    (tmp_path / "signature.bin").write_bytes(bytes.fromhex(json.loads(b"{" + signature + b"}")["value"]))
    command = [openssl, "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", tmp_path / "signed.json"]
    done = subprocess.run([*command, "-sigfile", tmp_path / "signature.bin"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "Signature Verified Successfully")


def test_a_question_has_a_receipt_of_what_was_read_and_cited(
    ki: Ki, indexed_home: Path, key: Path, tmp_path: Path
) -> None:
    file = tmp_path / "answer.json"
    outcome = ki(
        "--home", indexed_home, "ask", "What is the price of a gearbox?", "--as", CORPORATE, "--receipt", file, "--json"
    )
    assert outcome.code == 0
    answer = outcome.json()["answer"]
    assert ki("verify", file, "--key", key).code == 0
    record = json.loads(file.read_bytes())
    assert (record["kind"], record["answer"]["kind"]) == ("ask", answer["kind"]) == ("ask", "extractive")
    cited = record["answer"]["citations"][0]
    assert (cited["start_char"], cited["end_char"]) == tuple(
        answer["citations"][0][each] for each in ("start_char", "end_char")
    )
    assert record["results"][cited["result"]]["version"]["text_sha256"] == answer["citations"][0]["text_sha256"]
    replayed = ki(
        "--home", indexed_home, "replay", file, "--query", "What is the price of a gearbox?", "--as", CORPORATE
    )
    assert (replayed.code, replayed.out.splitlines()[-1]) == (0, "Nothing changed for these results.")


def test_a_replay_shows_what_changed_document_by_document(ki: Ki, own_firm: SmallFirm, tmp_path: Path) -> None:
    home, receipt = own_firm.home.folder, tmp_path / "receipt.json"
    assert ki("--home", home, "search", QUERY, "--as", CORPORATE, "--limit", 3, "--receipt", receipt).code == 0
    again = ("--home", home, "replay", receipt, "--query", QUERY, "--as", CORPORATE)
    report = ki(*again, "--json").json()
    assert (report["is_same"], report["changes"]) == (True, [])
    assert {each["state"] for document in report["documents"] for each in document["results"]} == {"same"}
    changed = (
        paper("Supply Agreement", "Supply", "Price", "Liability", "Notices", "Secrecy") + "Nothing else is agreed.\n"
    )
    own_firm.write(SUPPLY_FINAL, changed)
    assert ki("--home", home, "sync").code == 0
    assert ki("--home", home, "run").code == 0
    report = ki(*again, "--json").json()
    assert not report["is_same"]
    assert any(line.startswith("Merkle root: ") for line in report["changes"])
    states = {(each["state"], document["path"]) for document in report["documents"] for each in document["results"]}
    assert ("gone", None) in states
    assert {each for each, _ in states} == {"gone", "new", "same"}
    assert {path for each, path in states if each == "new"} <= {SUPPLY_FINAL, SUPPLY_REDLINE}
    assert "The results are not what they were." in ki(*again).out


def test_a_replay_is_refused_for_another_query_or_caller(ki: Ki, indexed_home: Path, receipt: Path) -> None:
    for query, caller, message in (
        (QUERY + "?", CORPORATE, "--query"),
        (QUERY, REAL_ESTATE, "--as"),
        (QUERY, f"{CORPORATE},{OUTSIDER}", "--as"),
    ):
        outcome = ki("--home", indexed_home, "replay", receipt, "--query", query, "--as", caller)
        assert (outcome.code, outcome.out) == (2, "")
        assert message in outcome.err
    receipt.write_bytes(receipt.read_bytes().replace(b'"limit":3', b'"limit":9'))
    outcome = ki("--home", indexed_home, "replay", receipt, "--query", QUERY, "--as", CORPORATE)
    assert (outcome.code, "no receipt of this installation" in outcome.err) == (2, True)


def test_a_receipt_names_nobody_and_nothing(receipt: Path, key: Path) -> None:
    """Neither words of the query or of a passage, nor a name of a file, a matter or a person."""
    text = receipt.read_text(encoding="utf-8").casefold()
    for word in ("gross", "corporate", "mandate", "nordkai", "supply", Path(SUPPLY_TERMS).name.casefold(), "m-2026"):
        assert word not in text


def test_what_cannot_be_receipted_says_so(ki: Ki, indexed_home: Path, tmp_path: Path) -> None:
    search = ("--home", indexed_home, "search", QUERY, "--as", CORPORATE)
    outcome = ki(*search, "--deleted", "--receipt", tmp_path / "r.json")
    assert (outcome.code, "--deleted" in outcome.err) == (2, True)
    outcome = ki(*search, "--receipt", tmp_path / "no folder" / "r.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot be written" in outcome.err
