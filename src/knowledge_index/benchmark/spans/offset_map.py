"""Offsets of a converted text as offsets of the original that it was made from."""

import unicodedata

from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.domain.errors import InputError

# White space and what no reader sees: control and format characters, surrogates, code points that stand for nothing.
_IGNORED_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Cn"})


class OffsetMap:
    """Maps spans of a converted text onto its original.

    A converter may change white space and invisible characters, and may compose or decompose what is left. So both
    texts are reduced to their visible characters, canonically decomposed, each with the place it came from. Where both
    reductions are equal, the n-th visible character of one is the n-th of the other, which is all that the map uses;
    where they are not, no map is made.
    """

    def __init__(self, original: str, converted: str, where: str) -> None:
        """Line both texts up.

        Raises:
            InputError: they differ in more than white space, invisible characters and composition.
        """
        visible, self._origins = _reduced(original)
        converted_visible, converted_origins = _reduced(converted)
        if visible != converted_visible:
            raise InputError(
                f"{where}: the converter changed more than white space and composition, so that offsets into its text "
                "cannot be told in the eval set's; make the set from converted texts, with 'ki spans adapt'"
            )
        # first_visible[i]: how many visible characters stand before character i of the converted text.
        self._visible_before = [0] * (len(converted) + 1)
        for origin in converted_origins:
            self._visible_before[origin + 1] += 1
        for place in range(len(converted)):
            self._visible_before[place + 1] += self._visible_before[place]

    def original_span(self, start: int, end: int) -> Span | None:
        """The span from the first to the last visible character of ``[start:end]``; None where it has none."""
        first, last = self._visible_before[start], self._visible_before[end]
        if first == last:
            return None
        return Span(self._origins[first], self._origins[last - 1] + 1)


def _reduced(text: str) -> tuple[str, list[int]]:
    """The visible characters of a text, decomposed, and the place of each in the text."""
    characters: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        if character.isascii():
            if not character.isspace() and character.isprintable():
                characters.append(character)
                origins.append(place)
        elif unicodedata.category(character) not in _IGNORED_CATEGORIES:
            decomposed = unicodedata.normalize("NFD", character)
            characters.append(decomposed)
            origins.extend([place] * len(decomposed))
    return "".join(characters), origins
