"""The rows of one worksheet, streamed: what has no value costs no more than being unpacked."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from knowledge_index.convert.ooxml import OoxmlPackage, repaired_xml
from knowledge_index.domain.errors import ConversionError

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
_TAGS = tuple(namespace + tag for namespace in (_MAIN, _STRICT) for tag in ("row", "mergeCell"))
_PIECE_BYTES = 1 << 20
# Sheets formatted down to the last row hold millions of cells without a value; only what names its place may go, since
# the place of the others is counted.
_EMPTY_CELL = re.compile(rb"<c\s(?=[^<>]*\br=)[^<>]*/>")
_EMPTY_ROW = re.compile(rb"<row\s(?=[^<>]*\br=)[^<>]*(?:/>|(?<!/)>\s*</row>)")
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True)
class CellSource:
    """One cell as the file has it.

    ``row`` and ``column`` count from 1. ``value`` is the stored or inline text, None where nothing is cached;
    ``formula`` is without its equals sign, and empty where the cell shares that of another cell,
    ``shared_index`` saying which.
    """

    row: int
    column: int
    kind: str
    style: int
    value: str | None
    formula: str | None
    shared_index: str | None


@dataclass(frozen=True)
class MergedRange:
    """A block of cells shown as one; only the first has something to show."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int

    def hides(self, row: int, column: int) -> bool:
        """Whether the cell lies under the merged one."""
        inside = self.first_row <= row <= self.last_row and self.first_column <= column <= self.last_column
        return inside and (row, column) != (self.first_row, self.first_column)


@dataclass(frozen=True)
class SheetSource:
    """The cells that hold something, by row and column, and the merged ranges."""

    cells: tuple[CellSource, ...]
    merged: tuple[MergedRange, ...]

    def shown_cells(self) -> Iterator[CellSource]:
        """The cells that do not lie under a merged one."""
        # One sweep over both, by row: a price list may have thousands of merged ranges and a million cells.
        waiting = sorted(self.merged, key=lambda each: each.first_row, reverse=True)
        active: list[MergedRange] = []
        row = 0
        for cell in self.cells:
            if cell.row != row:
                row = cell.row
                while waiting and waiting[-1].first_row <= row:
                    active.append(waiting.pop())
                active = [each for each in active if each.last_row >= row]
            if not any(each.hides(cell.row, cell.column) for each in active):
                yield cell


def read_sheet(package: OoxmlPackage, part: str) -> SheetSource:
    """The cells of a worksheet part; a repair is noted in the package.

    Raises:
        ConversionError: ``damaged`` or ``too_large``.
    """
    from lxml import etree

    try:
        return _read(package, part, lambda piece: piece)
    except etree.XMLSyntaxError:
        pass
    found: set[str] = set()

    def repaired(piece: bytes) -> bytes:
        content, wrong = repaired_xml(piece)
        found.update(wrong)
        return content

    try:
        sheet = _read(package, part, repaired)
    except etree.XMLSyntaxError as error:
        raise ConversionError("damaged", f"part {part} is no well-formed XML: {error}") from error
    package.note_repair(part, found)
    return sheet


def position(reference: str) -> tuple[int, int] | None:
    """Row and column, from 1, of a reference such as ``B3``; None where it is none."""
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(found[2]), column


def unescaped(text: str) -> str:
    """Text with the escapes by which a sheet stores control characters taken out."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def rich_text(element: Any) -> str:
    """The text of a shared or inline string or a comment, without its phonetic guides."""
    return "".join(
        each.text or ""
        for each in element.iter("{*}t")
        if not any(local_name(parent) == "rPh" for parent in each.iterancestors())
    )


def local_name(element: Any) -> str:
    """The tag without its namespace; empty for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _read(package: OoxmlPackage, part: str, change: Callable[[bytes], bytes]) -> SheetSource:
    cells: list[CellSource] = []
    merged: list[MergedRange] = []
    row_number = 0
    for element in _elements(package, part, change):
        if local_name(element) == "mergeCell":
            first, _, last = element.get("ref", "").partition(":")
            corners = position(first), position(last)
            if corners[0] and corners[1]:
                merged.append(MergedRange(*corners[0], *corners[1]))
            continue
        stated = element.get("r", "")
        row_number = int(stated) if stated.isdecimal() else row_number + 1
        cells.extend(_row_cells(element, row_number))
    cells.sort(key=lambda cell: (cell.row, cell.column))
    return SheetSource(tuple(cells), tuple(merged))


def _elements(package: OoxmlPackage, part: str, change: Callable[[bytes], bytes]) -> Iterator[Any]:
    from lxml import etree

    parser = etree.XMLPullParser(
        events=("end",), tag=_TAGS, resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False
    )
    for piece in package.pieces(part, _PIECE_BYTES):
        # The parsers underneath know entities, and OOXML has no use for a document type.
        if b"<!DOCTYPE" in piece or "<!DOCTYPE".encode("utf-16-le") in piece:
            raise ConversionError("damaged", f"part {part} brings a document type, which OOXML forbids")
        parser.feed(change(_EMPTY_ROW.sub(b"", _EMPTY_CELL.sub(b"", piece))))
        for _, element in parser.read_events():
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    parser.close()


def _row_cells(row: Any, row_number: int) -> Iterator[CellSource]:
    column = 0
    for cell in row:
        if local_name(cell) != "c":
            continue
        place = position(cell.get("r", ""))
        column = place[1] if place else column + 1
        value: str | None = None
        formula: str | None = None
        shared_index: str | None = None
        for child in cell:
            match local_name(child):
                case "v":
                    value = child.text
                    if value is None and cell.get("t") == "str":
                        value = ""
                case "f":
                    formula = child.text or ""
                    shared_index = child.get("si") if child.get("t") == "shared" else None
                case "is":
                    value = rich_text(child)
        if value is not None or formula is not None:
            style = cell.get("s", "0")
            yield CellSource(
                row_number,
                column,
                cell.get("t", "n"),
                int(style) if style.isdecimal() else 0,
                value,
                formula,
                shared_index,
            )
