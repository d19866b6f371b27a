import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from knowledge_index.benchmark.spans.offset_map import OffsetMap
from knowledge_index.convert.normalise import normal_form
from knowledge_index.domain.errors import InputError

# Letters that compose, marks, syllables of parts, blanks of every width, line ends of every kind, invisible characters.
TEXTS = st.text(
    st.sampled_from(
        "abeu.\u0308\u0301\u0323éüß\u1112\u1161\u11ab\u0958 \t\u00a0\u2003\n\r\f\u2028\u00ad\u200b\ufeff\x00\x1c"
    ),
    max_size=60,
)


@pytest.fixture(scope="module", autouse=True)
def _character_map() -> None:
    """The first call makes a table of all characters, which no example is to wait for."""
    normal_form("")


def visible(text: str) -> str:
    kept = (each for each in text if unicodedata.category(each)[0] not in "ZC")
    return unicodedata.normalize("NFC", "".join(kept))


def begins_a_letter(text: str, place: int) -> bool:
    return place >= len(text) or not unicodedata.combining(text[place])


@settings(max_examples=400)
@given(TEXTS, st.data())
def test_a_mapped_span_holds_the_same_letters(original: str, data: st.DataObject) -> None:
    converted = normal_form(original)
    offsets = OffsetMap(original, converted, "text")
    start = data.draw(st.integers(0, len(converted)))
    end = data.draw(st.integers(start, len(converted)))
    assume(begins_a_letter(converted, start))
    assume(begins_a_letter(converted, end))
    span = offsets.original_span(start, end)
    wanted = visible(converted[start:end])
    assert (span is None) == (not wanted)
    if span is not None:
        assert visible(original[span.start : span.end]) == wanted
        # And they are the same ones, not equal ones elsewhere.
        assert visible(original[: span.start]) == visible(converted[:start])


@given(TEXTS)
def test_an_unchanged_text_maps_onto_itself(text: str) -> None:
    offsets = OffsetMap(text, text, "text")
    span = offsets.original_span(0, len(text))
    places = [place for place, character in enumerate(text) if unicodedata.category(character)[0] not in "ZC"]
    assert span == ((places[0], places[-1] + 1) if places else None)


def test_offsets_count_what_the_converter_took_out() -> None:
    original = "\r\n  Su\u0308d\u00a0GmbH  \r\nHaf\u00adtung"
    converted = normal_form(original)
    assert converted == "  Süd GmbH\nHaftung"
    offsets = OffsetMap(original, converted, "text")
    assert offsets.original_span(2, 5) == (4, 8)
    assert offsets.original_span(0, len(converted)) == (4, len(original))
    assert original[slice(*offsets.original_span(11, 18) or ())] == "Haf\u00adtung"
    assert offsets.original_span(0, 2) is None
    assert offsets.original_span(3, 3) is None


def test_a_letter_is_taken_whole_with_its_marks() -> None:
    # NFC sorts the marks, composes one, and leaves the other beside it.
    original = "ae\u0301\u0323b"
    converted = normal_form(original)
    assert converted == "a\u1eb9\u0301b"
    offsets = OffsetMap(original, converted, "text")
    assert offsets.original_span(1, 2) == offsets.original_span(2, 3) == offsets.original_span(1, 3) == (1, 4)


@pytest.mark.parametrize("converted", ["a b d", "a b", "a b c c", ""])
def test_a_text_with_other_words_is_refused(converted: str) -> None:
    with pytest.raises(InputError, match="document 'x': the converter changed more"):
        OffsetMap("a b c", converted, "document 'x'")
