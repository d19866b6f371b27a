"""ask and golden run, as a person calls them."""

from pathlib import Path

import pytest
from command_line import Ki, in_a_child

from small_firm import CORPORATE, REAL_ESTATE, SmallFirm

QUESTION = "What is the price of a gearbox?"
# The made-up model in place of the packaged one, in a process of its own.
PROGRAM = """
import knowledge_index.embed
from small_firm import WordEmbedder
knowledge_index.embed.build_embedder = lambda settings: WordEmbedder()
from knowledge_index.cli import main
main()
"""


def test_an_answer_has_marks_and_citations(ki: Ki, indexed_home: Path) -> None:
    outcome = ki("--home", indexed_home, "ask", QUESTION, "--as", CORPORATE, "--explain")
    assert outcome.code == 0
    assert outcome.out.startswith("The price of a gearbox is EUR 48,250.00 net of value added tax. [1]")
    for shown in ("in the documents' own sentences", "[1] ", "2. Price", "characters ", "Added words:", "Searched:"):
        assert shown in outcome.out
    assert "acting as a group" in outcome.err


def test_json_has_everything(ki: Ki, indexed_home: Path) -> None:
    answer = ki("--home", indexed_home, "ask", QUESTION, "--as", CORPORATE, "--json").json()["answer"]
    assert (answer["kind"], answer["citations"][0]["number"]) == ("extractive", 1)
    assert answer["citations"][0]["quoted"] in answer["text"]
    assert {"source", "path", "version_status", "heading", "start_char", "end_char", "is_opposing", "hit_id"} <= set(
        answer["citations"][0]
    )


def test_where_nothing_supports_an_answer_it_says_so(ki: Ki, indexed_home: Path) -> None:
    outcome = ki("--home", indexed_home, "ask", QUESTION, "--as", REAL_ESTATE)
    assert outcome.code == 0
    assert outcome.out.startswith("The documents do not say.")
    assert "48,250" not in outcome.out


def test_the_key_of_the_gateway_is_no_setting_and_never_shown(
    ki: Ki, indexed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KI_GATEWAY_KEY", "s3cret-key")
    shown = ki("--home", indexed_home, "config", "show", "--json")
    assert shown.code == 0
    assert "s3cret-key" not in shown.out
    assert "key" not in shown.json()["settings"]["gateway"]


def test_a_gateway_out_of_reach_is_said(ki: Ki, indexed_home: Path) -> None:
    settings = ("--set", "gateway.url=http://127.0.0.1:9/v1", "--set", "gateway.model=m", "--set", "gateway.retries=0")
    outcome = ki("--home", indexed_home, *settings, "ask", QUESTION, "--as", CORPORATE)
    assert outcome.code == 0
    assert "EUR 48,250.00" in outcome.out
    assert "the gateway gave no answer" in outcome.out


@pytest.mark.parametrize(
    "url",
    ["ftp://a/v1", "http://elsewhere.example/v1", "https://user:word@a.example/v1", "https://a.example/?key=1", "x"],
)
def test_an_address_that_would_give_something_away_is_refused(ki: Ki, home: Path, url: str) -> None:
    outcome = ki("--home", home, "--set", f"gateway.url={url}", "--set", "gateway.model=m", "config", "show")
    assert outcome.code == 2
    assert "gateway" in outcome.err


def test_a_golden_run_passes_or_fails_by_its_hit_rate(ki: Ki, indexed_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "golden.yaml"
    file.write_text(
        f"- {{question: '{QUESTION}', must_contain: 'EUR 48,250.00', kind: price}}\n"
        f"- {{question: '{QUESTION}', must_contain: 'no such words', kind: price}}\n",
        encoding="utf-8",
    )
    passed = ki("--home", indexed_home, "golden", "run", file, "--as", CORPORATE, "--min-hit-rate", "0.5")
    assert (passed.code, "price" in passed.out, "0.500" in passed.out) == (0, True, True)
    failed = ki("--home", indexed_home, "golden", "run", file, "--as", CORPORATE, "--min-hit-rate", "0.6", "--json")
    assert (failed.code, failed.json()["total"]["hit_rate"]) == (1, 0.5)


def test_a_process_that_did_not_index_gives_the_same_answer(tmp_path: Path, firm_files: SmallFirm, ki: Ki) -> None:
    home = tmp_path / "home"

    def child(*arguments: object) -> str:
        outcome = in_a_child(PROGRAM, "--home", home, *arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out

    assert (
        ki("--home", home, "add-source", firm_files.root, "--name", "dms", "--acl-map", firm_files.acl_file).code == 0
    )
    assert ki("--home", home, "sync").code == 0
    assert ki("--home", home, "run").code == 0
    asked = ("ask", QUESTION, "--as", CORPORATE, "--json")
    here = ki("--home", home, *asked)
    assert here.json()["answer"]["kind"] == "extractive"
    assert child(*asked) == here.out
