"""When what is missing is believed to be gone."""

import pytest

from knowledge_index.catalog.records import DeletionHold
from knowledge_index.sources.disappearance import Verdict, judge


def judged(
    missing: range | list[int],
    known_count: int,
    before: DeletionHold | None = None,
    *,
    confirmed: bool = False,
    counts: bool = True,
) -> Verdict:
    return judge(missing, known_count, before, at="now", confirmed=confirmed, counts=counts)


@pytest.mark.parametrize(
    ("missing", "known", "is_held"),
    [
        (1, 2, False),
        (19, 20, False),
        (10, 20, False),
        (10, 21, False),
        (11, 21, True),
        (11, 22, False),
        (12, 22, True),
        (500, 1000, False),
        (501, 1000, True),
        (1, 1, True),
        (20, 20, True),
        (1000, 1000, True),
    ],
)
def test_all_or_more_than_half_of_more_than_twenty_is_a_mass(missing: int, known: int, is_held: bool) -> None:
    verdict = judged(range(missing), known)
    ids = frozenset(range(missing))
    assert verdict == (Verdict(frozenset(), DeletionHold("now", 1, ids)) if is_held else Verdict(ids, None))


def test_the_third_scan_that_agrees_is_believed() -> None:
    ids = frozenset({1, 2})
    assert judged([1, 2], 2, DeletionHold("then", 1, ids)).hold == DeletionHold("then", 2, ids)
    assert judged([1, 2], 2, DeletionHold("then", 2, ids)) == Verdict(ids, None)


@pytest.mark.parametrize("missing", [[1], [1, 2, 3], [2, 3]])
def test_a_scan_that_misses_others_begins_anew_and_the_first_moment_stays(missing: list[int]) -> None:
    verdict = judged(missing, 30, DeletionHold("then", 2, frozenset({1, 2})))
    assert verdict == Verdict(frozenset(), DeletionHold("then", 1, frozenset(missing)))


def test_a_scan_that_finds_all_again_ends_the_hold() -> None:
    assert judged([], 2, DeletionHold("then", 2, frozenset({1, 2}))) == Verdict(frozenset(), None)


def test_what_an_operator_confirms_is_believed_at_once() -> None:
    for before in (None, DeletionHold("then", 1, frozenset({1}))):
        assert judged([1, 2], 2, before, confirmed=True) == Verdict(frozenset({1, 2}), None)


def test_a_scan_that_does_not_count_begins_a_hold_and_brings_it_no_further() -> None:
    ids = frozenset({1, 2})
    assert judged([1, 2], 2, counts=False).hold == DeletionHold("now", 1, ids)
    assert judged([1, 2], 2, DeletionHold("then", 2, ids), counts=False).hold == DeletionHold("then", 2, ids)
    assert judged([], 2, DeletionHold("then", 2, ids), counts=False).hold is None
