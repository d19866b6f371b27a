"""What is taken out of document text before anyone reads it, and whose paper it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.answers.untrusted import harmless, is_opposing

PARTS = [
    "<",
    ">",
    "/",
    "script",
    "b",
    "!--",
    "-->",
    "[",
    "](",
    ")",
    "![",
    "http://",
    "x",
    "\x1b[",
    "m",
    "\u200b",
    "`",
    "``",
    " ",
]


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_nothing_that_acts_is_left_whatever_is_nested(text: str) -> None:
    left = harmless(text)
    assert harmless(left) == left
    for sign in ("<script", "<b", "</", "<!", "](", "http://", "\x1b", "\u200b", "```"):
        assert sign not in left, (text, left)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("rent <10 % of <the> price", "rent <10 % of  price"),
        ("<scr<b>ipt>alert(1)</script>after", "alert(1)after"),
        ("<script>alert(1)</script>after", "after"),
        ("see ![chart](http://a.example/x.png) and [terms](javascript:alert(1))", "see chart and terms"),
        ("a\x1b[31mred\x1b[0m\x07b", "aredb"),
        ("zero\u200bwidth\u202e\U000e0041", "zerowidth"),
        ("www.a.example and https://b.example/c", "www.a.example and b.example/c"),
        ("data: the parties; file: see page 2", "data: the parties; file: see page 2"),
        ("one\ttwo\nthree", "one\ttwo\nthree"),
    ],
)
def test_examples(text: str, left: str) -> None:
    assert harmless(text) == left


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("M-1/from-counterparty/terms.docx", True),
        ("M-1/other-side/lease.docx", True),
        ("M-1/Gegenseite/Entwurf.docx", True),
        ("M-1/Schreiben_Gegner_2026.pdf", True),
        ("M-1/provider-paper/msa.docx", True),
        ("M-1/counterparty-paper-review-scenario/engagement.eml", False),
        ("M-1/Gegenstand.docx", False),
        ("M-1/our draft/lease.docx", False),
    ],
)
def test_the_other_sides_paper_is_told_by_its_path(path: str, expected: bool) -> None:
    assert is_opposing(path) is expected
