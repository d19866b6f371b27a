import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.convert.normalise import normal_form, plausible_title


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\u2028d\x0be", "a\nb\nc\nd\ne"),
        ("u\u0308ber", "über"),
        ("EUR\u00a0500\u202f000", "EUR 500 000"),
        ("Haf\u00adtung\u200b", "Haftung"),
        ("a\x00b\x07c\x7f", "abc"),
        ("a \t\nb  ", "a\nb"),
        ("one \n\f\n two", "one\n\f\n two"),
        ("\n\n  indented\n\n", "  indented"),
        ("a\ud800b", "a\ufffdb"),
        ("a\ufffeb", "ab"),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert normal_form(text) == expected


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\r\n\t\f \u00a0\u0308a\u00ad"))))
def test_normal_form_holds_for_every_text_and_is_stable(text: str) -> None:
    result = normal_form(text)
    assert normal_form(result) == result
    assert unicodedata.is_normalized("NFC", result)
    assert not any(unicodedata.category(each) in ("Cc", "Cs") and each not in "\n\t\f" for each in result)
    assert not any(line != line.rstrip(" \t") for line in result.replace("\f", "\n").split("\n"))
    result.encode("utf-8")


def test_a_long_run_of_blanks_is_read_in_linear_time() -> None:
    assert normal_form("a" + " " * 2_000_000 + "b" + " " * 2_000_000) == "a" + " " * 2_000_000 + "b"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (None, None),
        ("Word Document", None),
        ("UNTITLED 2", None),
        ("Mappe1", None),
        ("---", None),
        ("Documentation Agreement", "Documentation Agreement"),
        (" Supply\nAgreement ", "Supply Agreement"),
    ],
)
def test_plausible_title(title: str | None, expected: str | None) -> None:
    assert plausible_title(title) == expected
