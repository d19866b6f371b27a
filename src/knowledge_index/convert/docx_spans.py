"""Tidies text and keeps positions in it: each function returns the text and where the positions are then."""

import itertools
import re
import unicodedata
from bisect import bisect_right

from knowledge_index.convert.normalise import normal_characters


def stripped(text: str, positions: list[int]) -> tuple[str, list[int]]:
    """The text without empty lines at its ends."""
    kept = text.strip("\n")
    ahead = len(text) - len(text.lstrip("\n"))
    return kept, [min(max(position - ahead, 0), len(kept)) for position in positions]


def substituted(text: str, pattern: re.Pattern[str], replacement: str, positions: list[int]) -> tuple[str, list[int]]:
    """The text with each match replaced, and where the positions are then."""
    if not positions:
        return pattern.sub(replacement, text), positions
    matches = [(match.start(), match.end()) for match in pattern.finditer(text)]
    if not matches:
        return text, positions
    starts = [start for start, _ in matches]
    new_starts, shift = [], 0
    for start, end in matches:
        new_starts.append(start - shift)
        shift += end - start - len(replacement)

    def moved(position: int) -> int:
        index = bisect_right(starts, position) - 1
        if index < 0:
            return position
        start, end = matches[index]
        if position < end:
            return new_starts[index] + min(position - start, len(replacement))
        return new_starts[index] + len(replacement) + position - end

    return pattern.sub(replacement, text), [moved(position) for position in positions]


def with_normal_characters(text: str, positions: list[int]) -> tuple[str, list[int]]:
    """Each stretch between positions in normal characters; a position inside a composed character moves behind it."""
    if not positions:
        return normal_characters(text), positions
    cuts = sorted({0, *positions, len(text)})
    done: list[str] = []
    # The last character with what combines with it: all that the next stretch can still change.
    tail, length = "", 0
    new_position = {0: 0}
    for start, end in itertools.pairwise(cuts):
        piece = normal_characters(text[start:end])
        while piece and tail and (joined := normal_characters(tail + piece[0])) != tail + piece[0]:
            length += len(joined) - len(tail)
            new_position[start] = length
            tail, piece = joined, piece[1:]
        length += len(piece)
        new_position[end] = length
        stretch = tail + piece
        base = len(stretch) - 1
        while base > 0 and unicodedata.combining(stretch[base]):
            base -= 1
        done.append(stretch[: max(base, 0)])
        tail = stretch[max(base, 0) :]
    return "".join(done) + tail, [new_position[position] for position in positions]
