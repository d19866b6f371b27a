"""What others wrote reaches a terminal as text alone."""

import unicodedata
from pathlib import Path

import pytest
from command_line import Ki
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.cli.output import one_line, printable
from small_firm import CORPORATE, SmallFirm


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"),
        ("\x7f\x9b2J", "\\x7f\\x9b2J"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("exe\u202etxt.\u2066\u200f\u061c", "exe\\u202etxt.\\u2066\\u200f\\u061c"),
        ("\ud800", "\\ud800"),
        ("Größe – “Ü” 中 👍 C:\\x", "Größe – “Ü” 中 👍 C:\\x"),
    ],
)
def test_what_moves_the_cursor_is_shown_as_an_escape(text: str, expected: str) -> None:
    assert printable(text) == expected


@given(st.text(st.characters()))
def test_no_text_holds_a_control_afterwards(text: str) -> None:
    safe = printable(text)
    assert not {unicodedata.category(each) for each in safe} & {"Cc", "Zl", "Zp", "Cs"}
    assert not {unicodedata.bidirectional(each) for each in safe} & {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI"}
    assert printable(safe) == safe
    assert printable(one_line(text, 40)) == one_line(text, 40)


def test_a_passage_keeps_its_lines() -> None:
    assert printable("a\n\tb\x1b", "\n\t") == "a\n\tb\\x1b"


def test_a_file_name_cannot_write_to_the_terminal(ki: Ki, firm_files: SmallFirm, indexed_home: Path) -> None:
    path = "M-2026-0001 Supply\x1b[2J Nordkai/gear\x1b]0;owned\x07\nbox.txt"
    firm_files.write(path, "About the hedgehog.\n", CORPORATE)
    firm_files.sync()
    ki("--home", indexed_home, "sync")
    ki("--home", indexed_home, "run")
    call = ("--home", indexed_home, "search", "hedgehog", "--as", CORPORATE, "--limit", 1)
    (hit,) = ki(*call, "--json").json()["hits"]
    assert hit["path"] == path

    for outcome in (ki(*call), ki("--home", indexed_home, "show", hit["hit_id"], "--as", CORPORATE)):
        assert outcome.code == 0
        assert "Nordkai/gear\\x1b]0;owned\\x07\\x0abox.txt\n" in outcome.out
        assert not {each for each in outcome.out if unicodedata.category(each) == "Cc"} - {"\n"}
