"""Shingles and their overlap against sets of word runs, and signatures that stay what they are."""

import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.pipeline.similarity import (
    overlap_of,
    pairs_to_compare,
    shingles_of,
    signature_of,
    words_of,
)

VOCABULARY = ["the", "seller", "delivers", "a", "crane", "to", "buyer", "in", "Köln"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=30)


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[place : place + 4]) for place in range(max(1, len(words) - 3))} if words else set()


@given(WORDS, WORDS)
def test_the_overlap_is_that_of_the_sets_of_four_words(one: list[str], other: list[str]) -> None:
    first, second = " ".join(one), ",\n".join(other)
    expected, overlap = (
        (runs(first), runs(second)),
        overlap_of(*(shingles_of(words_of(each)) for each in (first, second))),
    )
    shared, both = expected[0] & expected[1], expected[0] | expected[1]
    assert overlap.jaccard == (len(shared) / len(both) if expected[0] and expected[1] else 0)
    assert overlap.containment == (len(shared) / min(map(len, expected)) if expected[0] and expected[1] else 0)


def test_a_signature_is_the_same_on_every_machine() -> None:
    signature = signature_of(
        shingles_of(words_of("The seller delivers three cranes to the buyer at the quay in Köln."))
    )
    assert len(signature) == 64 * 4
    assert hashlib.sha256(signature).hexdigest()[:16] == "08606a3d0c5ba85f"


def test_only_what_resembles_each_other_is_compared() -> None:
    text = " ".join(f"word{number % 97} number{number}" for number in range(600))
    near, far = text.replace("number7 ", "other "), " ".join(f"strange{number} thing" for number in range(600))
    signatures = {key: [signature_of(shingles_of(words_of(each)))] for key, each in ((3, text), (1, near), (2, far))}
    assert pairs_to_compare(signatures, [1, 2, 3]) == {(1, 3)}
    assert pairs_to_compare(signatures, [3]) == {(1, 3)}
    assert pairs_to_compare(signatures, [2]) == set()
