import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.benchmark.spans.offset_map import OffsetMap
from knowledge_index.convert.normalise import normal_form
from knowledge_index.domain.errors import InputError

# Letters that compose, blanks of every width, line ends of every kind, invisible characters.
TEXTS = st.text(st.sampled_from("abeu.\u0308\u0301éüß \t\u00a0\u2003\n\r\f\u2028\u00ad\u200b\ufeff\x00"), max_size=60)


def visible(text: str) -> str:
    kept = (each for each in text if unicodedata.category(each)[0] not in "ZC")
    return unicodedata.normalize("NFC", "".join(kept))


@given(TEXTS, st.data())
def test_a_mapped_span_holds_the_same_visible_characters(original: str, data: st.DataObject) -> None:
    converted = normal_form(original)
    try:
        offsets = OffsetMap(original, converted, "text")
    except InputError:
        # Two marks on one letter in an order that is not the canonical one.
        return
    start = data.draw(st.integers(0, len(converted)))
    end = data.draw(st.integers(start, len(converted)))
    span = offsets.original_span(start, end)
    wanted = visible(converted[start:end])
    assert (span is None) == (not wanted)
    if span is not None:
        assert visible(original[span.start : span.end]) == wanted
        assert visible(original[: span.start]) + wanted in visible(original) or wanted[0] in "\u0308\u0301"


@given(TEXTS)
def test_an_unchanged_text_maps_onto_itself(text: str) -> None:
    offsets = OffsetMap(text, text, "text")
    for place, character in enumerate(text):
        span = offsets.original_span(place, place + 1)
        assert span == ((place, place + 1) if visible(character) else None)


def test_offsets_count_what_the_converter_took_out() -> None:
    original = "\r\n  Su\u0308d\u00a0GmbH  \r\nHaf\u00adtung"
    converted = normal_form(original)
    assert converted == "  Süd GmbH\nHaftung"
    offsets = OffsetMap(original, converted, "text")
    assert offsets.original_span(2, 5) == (4, 8)
    assert offsets.original_span(0, len(converted)) == (4, len(original))
    assert original[slice(*offsets.original_span(11, 18))] == "Haf\u00adtung"


@pytest.mark.parametrize("converted", ["a b d", "a b", "a b c c", ""])
def test_a_text_with_other_words_is_refused(converted: str) -> None:
    with pytest.raises(InputError, match="document 'x': the converter changed more"):
        OffsetMap("a b c", converted, "document 'x'")
