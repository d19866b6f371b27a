"""Write a workbook as SpreadsheetML, formulas together with their cached values.

openpyxl writes a formula without a value, so that a reader asking for values finds nothing; a sheet that a person
saved has both.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from xml.sax.saxutils import escape

from .model import Formula
from .write_docx import core_properties
from .zipping import fixed_zip

Cell = str | int | float | bool | dt.date | Formula
Sheet = tuple[str, Sequence[Sequence[Cell]]]

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_EPOCH = dt.date(1899, 12, 30)
_PLAIN, _BOLD, _DATE, _AMOUNT, _WRAP = range(5)


def xlsx_bytes(sheets: Sequence[Sheet], *, title: str, creator: str, created: str) -> bytes:
    """Return the .xlsx file of `sheets`, in their order; the first row of each is its heading."""
    numbers = range(1, len(sheets) + 1)
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>' for n in numbers
    )
    rels = "".join(
        f'<Relationship Id="rId{n}" Type="{_R}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers
    )
    names = "".join(
        f'<sheet name="{escape(name, {chr(34): "&quot;"})}" sheetId="{n}" r:id="rId{n}"/>'
        for n, (name, _) in zip(numbers, sheets, strict=True)
    )
    parts = {
        "[Content_Types].xml": f'{_DECLARATION}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{overrides}'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
        '<Override PartName="/docProps/core.xml" '
        'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>'
        "</Types>",
        "_rels/.rels": f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_R}/officeDocument" Target="xl/workbook.xml"/>'
        f'<Relationship Id="rId2" Type="{_PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'{_DECLARATION}<workbook xmlns="{_MAIN}" xmlns:r="{_R}">'
        f"<sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">{rels}'
        f'<Relationship Id="rId{len(sheets) + 1}" Type="{_R}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": _styles(),
    }
    for number, (_, rows) in zip(numbers, sheets, strict=True):
        parts[f"xl/worksheets/sheet{number}.xml"] = _worksheet(rows)
    parts["docProps/core.xml"] = core_properties(title, creator, created)
    return fixed_zip(parts)


def _worksheet(rows: Sequence[Sequence[Cell]]) -> str:
    data = ""
    for number, row in enumerate(rows, start=1):
        cells = "".join(_cell(f"{chr(65 + i)}{number}", cell, heading=number == 1) for i, cell in enumerate(row))
        data += f'<row r="{number}">{cells}</row>'
    columns = max((len(row) for row in rows), default=1)
    widths = "".join(
        f'<col min="{n}" max="{n}" width="{34 if n < 3 else 20}" customWidth="1"/>' for n in range(1, columns + 1)
    )
    return f'{_DECLARATION}<worksheet xmlns="{_MAIN}"><cols>{widths}</cols><sheetData>{data}</sheetData></worksheet>'


def _cell(reference: str, cell: Cell, *, heading: bool) -> str:
    if isinstance(cell, str):
        if not cell:
            return ""
        style = _BOLD if heading else _WRAP
        return f'<c r="{reference}" s="{style}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
    if isinstance(cell, Formula):
        if isinstance(cell.value, str):
            return f'<c r="{reference}" t="str"><f>{escape(cell.formula)}</f><v>{escape(cell.value)}</v></c>'
        return f'<c r="{reference}" s="{_AMOUNT}"><f>{escape(cell.formula)}</f><v>{cell.value}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{reference}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, dt.date):
        day = cell.date() if isinstance(cell, dt.datetime) else cell
        return f'<c r="{reference}" s="{_DATE}"><v>{(day - _EPOCH).days}</v></c>'
    style = _AMOUNT if isinstance(cell, float) or abs(cell) >= 10_000 else _PLAIN
    return f'<c r="{reference}" s="{style}"><v>{cell}</v></c>'


def _styles() -> str:
    formats = (
        '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
        '<xf numFmtId="14" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1"><alignment wrapText="1"/></xf>'
    )
    return (
        f'{_DECLARATION}<styleSheet xmlns="{_MAIN}">'
        '<fonts count="2"><font><sz val="10"/><name val="Arial"/></font>'
        '<font><b/><sz val="10"/><name val="Arial"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        f'<cellXfs count="5">{formats}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )
