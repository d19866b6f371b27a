import datetime
import io
import re
import time
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError


def workbook_bytes(fill: Callable[[Any], None]) -> bytes:
    workbook = openpyxl.Workbook()
    workbook.active.title = "Blatt"
    fill(workbook)
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def with_part(data: bytes, name: str, change: Callable[[str], str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.namelist():
            content = old.read(each)
            new.writestr(each, change(content.decode()) if each == name else content)
    return buffer.getvalue()


def text_of(data: bytes) -> str:
    return converter_for("a.xlsx").convert(data).text


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    ("value", "number_format", "expected"),
    [
        (5, "General", "5"),
        (5.0, "General", "5"),
        (0.1 + 0.2, "General", "0.3"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (1e20, "General", "100000000000000000000"),
        (0.00001, "General", "0.00001"),
        (0.125, "0.0%", "12.5%"),
        (0.19, "0%", "19%"),
        (True, "General", "TRUE"),
        (datetime.datetime(2026, 3, 2), "dd.mm.yyyy", "02.03.2026"),
        (datetime.datetime(2026, 3, 2, 14, 30), "dd.mm.yyyy hh:mm", "02.03.2026 14:30"),
        (datetime.time(9, 5), "hh:mm", "09:05"),
        (datetime.timedelta(hours=30), "[h]:mm:ss", "30:00:00"),
        ("zwei\nZeilen", "General", "zwei Zeilen"),
    ],
)
def test_a_value_reads_as_its_format_shows_it(value: object, number_format: str, expected: str) -> None:
    def fill(workbook: Any) -> None:
        workbook.active["A1"] = value
        workbook.active["A1"].number_format = number_format

    assert text_of(workbook_bytes(fill)) == f"Blatt\n{expected}"


def test_sheets_rows_and_cells_in_order_without_the_empty_ones() -> None:
    def fill(workbook: Any) -> None:
        workbook.active.append(["Ware", None, "Preis"])
        workbook.active.append([])
        workbook.active.append([None, "Stahl", "  "])
        workbook.create_sheet("Leer")
        workbook.create_sheet("Zweites").append(["x"])

    assert text_of(workbook_bytes(fill)) == "Blatt\nWare | Preis\nStahl\n\nLeer\n\nZweites\nx"


def test_a_formula_gives_its_cached_value() -> None:
    data = workbook_bytes(lambda workbook: workbook.active.append([2, "=A1*21"]))
    cached = with_part(data, SHEET, lambda sheet: re.sub(r"</f>\s*<v\s*/>|</f><v></v>", "</f><v>42</v>", sheet))
    assert text_of(cached) == "Blatt\n2 | 42"


def test_lying_dimensions_cut_nothing_off() -> None:
    data = workbook_bytes(lambda workbook: [workbook.active.append([number, "b"]) for number in range(3)])
    lying = with_part(data, SHEET, lambda sheet: re.sub(r'<dimension ref="[^"]*"', '<dimension ref="A1"', sheet))
    assert text_of(lying) == "Blatt\n0 | b\n1 | b\n2 | b"


def test_a_value_in_the_last_row_of_a_formatted_sheet_takes_seconds_at_most() -> None:
    def many(sheet: str) -> str:
        rows = "".join(f'<row r="{number}"><c r="A{number}" s="0"/></row>' for number in range(2, 20_000))
        last = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>last</t></is></c></row>'
        return sheet.replace("</sheetData>", f"{rows}{last}</sheetData>")

    data = with_part(workbook_bytes(lambda workbook: workbook.active.append(["first"])), SHEET, many)
    started = time.perf_counter()
    assert text_of(data) == "Blatt\nfirst\nlast"
    assert time.perf_counter() - started < 10


def test_a_bare_ampersand_is_read_as_the_character() -> None:
    data = workbook_bytes(lambda workbook: workbook.active.append(["Roe & Partner"]))
    broken = with_part(data, "xl/sharedStrings.xml", lambda strings: strings.replace("&amp;", "&"))
    assert broken != data
    assert text_of(broken) == "Blatt\nRoe & Partner"


def test_the_title_is_that_of_the_core_properties() -> None:
    def fill(workbook: Any) -> None:
        workbook.active["A1"] = "x"
        workbook.properties.title = "Preisliste"

    assert converter_for("a.xlsx").convert(workbook_bytes(fill)).title == "Preisliste"


@pytest.mark.parametrize(
    ("data", "error_class"),
    [
        (b"no zip", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512, "encrypted"),
        (workbook_bytes(lambda workbook: None), "empty"),
        (with_part(workbook_bytes(lambda workbook: None), "xl/workbook.xml", lambda _: "<broken"), "damaged"),
        (
            with_part(
                workbook_bytes(lambda workbook: workbook.active.append(["x"])),
                SHEET,
                lambda sheet: f'<!DOCTYPE x [<!ENTITY a "b">]>{sheet}',
            ),
            "damaged",
        ),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, error_class: str) -> None:
    with pytest.raises(ConversionError) as caught:
        text_of(data)
    assert caught.value.error_class == error_class


def test_a_sheet_of_empty_formatted_cells_is_read_quickly() -> None:
    def many(sheet: str) -> str:
        cells = "".join(f'<c r="{column}2" s="0"/>' for column in "ABCDEFGHIJ")
        return sheet.replace("</sheetData>", f"<row>{cells}</row>" * 40_000 + "</sheetData>")

    data = with_part(workbook_bytes(lambda workbook: workbook.active.append(["first", 0, None, 2])), SHEET, many)
    started = time.perf_counter()
    assert text_of(data) == "Blatt\nfirst | 0 | 2"
    assert time.perf_counter() - started < 10
