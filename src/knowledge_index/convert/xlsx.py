"""Excel: every sheet, the cells as they are shown."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from knowledge_index.convert.normalise import converted
from knowledge_index.convert.number_format import BUILTIN_FORMATS, GENERAL, format_number, format_text
from knowledge_index.convert.ooxml import OoxmlPackage
from knowledge_index.convert.xlsx_comments import sheet_comments
from knowledge_index.convert.xlsx_sheet import CellSource, local_name, position, read_sheet, rich_text, unescaped
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_CELL_SEPARATOR = " | "
_SHEET_SEPARATOR = "\n\n"
_WORKBOOK = "xl/workbook.xml"
_RELATION_ID = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}id",
)


class XlsxConverter:
    """Each sheet's name as a line, then each row that shows something as a line, its cells joined by " | ".

    Kept: all sheets, hidden ones marked "(hidden)", hidden rows and columns unmarked; every row that holds something,
    whatever the stored dimension says; numbers and dates as their format shows them (see ``number_format``); the value
    last computed, or, where none is stored, the formula marked "[formula]"; of merged cells the one that is shown;
    comments and their replies with author, behind the row; the text of text boxes, behind the cells.
    Dropped: formulas that have a value, colours and borders, charts, pictures, print headers, macros.
    """

    name = "xlsx"
    version = "2"
    suffixes = frozenset({".xlsm", ".xlsx"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert an .xlsx or .xlsm.

        Raises:
            ConversionError: ``encrypted``, ``damaged``, ``too_large`` or ``empty``.
        """
        workbook = _Workbook(OoxmlPackage(data))
        document = converted(workbook.text(), workbook.title(), self.name, self.version)
        return replace(document, degraded=workbook.degradations())


CONVERTER = XlsxConverter()


@dataclass(frozen=True)
class _Sheet:
    name: str
    hidden: bool
    part: str | None


class _Workbook:
    """One workbook; what had to be repaired or is missing gathers in ``degraded``."""

    def __init__(self, package: OoxmlPackage) -> None:
        self.degraded: list[str] = []
        self._package = package
        self._part = next((part for _, kind, part in self._relations("") if kind == "officeDocument"), "")
        if not package.has(self._part):
            if not package.has(_WORKBOOK):
                raise ConversionError("damaged", "the package holds no workbook; it may be another kind of file")
            self.degraded.append("the package does not say which part is the workbook")
            self._part = _WORKBOOK
        self._root = self._package.parse(self._part)
        self._related = self._relations(self._part)
        properties = self._root.find("{*}workbookPr")
        self._epoch_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._strings = self._shared_strings()
        self._formats = self._cell_formats()

    def title(self) -> str | None:
        return self._package.title()

    def degradations(self) -> tuple[str, ...]:
        """What was wrong, each thing once."""
        return tuple(dict.fromkeys([*self._package.repairs, *self.degraded]))

    def text(self) -> str:
        texts: list[str] = []
        holds_something = False
        for sheet in self._sheets():
            lines = self._lines(sheet)
            holds_something = holds_something or bool(lines)
            texts.append("\n".join([f"{sheet.name} (hidden)" if sheet.hidden else sheet.name, *lines]))
        if not holds_something:
            if self.degraded:
                raise ConversionError("damaged", f"no sheet of the workbook can be read: {'; '.join(self.degraded)}")
            raise ConversionError("empty", "no cell of the workbook holds anything; nothing of it can be found")
        return _SHEET_SEPARATOR.join(texts)

    def _sheets(self) -> list[_Sheet]:
        targets = {key: part for key, _, part in self._related}
        sheets: list[_Sheet] = []
        for number, element in enumerate(self._root.iterfind("{*}sheets/{*}sheet"), start=1):
            name = " ".join(element.get("name", "").split()) or f"Sheet{number}"
            part = next((targets.get(element.get(key)) for key in _RELATION_ID if element.get(key)), None)
            if part is None or not self._package.has(part):
                usual = f"xl/worksheets/sheet{number}.xml"
                part = usual if self._package.has(usual) and usual not in targets.values() else None
                self.degraded.append(
                    f"sheet '{name}': " + ("its part is missing" if part is None else f"read from {part}")
                )
            sheets.append(_Sheet(name, element.get("state", "visible") != "visible", part))
        return sheets

    def _lines(self, sheet: _Sheet) -> list[str]:
        if sheet.part is None:
            return []
        try:
            source = read_sheet(self._package, sheet.part)
        except ConversionError as error:
            if error.error_class != "damaged" or "document type" in str(error):
                raise
            self.degraded.append(f"sheet '{sheet.name}' cannot be read: {error}")
            return []
        rows: defaultdict[int, list[str]] = defaultdict(list)
        masters: dict[str | None, CellSource] = {
            cell.shared_index: cell for cell in source.cells if cell.shared_index and cell.formula
        }
        for cell in source.shown_cells():
            text = " ".join(self._cell_text(cell, masters).split())
            if text:
                rows[cell.row].append(text)
        lines_of = {row: [_CELL_SEPARATOR.join(texts)] for row, texts in rows.items()}
        relations = self._relations(sheet.part)
        for reference, comment in sheet_comments(relations, partial(self._try_parse, sheet.name)):
            place = position(reference)
            lines_of.setdefault(place[0] if place else 0, []).append(comment)
        lines = [line for row in sorted(lines_of) for line in lines_of[row]]
        for _, kind, part in relations:
            if kind == "drawing" and (root := self._try_parse(sheet.name, part)) is not None:
                lines.extend(_drawn_text(root))
        return lines

    def _cell_text(self, cell: CellSource, masters: dict[str | None, CellSource]) -> str:
        value = cell.value
        if value is None:
            return f"={_formula(cell, masters)} [formula]"
        code = self._formats[cell.style] if 0 <= cell.style < len(self._formats) else GENERAL
        match cell.kind:
            case "s":
                place = int(value) if value.strip().isdecimal() else -1
                if not 0 <= place < len(self._strings):
                    self.degraded.append("some cells refer to texts that are missing from the file")
                    return ""
                return format_text(self._strings[place], code)
            case "str" | "inlineStr":
                return format_text(unescaped(value), code)
            case "b":
                return "TRUE" if value.strip() in ("1", "true") else "FALSE"
            case "d":
                return value.replace("T00:00:00", "").replace("T", " ").removesuffix("Z")
            case "e":
                return value
        try:
            number = float(value)
        except ValueError:
            return value
        return format_number(number, code, epoch_1904=self._epoch_1904) if math.isfinite(number) else value

    def _shared_strings(self) -> Sequence[str]:
        part = next((part for _, kind, part in self._related if kind == "sharedStrings"), None)
        root = None if part is None else self._optional(part, "the texts of the cells")
        return [] if root is None else [unescaped(rich_text(each)) for each in root if local_name(each) == "si"]

    def _cell_formats(self) -> Sequence[str]:
        part = next((part for _, kind, part in self._related if kind == "styles"), None)
        root = None if part is None else self._optional(part, "the number formats")
        if root is None:
            return []
        own = {each.get("numFmtId"): each.get("formatCode", GENERAL) for each in root.iterfind("{*}numFmts/{*}numFmt")}
        codes = {str(number): code for number, code in BUILTIN_FORMATS.items()} | own
        # In Excel, 14 and 22 stay "as this system writes it", whatever code a file states for them.
        codes |= {key: BUILTIN_FORMATS[int(key)] for key in ("14", "22")}
        return [codes.get(each.get("numFmtId", "0"), GENERAL) for each in root.iterfind("{*}cellXfs/{*}xf")]

    def _optional(self, part: str, what: str) -> Any:
        """The root of a part that the cells can be read without, or None."""
        try:
            return self._package.parse(part)
        except ConversionError as error:
            if error.error_class != "damaged" or "document type" in str(error):
                raise
            self.degraded.append(f"{what} cannot be read: {error}")
            return None

    def _try_parse(self, sheet_name: str, part: str) -> Any:
        return self._optional(part, f"what belongs to sheet '{sheet_name}'")

    def _relations(self, part: str) -> list[tuple[str, str, str]]:
        try:
            return self._package.related(part)
        except ConversionError as error:
            self.degraded.append(f"the relationships of '{part or 'the package'}' cannot be read: {error}")
            return []


def _formula(cell: CellSource, masters: dict[str | None, CellSource]) -> str:
    master = masters.get(cell.shared_index)
    if cell.formula or cell.shared_index is None or master is None:
        return cell.formula or ""
    from openpyxl.formula.translate import Translator

    translator = Translator(f"={master.formula}", origin=_reference(master))
    return str(translator.translate_formula(_reference(cell))).removeprefix("=")


def _reference(cell: CellSource) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(cell.column)}{cell.row}"


def _drawn_text(root: Any) -> list[str]:
    """The paragraphs of the text boxes and shapes of a drawing."""
    paragraphs = ("".join(run.text or "" for run in each.iter("{*}t")) for each in root.iter("{*}p"))
    return [" ".join(text.split()) for text in paragraphs if text.strip()]
