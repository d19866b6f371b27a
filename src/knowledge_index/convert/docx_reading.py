"""Reads the XML of one story (body, header, notes) of a Word file into paragraphs and rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from knowledge_index.convert.docx_blocks import Block, Paragraph, Revision, Revisions, Row
from knowledge_index.convert.docx_numbering import Numbering, list_of
from knowledge_index.convert.docx_xml import NAMES, attribute, child_named, children_named, is_on, number_of
from knowledge_index.domain.documents import ChangeKind

_CHANGES = {
    "ins": ChangeKind.INSERTION,
    "del": ChangeKind.DELETION,
    "moveFrom": ChangeKind.MOVED_FROM,
    "moveTo": ChangeKind.MOVED_TO,
    "cellIns": ChangeKind.INSERTION,
    "cellDel": ChangeKind.DELETION,
}
_NOTES = frozenset({"footnoteReference", "endnoteReference"})
_NO_TEXT = frozenset(
    {"pPr", "rPr", "sdtPr", "sdtEndPr", "instrText", "delInstrText", "tblPr", "tblGrid", "trPr", "tcPr"}
)
_LITERALS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Symbol fonts map their glyphs into the private area, which means nothing without the font. These are the boxes that
# forms are ticked in, and the bullet.
_SYMBOLS = {
    "wingdings": {0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x78: "☒", 0xA8: "☐", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0xA7: "▪"},
    "wingdings 2": {0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐", 0x2A: "☐"},
    "symbol": {0xB7: "•"},
}
_PRIVATE_AREA = range(0xF000, 0xF100)


@dataclass
class Findings:
    """What was met on the way that concerns the file as a whole.

    ``notes`` maps (kind of reference, id) to the changes around the reference; a plain reference wins over a changed
    one. ``has_changes`` is set where the three states may differ, ``unread`` names content that is not read.
    """

    notes: dict[tuple[str, str], Revisions] = field(default_factory=dict)
    has_changes: bool = False
    unread: dict[str, None] = field(default_factory=dict)


class StoryReader:
    """Reads one story; complex fields may span its paragraphs."""

    def __init__(self, root: Any, numbering: Numbering, findings: Findings) -> None:
        self._numbering = numbering
        self._findings = findings
        # One entry for each open field: whether its result has begun, before which there are only instructions.
        self._fields: list[bool] = []
        self._open_instructions = 0
        # The note's own raised sign is not read, nor the blank between it and the note.
        self._after_note_sign = False
        self._ignores_fields = not _fields_are_balanced(root)

    def blocks(self, container: Any, revisions: Revisions = ()) -> list[Block]:
        """Paragraphs and rows in order, with content controls, custom XML and chosen alternatives opened up."""
        found: list[Block] = []
        for child in container:
            name = NAMES[child.tag]
            if name == "p":
                found.append(self._paragraph(child, revisions))
            elif name == "tbl":
                self._rows(child, revisions, found)
            elif name == "AlternateContent":
                found.extend(self.blocks(_chosen(child), revisions))
            elif name in _CHANGES:
                found.extend(self.blocks(child, self._under(child, name, revisions)))
            elif name in ("sdt", "sdtContent", "customXml"):
                found.extend(self.blocks(child, revisions))
            elif name == "altChunk":
                self._findings.unread["an embedded file that Word shows in the text (altChunk)"] = None
        return found

    def _rows(self, container: Any, revisions: Revisions, found: list[Block]) -> None:
        for child in container:
            name = NAMES[child.tag]
            if name == "tr":
                found.append(self._row(child, revisions))
            elif name in _CHANGES:
                self._rows(child, self._under(child, name, revisions), found)
            elif name in ("sdt", "sdtContent", "customXml"):
                self._rows(child, revisions, found)

    def _row(self, element: Any, revisions: Revisions) -> Row:
        own: Revisions = ()
        properties = child_named(element, "trPr")
        for child in () if properties is None else properties:
            if NAMES[child.tag] in ("ins", "del"):
                own = self._under(child, NAMES[child.tag], own)
        row = Row([], own)
        self._cells(element, revisions + own, row)
        return row

    def _cells(self, container: Any, revisions: Revisions, row: Row) -> None:
        for child in container:
            name = NAMES[child.tag]
            if name == "tc":
                around = revisions
                properties = child_named(child, "tcPr")
                for each in () if properties is None else properties:
                    if NAMES[each.tag] in ("cellIns", "cellDel"):
                        around = self._under(each, NAMES[each.tag], around)
                row.cells.append(self.blocks(child, around))
            elif name in _CHANGES:
                self._cells(child, self._under(child, name, revisions), row)
            elif name in ("sdt", "sdtContent", "customXml"):
                self._cells(child, revisions, row)

    def _paragraph(self, element: Any, revisions: Revisions) -> Paragraph:
        paragraph = Paragraph([], revisions)
        properties = child_named(element, "pPr")
        if properties is None:
            paragraph.place = paragraph.original_place = self._numbering.place(None, None, None)
        else:
            self._read_properties(properties, paragraph)
        self._inline(element, revisions, paragraph)
        return paragraph

    def _read_properties(self, properties: Any, paragraph: Paragraph) -> None:
        paragraph.place = paragraph.original_place = self._place(properties)
        for child in properties:
            name = NAMES[child.tag]
            if name == "rPr":
                for mark in child:
                    kind = NAMES[mark.tag]
                    if kind in _CHANGES:
                        paragraph.mark = self._under(mark, kind, paragraph.mark)
                    elif kind == "specVanish" and is_on(attribute(mark, "val")):
                        paragraph.runs_on = True
            elif name == "pPrChange":
                former = child_named(child, "pPr")
                paragraph.original_place = None if former is None else self._place(former)
            elif name == "numPr" and child_named(child, "ins") is not None:
                style = child_named(properties, "pStyle")
                paragraph.original_place = self._numbering.place(_value(style), None, None)
        if paragraph.place != paragraph.original_place:
            self._findings.has_changes = True

    def _place(self, properties: Any) -> Any:
        return self._numbering.place(_value(child_named(properties, "pStyle")), *list_of(properties))

    def _under(self, element: Any, name: str, revisions: Revisions) -> Revisions:
        self._findings.has_changes = True
        author, date = attribute(element, "author"), attribute(element, "date")
        return (*revisions, Revision(_CHANGES[name], author or None, date or None))

    def _inline(self, element: Any, revisions: Revisions, into: Paragraph) -> None:
        for child in element:
            name = NAMES[child.tag]
            if name == "t":
                self._add(child.text, revisions, into)
            elif name in _NO_TEXT:
                continue
            elif name in _LITERALS:
                self._add(_LITERALS[name], revisions, into)
            elif name in _CHANGES:
                self._inline(child, self._under(child, name, revisions), into)
            elif name == "fldChar":
                self._field_character(child, revisions, into)
            elif name == "delText":
                # Outside a deletion, where no program writes it, it is a deletion that nobody signed.
                gone = any(each.kind in (ChangeKind.DELETION, ChangeKind.MOVED_FROM) for each in revisions)
                self._add(child.text, revisions if gone else self._under(child, "del", revisions), into)
            elif name == "sym":
                self._add(_symbol(child), revisions, into)
            elif name in _NOTES:
                self._note(name, child, revisions)
            elif name in ("footnoteRef", "endnoteRef"):
                self._after_note_sign = True
            elif name == "txbxContent":
                self._box(child, revisions, into)
            elif name == "textpath":
                into.boxes.append(Paragraph([(child.get("string", ""), revisions)], revisions))
            elif name == "AlternateContent":
                self._inline(_chosen(child), revisions, into)
            else:
                self._inline(child, revisions, into)

    def _add(self, text: str | None, revisions: Revisions, into: Paragraph) -> None:
        if text and self._after_note_sign:
            text = text.lstrip()
            self._after_note_sign = not text
        if text and (self._ignores_fields or not self._open_instructions):
            into.pieces.append((text, revisions))

    def _field_character(self, element: Any, revisions: Revisions, into: Paragraph) -> None:
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            self._add(_form_field(element), revisions, into)
            self._fields.append(False)
            self._open_instructions += 1
        elif kind == "separate" and self._fields and not self._fields[-1]:
            self._fields[-1] = True
            self._open_instructions -= 1
        elif kind == "end" and self._fields:
            self._open_instructions -= not self._fields.pop()

    def _note(self, name: str, element: Any, revisions: Revisions) -> None:
        key = (name, attribute(element, "id") or "")
        if not revisions or key not in self._findings.notes:
            self._findings.notes[key] = revisions

    def _box(self, element: Any, revisions: Revisions, into: Paragraph) -> None:
        outer = self._fields, self._open_instructions
        self._fields, self._open_instructions = [], 0
        into.boxes.extend(self.blocks(element, revisions))
        self._fields, self._open_instructions = outer


def notes_in(root: Any) -> Iterator[tuple[str, Any]]:
    """Id and element of the notes of a part, without the lines that are drawn above them."""
    for child in root:
        if NAMES[child.tag] in ("footnote", "endnote") and (attribute(child, "type") or "normal") == "normal":
            yield attribute(child, "id") or "", child


def comments_in(root: Any) -> Iterator[tuple[str, Any]]:
    """Heading and element of the comments of a part."""
    for child in children_named(root, "comment"):
        author, date = attribute(child, "author") or "", attribute(child, "date") or ""
        yield f"[Comment{f' by {author}' if author else ''}{f', {date[:10]}' if date else ''}]", child


def _fields_are_balanced(root: Any) -> bool:
    """Whether each field that begins ends; if not, there is no telling instructions from results."""
    depth = 0
    for element in root.iter("{*}fldChar"):
        kind = attribute(element, "fldCharType")
        depth += (kind == "begin") - (kind == "end")
        if depth < 0:
            return False
    return depth == 0


def _chosen(alternatives: Any) -> Any:
    """The first alternative that has text: a text box stands in each, drawn anew and drawn for old programs."""
    branches = [child for child in alternatives if NAMES[child.tag] in ("Choice", "Fallback")]
    filled = (each for each in branches if any(NAMES[inner.tag] in ("t", "textpath") for inner in each.iter()))
    return next(filled, branches[0] if branches else ())


def _form_field(element: Any) -> str | None:
    """What a check box or a list of a form shows, which stands in its data and not in its result."""
    data = child_named(element, "ffData")
    if data is None:
        return None
    box = child_named(data, "checkBox")
    if box is not None:
        marks = [child_named(box, name) for name in ("checked", "default")]
        states = [is_on(attribute(mark, "val")) for mark in marks if mark is not None]
        return "☒" if states and states[0] else "☐"
    choices = child_named(data, "ddList")
    if choices is None:
        return None
    entries = [attribute(each, "val") or "" for each in children_named(choices, "listEntry")]
    numbers = [number_of(each, "val") for name in ("result", "default") for each in children_named(choices, name)]
    chosen = next((number for number in numbers if number is not None), 0)
    return entries[chosen] if 0 <= chosen < len(entries) else None


def _symbol(element: Any) -> str:
    try:
        code = int(attribute(element, "char") or "", 16)
    except ValueError:
        return ""
    font = _SYMBOLS.get((attribute(element, "font") or "").casefold(), {})
    glyph = code - 0xF000 if code in _PRIVATE_AREA else code
    if glyph in font:
        return font[glyph]
    return chr(code) if 0x20 <= code < 0xD800 else ""


def _value(element: Any | None) -> str | None:
    return None if element is None else attribute(element, "val")
