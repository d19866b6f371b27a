"""Windows of a passage, each with a vector of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.chunking.windows import windows_of

LONGEST = 500
SENTENCE = "The seller delivers crane gearboxes to the buyer in monthly lots of twenty. "
# Prose with ends of sentences and lines, long runs without any, and whatever else Unicode has.
TEXTS = st.one_of(
    st.text(max_size=1500),
    st.lists(
        st.sampled_from(["Gearbox", "lot", " ", " ", "\n", ". ", "; ", "\n\n", "x" * 180, "Übergabe", "§ 5. "]),
        max_size=300,
    ).map("".join),
)


@given(text=TEXTS)
def test_windows_cover_all_but_white_space_once_and_are_short(text: str) -> None:
    windows = windows_of(text)
    covered = [place for start, end in windows for place in range(start, end)]
    assert covered == sorted(set(covered))
    assert {place for place, character in enumerate(text) if not character.isspace()} <= set(covered)
    for start, end in windows:
        assert 0 < end - start <= LONGEST
        assert text[start:end] == text[start:end].strip()


@given(text=TEXTS.map(str.strip))
def test_a_text_that_fits_is_one_window(text: str) -> None:
    if 0 < len(text) <= LONGEST:
        assert windows_of(text) == ((0, len(text)),)


@pytest.mark.parametrize("blank", ["", " ", "\n\t \u3000"])
def test_white_space_has_no_window(blank: str) -> None:
    assert windows_of(blank) == ()


def test_a_window_ends_where_a_sentence_ends() -> None:
    text = SENTENCE * 20
    windows = windows_of(text)
    assert len(windows) > 2
    assert all(text[start:end].startswith("The seller") for start, end in windows)
    assert all(text[start:end].endswith("twenty.") for start, end in windows)


def test_no_scrap_is_left_behind_the_last_full_window() -> None:
    # 76 characters a sentence: a window as long as may be would leave one sentence of 75 alone.
    text = (SENTENCE * 7).strip()
    assert LONGEST < len(text) < LONGEST + 100
    assert [end - start >= 150 for start, end in windows_of(text)] == [True, True]
