"""Reading order: which of a page's lines is read before which.

A PDF states where text stands; the order of its file is that of the program that wrote it. That order is kept where it
can be one: it tells columns from the rows of a table, and signature blocks side by side from each other, which places
cannot. It is mended in two cases. Blocks that stand above others are read first (a header that was drawn last); and
where the file goes back and forth between two stacks of full lines, the left stack is read before the right one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

# A gutter is at least as wide as this share of the height of its lines; a blank between words is about a quarter.
_GUTTER_PER_HEIGHT = 0.9
# Columns of prose, and not the cells of a table or the labels of a list: so many lines, of so many characters, of which
# so large a share reaches across so much of the column.
_MIN_COLUMN_LINES = 4
_MIN_MEDIAN_CHARS = 15
_FULL_LINES_SHARE = 0.5
_FULL_LINE_WIDTH = 0.75
# A blank that many lines high ends a column: what comes then may be a footer, narrow enough to fit into the gutter.
_COLUMN_ENDS_PER_HEIGHT = 3.0
# Two lines overlap when they share more than this part of the lower one's height.
_OVERLAP = 0.5


@dataclass(frozen=True)
class Piece:
    """Text without a wide gap in it, and its box in points; the origin is the lower left corner of the page."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        """The height of the box."""
        return self.top - self.bottom


@dataclass(frozen=True)
class _Block:
    """Lines that are read one after the other; ``place`` is where the file has the first of them."""

    place: float
    lines: tuple[str, ...]
    bottom: float
    top: float

    def above(self, other: "_Block") -> bool:
        return self.bottom >= other.top - _OVERLAP * (other.top - other.bottom) / len(other.lines)


def reading_order(lines: Sequence[Sequence[Piece]]) -> list[str]:
    """The texts of a page's lines in reading order; ``lines`` come in the order of the file, pieces within as well."""
    place_of = {id(piece): place for place, line in enumerate(lines) for piece in line}
    column_blocks: list[_Block] = []
    taken: set[int] = set()
    for left, right in _interleaved_columns(rows_of([piece for line in lines for piece in line]), place_of):
        pieces = [piece for row in (*left, *right) for piece in row]
        place = min(place_of[id(piece)] for piece in pieces)
        column_blocks += [_block(left, place), _block(right, place + 0.5)]
        taken |= {id(piece) for piece in pieces}
    starts = {int(block.place) for block in column_blocks}
    blocks = [*column_blocks, *_blocks(lines, taken, starts)]
    return [text for block in _from_the_top(blocks) for text in block.lines]


def _blocks(lines: Sequence[Sequence[Piece]], taken: set[int], starts: set[int]) -> list[_Block]:
    """The lines outside columns, in blocks that go down the page; a column that begins between them parts them."""
    blocks: list[_Block] = []
    held: list[list[Piece]] = []
    first = 0
    for place, line in enumerate(lines):
        free = [piece for piece in line if id(piece) not in taken]
        if held and (place in starts or (free and _goes_up(held[-1], free))):
            blocks.append(_block(held, first))
            held = []
        if free:
            first = first if held else place
            held.append(free)
    return [*blocks, *([_block(held, first)] if held else [])]


def _goes_up(line: Sequence[Piece], following: Sequence[Piece]) -> bool:
    height = min(max(piece.height for piece in each) for each in (line, following))
    return min(piece.bottom for piece in following) > min(piece.bottom for piece in line) + height


def _block(rows: Sequence[Sequence[Piece]], place: float) -> _Block:
    pieces = [piece for row in rows for piece in row]
    return _Block(
        place,
        tuple(" ".join(piece.text for piece in row) for row in rows),
        min(piece.bottom for piece in pieces),
        max(piece.top for piece in pieces),
    )


def _from_the_top(blocks: Sequence[_Block]) -> list[_Block]:
    """In the order of the file, but each block behind those that stand wholly above it."""
    waiting = sorted(blocks, key=lambda block: block.place)
    ordered: list[_Block] = []
    while waiting:
        free = (block for block in waiting if not any(each is not block and each.above(block) for each in waiting))
        chosen = next(free, waiting[0])
        waiting.remove(chosen)
        ordered.append(chosen)
    return ordered


def rows_of(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces at one height are one row; rows from the top down, pieces from the left."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda each: (-(each.top + each.bottom), each.left)):
        if rows and _same_row(rows[-1], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _same_row(row: Sequence[Piece], piece: Piece) -> bool:
    tallest = max(row, key=lambda each: each.height)
    overlap = min(tallest.top, piece.top) - max(tallest.bottom, piece.bottom)
    return overlap > _OVERLAP * min(tallest.height, piece.height) > 0


_Stack = list[list[Piece]]


def _interleaved_columns(rows: Sequence[list[Piece]], place_of: dict[int, int]) -> list[tuple[_Stack, _Stack]]:
    """Pairs of columns, each a list of lines, between which the file goes back and forth."""
    found: list[tuple[_Stack, _Stack]] = []
    place = 0
    while place < len(rows):
        end, gutter = _gutter_run(rows, place) if len(rows[place]) > 1 else (place, None)
        if gutter is not None:
            low, high = gutter
            left = [part for row in rows[place:end] if (part := [each for each in row if each.right <= low])]
            right = [part for row in rows[place:end] if (part := [each for each in row if each.left >= high])]
            if _is_column(left) and _is_column(right) and _back_and_forth(left, right, place_of):
                found.append((left, right))
                place = end
                continue
        place += 1
    return found


def _gutter_run(rows: Sequence[list[Piece]], start: int) -> tuple[int, tuple[float, float] | None]:
    """The longest run of rows from ``start`` that one blank strip goes through: its end, and the strip."""
    best: tuple[int, tuple[float, float] | None] = (start, None)
    for one, other in pairwise(rows[start]):
        strip = (one.right, other.left)
        width = _GUTTER_PER_HEIGHT * max(one.height, other.height)
        end = start
        while end < len(rows) and (narrowed := _free_strip(rows[end], strip, width)) is not None:
            if end > start and _distance(rows[end - 1], rows[end]) > _COLUMN_ENDS_PER_HEIGHT * one.height:
                break
            strip, end = narrowed, end + 1
        if end > best[0]:
            best = end, strip
    return best


def _distance(row: Sequence[Piece], following: Sequence[Piece]) -> float:
    return min(piece.bottom for piece in row) - max(piece.top for piece in following)


def _free_strip(row: Sequence[Piece], strip: tuple[float, float], width: float) -> tuple[float, float] | None:
    """What a row leaves free of a strip, or None where that is less than ``width``."""
    low, high = strip
    for piece in row:
        if piece.right <= low or piece.left >= high:
            continue
        # The piece reaches into the strip from one side, or covers it.
        if piece.left <= low:
            low = piece.right
        else:
            high = piece.left
    return (low, high) if high - low >= width else None


def _is_column(rows: Sequence[Sequence[Piece]]) -> bool:
    if len(rows) < _MIN_COLUMN_LINES:
        return False
    width = max(row[-1].right for row in rows) - min(row[0].left for row in rows)
    full = sum(1 for row in rows if row[-1].right - row[0].left >= _FULL_LINE_WIDTH * width)
    chars = median(sum(len(piece.text) for piece in row) for row in rows)
    return full >= _FULL_LINES_SHARE * len(rows) and chars >= _MIN_MEDIAN_CHARS


def _back_and_forth(left: _Stack, right: _Stack, place_of: dict[int, int]) -> bool:
    """Whether the file changes sides about as often as there are lines."""
    sides = sorted(
        (place_of[id(piece)], side) for side, rows in enumerate((left, right)) for row in rows for piece in row
    )
    changes = sum(1 for one, other in pairwise(sides) if one[1] != other[1])
    return changes >= min(len(left), len(right))
