"""Results: JSON in which nothing is invisible and no document ends the string that it stands in."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.serve.mcp_server import visible_json
from knowledge_index.serve.results import Matter, MattersAnswer, encodable


def answer(text: str) -> MattersAnswer:
    return MattersAnswer(matters=(Matter(matter_ref="M", matter_title=text, document_count=1),), next_after=None)


# Plain characters beside those that hide words or turn them round.
_TEXTS = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from('"\\\n<!--\u200b\u202e\u2066\ufeff\xad\U000e0041\U000e007f')
)


@given(_TEXTS)
def test_visible_json_means_the_same_and_hides_nothing(text: str) -> None:
    shown = visible_json(answer(text))
    assert json.loads(shown)["matters"][0]["matter_title"] == text
    tags = {character for character in shown if 0xE0000 <= ord(character) < 0xE1000}
    assert {character for character in shown if unicodedata.category(character) == "Cc"} | tags == set()
    assert not set(
        "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\xad"
    ) & set(shown)


@given(st.text(st.characters(codec=None)))
def test_what_no_utf8_can_carry_is_replaced_in_place(text: str) -> None:
    plain = encodable(text)
    assert len(plain) == len(text)
    plain.encode("utf-8")
    assert [a for a, b in zip(text, plain, strict=True) if a != b and not 0xD800 <= ord(a) <= 0xDFFF] == []
