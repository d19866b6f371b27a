"""Offsets of a converted text as offsets of the original that it was made from."""

import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.domain.errors import InputError

_BLANK_CATEGORIES = frozenset({"Zs", "Zl", "Zp"})
_BLANK_CONTROLS = frozenset("\t\n\x0b\f\r\x85")
# Control and format characters, surrogates, code points that stand for nothing: what no reader sees.
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn"})


@dataclass
class _Letter:
    """A visible character with the marks on it, in canonical decomposition, and where it stands in its text."""

    text: str
    start: int
    end: int


class OffsetMap:
    """Maps spans of a converted text onto its original.

    A converter may change white space and invisible characters, and may compose or decompose what is left. So both
    texts are reduced to their letters, each with the place it came from. Where both reductions are equal, the n-th
    letter of one is the n-th of the other, which is all that the map uses; where they are not, no map is made.
    """

    def __init__(self, original: str, converted: str, where: str) -> None:
        """Line both texts up.

        Raises:
            InputError: they differ in more than white space, invisible characters and composition.
        """
        letters, converted_letters = _letters(original), _letters(converted)
        if [each.text for each in letters] != [each.text for each in converted_letters]:
            raise InputError(
                f"{where}: the converter changed more than white space and composition, so that offsets into its text "
                "cannot be told in the eval set's; make the set from converted texts, with 'ki spans adapt'"
            )
        self._original = [Span(each.start, each.end) for each in letters]
        self._starts = [each.start for each in converted_letters]
        self._ends = [each.end for each in converted_letters]

    def original_span(self, start: int, end: int) -> Span | None:
        """The span from the first to the last letter of ``[start:end]``, taken whole; None where it has none."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end) - 1
        if first > last or start >= end:
            return None
        return Span(self._original[first].start, self._original[last].end)


def _letters(text: str) -> list[_Letter]:
    letters: list[_Letter] = []
    takes_marks = False
    for place, character in enumerate(text):
        category = unicodedata.category(character)
        if category in _BLANK_CATEGORIES or character in _BLANK_CONTROLS:
            takes_marks = False
        elif category not in _INVISIBLE_CATEGORIES:
            for part in character if character.isascii() else unicodedata.normalize("NFD", character):
                if takes_marks and unicodedata.combining(part):
                    letters[-1].text += part
                    letters[-1].end = place + 1
                else:
                    letters.append(_Letter(part, place, place + 1))
                    takes_marks = True
    for letter in letters:
        # Marks may have come in any order.
        letter.text = unicodedata.normalize("NFD", letter.text)
    return letters
