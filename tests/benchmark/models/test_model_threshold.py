"""Filling in above a threshold: outcomes, figures, and the choice on dev."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.benchmark.models.answer_library import (
    PACKAGED_LIBRARY,
    AnswerLibrary,
    AskedQuestion,
    LibraryAnswer,
    load_library,
)
from knowledge_index.benchmark.models.dataset import Split
from knowledge_index.benchmark.models.threshold import (
    Outcome,
    TopAnswer,
    choose_threshold,
    curve_of,
    figures_at,
    outcome_of,
)
from knowledge_index.benchmark.models.threshold_picture import curve_picture
from knowledge_index.domain.errors import InputError

LIBRARY = AnswerLibrary(
    "tiny",
    (
        LibraryAnswer("a", "A?", "now", False),
        LibraryAnswer("a", "A?", "then", True),
        LibraryAnswer("b", "B?", "b", False),
    ),
    (),
    "0" * 64,
)


def tops(*pairs: tuple[float, Outcome]) -> list[TopAnswer]:
    return [TopAnswer(AskedQuestion(str(place), "a"), 0, *pair) for place, pair in enumerate(pairs)]


RIGHT, STALE, WRONG = Outcome.RIGHT, Outcome.STALE, Outcome.WRONG
FIVE = tops((0.9, RIGHT), (0.8, STALE), (0.7, RIGHT), (0.6, RIGHT), (0.5, WRONG))


def test_what_an_answer_is():
    asked = AskedQuestion("A, please?", "a")
    assert [outcome_of(asked, LIBRARY, place) for place in range(3)] == [RIGHT, STALE, WRONG]
    assert outcome_of(AskedQuestion("C?", None), LIBRARY, 0) is WRONG


def test_figures_are_counted():
    found = figures_at(FIVE, 0.65)
    assert (found.filled, found.right, found.stale, found.wrong, found.withheld) == (3, 2, 1, 0, 1)
    assert (found.precision, found.coverage, found.abstention) == (pytest.approx(2 / 3), 0.6, 0.4)
    # Wilson's interval of 2 out of 3, from a table.
    assert (found.precision_low, found.precision_high) == (
        pytest.approx(0.2077, abs=1e-4),
        pytest.approx(0.9385, abs=1e-4),
    )
    nothing = figures_at(FIVE, None)
    assert (nothing.filled, nothing.precision, nothing.coverage, nothing.withheld) == (0, None, 0.0, 3)


def test_the_lowest_good_threshold_is_chosen():
    assert choose_threshold(FIVE, 0.75) == 0.6
    assert choose_threshold(FIVE, 0.9) == 0.9
    assert choose_threshold(FIVE[1:], 0.9) is None


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from(list(Outcome))), min_size=1),
    st.floats(0, 1),
)
def test_a_chosen_threshold_keeps_its_promise_on_dev(pairs, target):
    dev = tops(*pairs)
    threshold = choose_threshold(dev, target)
    precisions = [each.precision for each in curve_of(dev)]
    if threshold is None:
        assert all(each < target for each in precisions)
    else:
        assert figures_at(dev, threshold).precision >= target


def test_the_packaged_library_is_what_it_says():
    library = load_library(PACKAGED_LIBRARY)
    assert len(library.asked) >= 90
    assert sum(each.is_superseded for each in library.answers) >= 10
    assert sum(each.topic is None for each in library.asked) >= 20
    dev, test = library.questions(Split.DEV, 42), library.questions(Split.TEST, 42)
    assert {*dev, *test} == {*library.asked}
    assert not {each.topic for each in dev if each.topic} & {each.topic for each in test if each.topic}
    assert len(library.without_superseded().answers) == len({each.topic for each in library.answers})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name = 'x'", "Field required"),
        ("name = [", "no TOML"),
        (
            "name='x'\nunanswered=['Q?','Q?']\n"
            + "".join(f"[[topic]]\nid='{name}'\nquestion='q'\nanswer='a'\nasked=['{name}?']\n" for name in "ab"),
            "twice",
        ),
    ],
)
def test_a_library_that_is_none_is_refused(tmp_path: Path, content: str, message: str):
    file = tmp_path / "library.toml"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        load_library(file)


def test_the_picture_shows_both_curves():
    chosen = figures_at(FIVE, 0.65)
    picture = curve_picture(curve_of(FIVE), curve_of(FIVE[1:]), chosen, figures_at(FIVE[1:], None))
    root = ElementTree.fromstring(picture)
    assert root.tag.endswith("svg")
    assert picture.count("<polyline") >= 2
    assert picture.count("<circle") == 1
    assert "coverage" in picture
