"""Writes out the states of a Word file from its paragraphs and rows, and where each tracked change stands."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from knowledge_index.convert.docx_blocks import Block, Paragraph, Revision, Revisions, Row, deciding, stands_in
from knowledge_index.convert.docx_numbering import Counters, Numbering
from knowledge_index.convert.docx_spans import stripped, substituted, with_normal_characters
from knowledge_index.convert.normalise import TRAILING_BLANKS, normal_characters
from knowledge_index.domain.documents import ChangeKind, TextState, TrackedChange

CELL_SEPARATOR = " | "
_GLYPHS = {
    ChangeKind.INSERTION: "+",
    ChangeKind.DELETION: "-",
    ChangeKind.MOVED_TO: ">",
    ChangeKind.MOVED_FROM: "<",
}
_PARAGRAPH_SIGN = "¶"
_CELL_END = re.compile(
    rf"(?:\[[{re.escape(''.join(_GLYPHS.values()))}]{_PARAGRAPH_SIGN}.\]|{_PARAGRAPH_SIGN}(.\]))\n\Z"
)
_WHITE_SPACE = re.compile(r"\s+")
_ENDS = re.compile(r"\A\s+|\s+\Z")
# Layout by empty paragraphs says no more than one of them.
_EMPTY_LINES = re.compile(r"\n{3,}")
# Each with the signs without which there is nothing to find, which is quicker to know than to search by pattern.
_TIDYING = (
    (TRAILING_BLANKS, "", (" \n", "\t\n", " \f", "\t\f")),
    (_EMPTY_LINES, "\n\n", ("\n\n\n",)),
)


@dataclass(frozen=True)
class Story:
    """Content that is read in one go and numbered by itself."""

    blocks: Sequence[Block]


@dataclass(slots=True)
class _Record:
    """A tracked change while the text grows; ``words`` are those that do not stand in it."""

    revision: Revision
    start: int
    end: int
    words: list[str] = field(default_factory=list)


class _Text(ABC):
    """A state's text as it grows."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.records: list[_Record] = []

    def write(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def label(self, text: str) -> None:
        """A list number, which nobody typed."""
        self.write(text)

    @abstractmethod
    def add(self, text: str, revisions: Revisions) -> None:
        """Words with the changes around them."""

    def mark(self, revisions: Revisions) -> None:
        """The mark that ends the line."""
        self.write("\n")

    def lost_mark(self, revisions: Revisions) -> None:
        """A mark that this state does not have: the next paragraph goes on in the same line."""
        del revisions

    def new_line(self) -> None:
        """The end of a line without a mark of its own."""
        self.write("\n")

    def run_on(self) -> None:
        """Separate what a hidden mark separates."""
        if self.parts and not self.parts[-1][-1:].isspace():
            self.write(" ")

    def close(self) -> None:
        """End what is open, where a state keeps anything open."""
        return

    def join_cells(self, cells: Sequence["_Text"], revisions: Revisions) -> None:
        """Cells become one line; empty ones leave no trace."""
        line_start, written = self.length, False
        for cell in cells:
            cell.close()
            text, moved = "".join(cell.parts), _positions(cell.records)
            for pattern, replacement in ((_WHITE_SPACE, " "), (_ENDS, "")):
                text, moved = substituted(text, pattern, replacement, moved)
            if text:
                if written:
                    self.write(CELL_SEPARATOR)
                written = True
            _move(cell.records, [self.length + position for position in moved])
            if text:
                self.write(text)
        self._take_records(cells, revisions, line_start)
        if written:
            self.write("\n")

    def _take_records(self, cells: Sequence["_Text"], revisions: Revisions, line_start: int) -> None:
        del cells, revisions, line_start


class _Original(_Text):
    def add(self, text: str, revisions: Revisions) -> None:
        if stands_in(revisions, TextState.ORIGINAL):
            self.write(text)


class _Current(_Text):
    """The indexed text, with a record for each run of words under one change; a record ends with its paragraph."""

    def __init__(self) -> None:
        super().__init__()
        self._open: _Record | None = None
        # A changed mark has a record of its own only where no words beside it are part of the same change.
        self._lone_mark: _Record | None = None

    def add(self, text: str, revisions: Revisions) -> None:
        if not revisions:
            self._open = self._lone_mark = None
            self.write(text)
            return
        revision = deciding(revisions)
        if self._open is None or self._open.revision != revision:
            if self._lone_mark is not None and self._lone_mark.revision == revision:
                self.records.pop()
            self._open = _Record(revision, self.length, self.length)
            self.records.append(self._open)
        self._lone_mark = None
        if stands_in(revisions, TextState.CURRENT):
            self.write(text)
            self._open.end = self.length
        else:
            self._open.words.append(text)

    def mark(self, revisions: Revisions) -> None:
        self._end_with("\n", revisions)

    def lost_mark(self, revisions: Revisions) -> None:
        self._end_with("\n", revisions)

    def new_line(self) -> None:
        self.close()
        self.write("\n")

    def close(self) -> None:
        self._open = self._lone_mark = None

    def _end_with(self, mark: str, revisions: Revisions) -> None:
        before = len(self.records)
        self.add(mark, revisions)
        self._lone_mark = self.records[-1] if len(self.records) > before else None
        self._open = None

    def _take_records(self, cells: Sequence[_Text], revisions: Revisions, line_start: int) -> None:
        self.close()
        inside = [record for cell in cells for record in cell.records]
        if not revisions:
            self.records.extend(inside)
            return
        # A row that came or went as a whole is one change, whatever was recorded for each of its cells.
        revision = deciding(revisions)
        whole = _Record(revision, line_start, self.length)
        if not stands_in(revisions, TextState.CURRENT):
            words = (" ".join("".join(word for each in cell.records for word in each.words).split()) for cell in cells)
            whole.words.append(CELL_SEPARATOR.join(filter(None, words)))
            inside = []
        self.records.append(whole)
        self.records.extend(each for each in inside if each.revision[:2] != revision[:2])


class _Marked(_Text):
    """Both states in one text, with marks around what changed."""

    def __init__(self) -> None:
        super().__init__()
        self._open: ChangeKind | None = None

    def label(self, text: str) -> None:
        self.close()
        self.write(text)

    def add(self, text: str, revisions: Revisions) -> None:
        kind = deciding(revisions).kind if revisions else None
        if kind != self._open:
            self.close()
            if kind is not None:
                self.write(f"[{_GLYPHS[kind]}")
                self._open = kind
        self.write(text)

    def mark(self, revisions: Revisions) -> None:
        if revisions:
            self.add(_PARAGRAPH_SIGN, revisions)
        self.new_line()

    def new_line(self) -> None:
        self.close()
        self.write("\n")

    def join_cells(self, cells: Sequence[_Text], revisions: Revisions) -> None:
        for cell in cells:
            # The mark that ends a cell comes and goes with the cell, and is no change of its own.
            cell.close()
            cell.parts = [_CELL_END.sub(r"\1", "".join(cell.parts))]
        super().join_cells(cells, revisions)

    def close(self) -> None:
        if self._open is not None:
            self.write(f"{_GLYPHS[self._open]}]")
            self._open = None


_TEXTS: dict[TextState, Callable[[], _Text]] = {
    TextState.CURRENT: _Current,
    TextState.ORIGINAL: _Original,
    TextState.MARKED: _Marked,
}


def written(stories: Sequence[Story], state: TextState, numbering: Numbering) -> tuple[str, tuple[TrackedChange, ...]]:
    """The text of a state in normal form, and for ``CURRENT`` the changes in order of place.

    ``MARKED`` takes its list numbers from the other two states, which have to be written first.
    """
    text = _TEXTS[state]()
    for story in stories:
        _Writing(state, numbering).blocks(story.blocks, text)
        text.close()
    return _finished("".join(text.parts), text.records)


class _Writing:
    """Writes one story in one state."""

    def __init__(self, state: TextState, numbering: Numbering) -> None:
        self._state = state
        self._counters = Counters(numbering)
        # Text boxes are numbered apart from the text that they float over.
        self._box_counters = Counters(numbering)

    def blocks(self, blocks: Sequence[Block], text: _Text) -> None:
        line: list[Paragraph] = []
        for block in blocks:
            if isinstance(block, Row):
                self._line(line, text)
                line = []
                cells = []
                for cell in block.cells:
                    cells.append(_TEXTS[self._state]())
                    self.blocks(cell, cells[-1])
                text.join_cells(cells, block.revisions)
            elif not line and not block.mark and not block.runs_on:
                self._plain_line(block, text)
            else:
                line.append(block)
                if not block.runs_on and stands_in(block.mark, self._state):
                    self._line(line, text)
                    line = []
        self._line(line, text)

    def _plain_line(self, paragraph: Paragraph, text: _Text) -> None:
        """What :meth:`_line` does for one paragraph whose mark nobody changed, which nearly all are."""
        if paragraph.place is not None or paragraph.original_place is not None:
            self._label((paragraph,), (True,), 0, text)
        for piece, revisions in paragraph.pieces:
            text.add(piece, revisions)
        text.mark(())
        if paragraph.boxes:
            self._boxes(paragraph.boxes, text)

    def _line(self, paragraphs: Sequence[Paragraph], text: _Text) -> None:
        """Paragraphs that stand in one line: all but the last have a mark that is hidden or not there in this state."""
        if not paragraphs:
            return
        ends = [stands_in(each.mark, self._state) for each in paragraphs]
        has_words = any(stands_in(revisions, self._state) for each in paragraphs for _, revisions in each.pieces)
        begins = True
        for index, paragraph in enumerate(paragraphs):
            if begins and (has_words or any(ends)):
                self._label(paragraphs, ends, index, text)
            begins = ends[index]
            for piece, revisions in paragraph.pieces:
                text.add(piece, revisions)
            if not ends[index]:
                text.lost_mark(paragraph.mark)
            elif index < len(paragraphs) - 1:
                text.run_on()
        if ends[-1] and not paragraphs[-1].runs_on:
            text.mark(paragraphs[-1].mark)
        elif has_words or any(ends):
            text.new_line()
        else:
            text.close()
        for paragraph in paragraphs:
            if paragraph.boxes:
                self._boxes(paragraph.boxes, text)

    def _label(self, paragraphs: Sequence[Paragraph], ends: Sequence[bool], first: int, text: _Text) -> None:
        """The number of the paragraph that is left of those joined: its mark, the last one, keeps its properties."""
        last = next((index for index in range(first, len(ends)) if ends[index]), len(ends) - 1)
        owner = paragraphs[last]
        if self._state is TextState.MARKED:
            label = owner.labels.get(TextState.CURRENT, owner.labels.get(TextState.ORIGINAL, ""))
        else:
            place = owner.place if self._state is TextState.CURRENT else owner.original_place
            label = "" if place is None else self._counters.next_label(place)
            owner.labels[self._state] = label
        if label:
            text.label(label)

    def _boxes(self, boxes: Sequence[Block], text: _Text) -> None:
        text.close()
        outer, self._counters = self._counters, self._box_counters
        self.blocks(boxes, text)
        self._counters = outer


def _finished(text: str, records: Sequence[_Record]) -> tuple[str, tuple[TrackedChange, ...]]:
    text, positions = with_normal_characters(text, _positions(records))
    for pattern, replacement, signs in _TIDYING:
        if any(sign in text for sign in signs):
            text, positions = substituted(text, pattern, replacement, positions)
    text, positions = stripped(text, positions)
    _move(records, positions)
    changes = (_change(record, text) for record in sorted(records, key=lambda record: record.start))
    return text, tuple(change for change in changes if change.text)


def _change(record: _Record, text: str) -> TrackedChange:
    kind, author, date = record.revision
    if kind in (ChangeKind.INSERTION, ChangeKind.MOVED_TO):
        words = text[record.start : record.end]
        words = words.rstrip("\n") or words
        return TrackedChange(kind, author, date, record.start, record.start + len(words), words)
    words = normal_characters("".join(record.words))
    return TrackedChange(kind, author, date, record.start, record.start, words.rstrip("\n") or words)


def _positions(records: Sequence[_Record]) -> list[int]:
    return [position for record in records for position in (record.start, record.end)]


def _move(records: Sequence[_Record], positions: Sequence[int]) -> None:
    for index, record in enumerate(records):
        record.start, record.end = positions[2 * index], positions[2 * index + 1]
