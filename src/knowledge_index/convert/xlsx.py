"""Excel: every sheet, the values as they were last computed."""

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from knowledge_index.convert.normalise import converted
from knowledge_index.convert.ooxml import OoxmlPackage, escape_bare_ampersands
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_CELL_SEPARATOR = " | "
_PERCENT_FORMAT = re.compile(r"0(?:\.(0+))?\s?%")
# Excel itself keeps 15 significant digits; the rest is noise of binary fractions.
_SIGNIFICANT_DIGITS = 15
_XML_SUFFIXES = (".xml", ".rels")
# Sheets formatted down to the last row have millions of cells without a value; openpyxl takes minutes to skip them.
_EMPTY_CELL = re.compile(rb"<c(?:\s[^<>]*)?/>")
_LARGE_PART_BYTES = 8 * 1024 * 1024
_SHEET_SEPARATOR = "\n\n"


class XlsxConverter:
    """Each sheet's name as a line, then each row that has a value as a line, its cells joined by " | "."""

    name = "xlsx"
    version = "1"
    suffixes = frozenset({".xlsx"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert an .xlsx.

        Raises:
            ConversionError: ``encrypted``, ``damaged``, ``too_large`` or ``empty``.
        """
        package = OoxmlPackage(data)
        if _largest_part_bytes(package) > _LARGE_PART_BYTES:
            data = _rewritten(package, _without_empty_cells) or data
        try:
            text = _workbook_text(data)
        except ConversionError:
            repaired = _rewritten(package, escape_bare_ampersands)
            if repaired is None:
                raise
            text = _workbook_text(repaired)
        return converted(text, package.title(), self.name, self.version)


CONVERTER = XlsxConverter()


def _largest_part_bytes(package: OoxmlPackage) -> int:
    """The size of the largest XML part; refuses a package that brings a document type."""
    largest = 0
    for name in package.part_names():
        if name.endswith(_XML_SUFFIXES):
            content = package.read(name)
            largest = max(largest, len(content))
            # The parsers underneath expand entities, and OOXML has no use for a document type.
            if b"<!DOCTYPE" in content or "<!DOCTYPE".encode("utf-16-le") in content:
                raise ConversionError("damaged", f"part {name} brings a document type, which OOXML forbids")
    return largest


def _rewritten(package: OoxmlPackage, change: Callable[[bytes], bytes]) -> bytes | None:
    """The file with every XML part changed, or None where that changes nothing."""
    buffer = io.BytesIO()
    changed = False
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in package.part_names():
            content = package.read(name)
            if name.endswith(_XML_SUFFIXES):
                before, content = content, change(content)
                changed = changed or content != before
            archive.writestr(name, content)
    return buffer.getvalue() if changed else None


def _without_empty_cells(content: bytes) -> bytes:
    return _EMPTY_CELL.sub(b"", content) if len(content) > _LARGE_PART_BYTES else content


def _workbook_text(data: bytes) -> str:
    import openpyxl

    try:
        with warnings.catch_warnings():
            # openpyxl warns of every extension it does not know; none of them holds text.
            warnings.simplefilter("ignore")
            workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            try:
                return _SHEET_SEPARATOR.join(text for sheet in workbook.worksheets if (text := _sheet_text(sheet)))
            finally:
                workbook.close()
    except MemoryError:
        raise
    except Exception as error:
        # openpyxl raises whatever the parsers underneath raise.
        raise ConversionError("damaged", f"the workbook cannot be read: {error!r}") from error


def _sheet_text(sheet: Any) -> str:
    # The stored dimensions lie: written by hand they cut rows off, formatted to the last row they add a million.
    sheet.reset_dimensions()
    rows = list(_rows(sheet))
    return "\n".join([sheet.title, *rows]) if rows else ""


def _rows(sheet: Any) -> Iterator[str]:
    for row in sheet.iter_rows():
        texts = [text for cell in row if cell.value is not None and (text := _cell_text(cell.value, cell))]
        if texts:
            yield _CELL_SEPARATOR.join(texts)


def _cell_text(value: Any, cell: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        percent = _PERCENT_FORMAT.search(cell.number_format or "")
        if percent:
            return f"{value * 100:.{len(percent[1] or '')}f}%"
        return _number_text(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return " ".join(str(value).split())


def _number_text(value: int | float) -> str:
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(f"{value:.{_SIGNIFICANT_DIGITS}g}"), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
