from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.benchmark.spans.intervals import Span, covered_characters, merge_overlapping, trimmed

SPANS = st.tuples(st.integers(0, 40), st.integers(1, 12)).map(lambda each: Span(each[0], each[0] + each[1]))


@given(SPANS, st.lists(SPANS, max_size=8))
def test_a_character_is_covered_once_however_many_spans_hold_it(span: Span, others: list[Span]) -> None:
    marked = {place for other in others for place in range(*other)}
    assert covered_characters(span, others) == len(marked & set(range(*span)))


@given(st.lists(SPANS, max_size=8))
def test_merged_spans_hold_the_same_characters_and_share_none(spans: list[Span]) -> None:
    merged = merge_overlapping(spans)
    characters = [place for span in merged for place in range(*span)]
    assert sorted(characters) == sorted({place for span in spans for place in range(*span)})


def test_spans_that_only_touch_stay_two() -> None:
    assert merge_overlapping([Span(5, 9), Span(0, 5)]) == (Span(0, 5), Span(5, 9))


def test_white_space_at_the_ends_is_trimmed() -> None:
    assert trimmed("  ab c \n", Span(0, 8)) == Span(2, 6)
    assert trimmed("    ", Span(1, 3)) == Span(1, 3)
