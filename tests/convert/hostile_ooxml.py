"""Word and Excel files whose parts lie, explode or nest."""

import io
import zipfile

from hostile_zip import bomb, lying, overlapping, zipped
from ooxml_files import docx, paragraph, part, relationships, run, table

_MIB = 1 << 20
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a0 "laugh ">'
    + "".join(f'<!ENTITY a{level + 1} "{f"&a{level};" * 10}">' for level in range(9))
    + "]>"
)
QUADRATIC = f'<!DOCTYPE x [<!ENTITY q "{"q" * 100_000}">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY o SYSTEM "file:///etc/passwd">]>'
PARAMETER = '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>'
REMOTE = '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">'


def good_docx() -> bytes:
    return docx(paragraph("1. Notices") + paragraph("Notices are given in text form.") + table(("Part", "Price")))


def good_xlsx() -> bytes:
    return xlsx(rows("Part", "Price", "12"))


def rows(*values: str) -> str:
    cells = "".join(f'<c t="inlineStr"><is><t>{value}</t></is></c>' for value in values)
    return f"<sheetData><row>{cells}</row></sheetData>"


def xlsx(
    content: str,
    *,
    shared: str | None = None,
    before: str = "",
    before_shared: str = "",
    styles: str | None = None,
    workbook: str | None = None,
    sheets: int = 1,
) -> bytes:
    """A workbook whose sheets all have that content; ``before`` stands before the root element of a sheet."""
    numbers = range(1, sheets + 1)
    listed = "".join(f'<sheet name="S{number}" sheetId="{number}" r:id="rId{number}"/>' for number in numbers)
    types = (
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'spreadsheetml.sheet.main+xml"/>'
    )
    relations = [(f"rId{number}", "worksheet", "sheet.xml") for number in numbers]
    parts = {"xl/sheet.xml": f'{before}<worksheet xmlns="{_SHEET}">{content}</worksheet>'}
    if shared is not None:
        parts["xl/shared.xml"] = f'{before_shared}<sst xmlns="{_SHEET}">{shared}</sst>'
        relations.append(("rIdS", "sharedStrings", "shared.xml"))
        types += (
            '<Override PartName="/xl/shared.xml" ContentType="application/vnd.openxmlformats-officedocument.'
            'spreadsheetml.sharedStrings+xml"/>'
        )
    if styles is not None:
        parts["xl/styles.xml"] = styles
        relations.append(("rIdT", "styles", "styles.xml"))
        types += (
            '<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.'
            'spreadsheetml.styles+xml"/>'
        )
    parts |= {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": relationships(("rId1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": workbook
        or f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relationships(*relations),
    }
    return zipped({name: text.encode() for name, text in parts.items()})


def with_part(archive: bytes, name: str, content: bytes) -> bytes:
    """The package with one part put in or replaced."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        members = {each: opened.read(each) for each in opened.namelist()}
    return zipped(members | {name: content})


def with_document(before: str, text: str) -> bytes:
    content = part("document", f"<w:body>{paragraph(run(text))}</w:body>").replace("?>", f"?>{before}", 1)
    return with_part(good_docx(), "word/document.xml", content.encode())


def filled_part(base: bytes, name: str, start: bytes, unit: bytes, end: bytes, mib: int) -> bytes:
    """A package one of whose parts unpacks to ``mib`` MiB of a repeated unit."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(base)) as opened,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, True, 1) as made,
    ):
        for each in opened.namelist():
            if each != name:
                made.writestr(each, opened.read(each))
        with made.open(name, "w") as member:
            member.write(start)
            piece = unit * (_MIB // len(unit))
            for _ in range(mib):
                member.write(piece)
            member.write(end)
    return buffer.getvalue()


_BODY = part("document", "<w:body>|</w:body>").encode().split(b"|")
_SHEET_START = f'<worksheet xmlns="{_SHEET}"><sheetData>'.encode()
_SHEET_END = b"</sheetData></worksheet>"


def document_of(unit: bytes, mib: int, start: bytes = b"", end: bytes = b"") -> bytes:
    return filled_part(good_docx(), "word/document.xml", _BODY[0] + start, unit, end + _BODY[1], mib)


def sheet_of(unit: bytes, mib: int) -> bytes:
    return filled_part(good_xlsx(), "xl/sheet.xml", _SHEET_START, unit, _SHEET_END, mib)


def nest(opening: str, closing: str, levels: int, inside: str = "") -> str:
    return opening * levels + inside + closing * levels


def nested_tables(levels: int) -> bytes:
    return docx(nest("<w:tbl><w:tr><w:tc>", "<w:p/></w:tc></w:tr></w:tbl>", levels, paragraph("inside")))


def shared_bomb(length: int, uses: int) -> bytes:
    cells = '<row><c t="s"><v>0</v></c></row>' * uses
    return xlsx(f"<sheetData>{cells}</sheetData>", shared=f"<si><t>{'s' * length}</t></si>")


def styled(format_code: str) -> str:
    return (
        f'<styleSheet xmlns="{_SHEET}"><numFmts count="1"><numFmt numFmtId="200" formatCode="{format_code}"/></numFmts>'
        '<fonts count="1"><font/></fonts><fills count="1"><fill><patternFill/></fill></fills>'
        '<borders count="1"><border/></borders>'
        '<cellStyleXfs count="1"><xf/></cellStyleXfs>'
        '<cellXfs count="2"><xf/><xf numFmtId="200" applyNumberFormat="1"/></cellXfs></styleSheet>'
    )


_LIST = "_rels/.rels"
FILES = [
    ("heavy zip bomb", "bomb-text.docx", lambda: document_of(b"A", 500, b"<w:p><w:r><w:t>", b"</w:t></w:r></w:p>")),
    ("heavy zip bomb", "bomb-paragraphs.docx", lambda: document_of(b"<w:p/>", 300)),
    ("heavy zip bomb", "bomb-spaces.docx", lambda: document_of(b" ", 600)),
    ("heavy zip bomb", "bomb-sheet.xlsx", lambda: sheet_of(b'<row><c t="inlineStr"><is><t>x</t></is></c></row>', 300)),
    ("zip bomb", "small-bomb-text.docx", lambda: document_of(b"A", 9, b"<w:p><w:r><w:t>", b"</w:t></w:r></w:p>")),
    ("zip bomb", "bomb-40-text.docx", lambda: document_of(b"A", 40, b"<w:p><w:r><w:t>", b"</w:t></w:r></w:p>")),
    ("zip bomb", "bomb-runs.docx", lambda: document_of(b"<w:p><w:r><w:t>x</w:t></w:r></w:p>", 60)),
    (
        "zip bomb",
        "bomb-content-types.docx",
        lambda: filled_part(good_docx(), "[Content_Types].xml", b"", b" ", b"", 200),
    ),
    ("zip bomb", "bomb-relations.docx", lambda: filled_part(good_docx(), _LIST, b"<a>", b"<b/>", b"</a>", 60)),
    ("zip bomb", "bomb-beside.docx", lambda: filled_part(good_docx(), "word/media/a.png", b"", b"\x00", b"", 200)),
    ("zip bomb", "lying-small.docx", lambda: lying(document_of(b"<w:p/>", 60), 100)),
    ("zip bomb", "lying-huge.docx", lambda: lying(good_docx(), 0xFFFFFFF0)),
    ("zip bomb", "lying-small.xlsx", lambda: lying(sheet_of(b"<row/>", 60), 100)),
    ("zip bomb", "overlapping.docx", lambda: overlapping(1000)),
    ("zip bomb", "plain-bomb.docx", lambda: bomb("word/document.xml", 60)),
    ("XXE", "outside.docx", lambda: with_document(OUTSIDE, "&o;")),
    ("XXE", "parameter.docx", lambda: with_document(PARAMETER, "text")),
    ("XXE", "remote.docx", lambda: with_document(REMOTE, "text")),
    (
        "XXE",
        "outside-core.docx",
        lambda: with_part(docx(paragraph("x"), title="t"), "core.xml", f"{OUTSIDE}<a>&o;</a>".encode()),
    ),
    ("XXE", "outside-relations.docx", lambda: with_part(good_docx(), _LIST, f"{OUTSIDE}<a>&o;</a>".encode())),
    ("XXE", "outside-note.docx", lambda: docx(paragraph("x"), related={"rId9": ("footnotes", f"{OUTSIDE}<a>&o;</a>")})),
    (
        "XXE",
        "outside-utf16.docx",
        lambda: with_part(good_docx(), "word/document.xml", f"{OUTSIDE}<a>&o;</a>".encode("utf-16")),
    ),
    ("XXE", "outside-sheet.xlsx", lambda: xlsx(rows("&o;"), before=OUTSIDE)),
    ("XXE", "outside-shared.xlsx", lambda: xlsx(rows("x"), shared="<si><t>&o;</t></si>", before_shared=OUTSIDE)),
    ("XXE", "outside-workbook.xlsx", lambda: xlsx(rows("x"), workbook=f"{OUTSIDE}<workbook>&o;</workbook>")),
    ("XXE", "remote.xlsx", lambda: xlsx(rows("x"), before=REMOTE)),
    ("entity bomb", "laughs.docx", lambda: with_document(LAUGHS, "&a9;")),
    ("entity bomb", "quadratic.docx", lambda: with_document(QUADRATIC, "&q;" * 10_000)),
    (
        # What lies beside the main text is left out, and the text says so.
        "bomb beside the text",
        "laughs-note.docx",
        lambda: docx(paragraph("x"), related={"rId9": ("footnotes", f"{LAUGHS}<a>&a9;</a>")}),
    ),
    ("entity bomb", "laughs-sheet.xlsx", lambda: xlsx(rows("&a9;"), before=LAUGHS)),
    ("entity bomb", "laughs-shared.xlsx", lambda: xlsx(rows("x"), shared="<si><t>&a9;</t></si>", before_shared=LAUGHS)),
    ("entity bomb", "quadratic.xlsx", lambda: xlsx(rows("&q;" * 10_000), before=QUADRATIC)),
    (
        "entity bomb",
        "laughs-utf16.xlsx",
        lambda: with_part(good_xlsx(), "xl/sheet.xml", f"{LAUGHS}<a>&a9;</a>".encode("utf-16")),
    ),
    ("deep nesting", "deep-xml.docx", lambda: docx(nest("<w:x>", "</w:x>", 200_000))),
    ("deep nesting", "deep-unclosed.docx", lambda: docx("<w:x>" * 500_000)),
    (
        "deep nesting",
        "deep-controls.docx",
        lambda: docx(nest("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>", 120, paragraph("x"))),
    ),
    ("deep nesting", "deep-changes.docx", lambda: docx(paragraph(nest("<w:ins>", "</w:ins>", 240, run("x"))))),
    ("deep nesting", "tables-60.docx", lambda: nested_tables(60)),
    ("deep nesting", "tables-3000.docx", lambda: nested_tables(3000)),
    ("deep nesting", "deep-sheet.xlsx", lambda: xlsx(nest("<x>", "</x>", 200_000))),
    ("deep nesting", "deep-shared.xlsx", lambda: xlsx(rows("x"), shared=nest("<si>", "</si>", 100_000))),
    ("odd XML", "attribute.docx", lambda: docx(f'<w:p a="{"a" * 12_000_000}"/>')),
    ("odd XML", "attributes.docx", lambda: docx("<w:p " + " ".join(f'a{n}="1"' for n in range(100_000)) + "/>")),
    ("odd XML", "nul-inside.docx", lambda: docx(paragraph("a\x00b"))),
    (
        "odd XML",
        "encoding.docx",
        lambda: with_part(good_docx(), "word/document.xml", b"<?xml version='1.0' encoding='utf-7'?><a/>"),
    ),
    ("odd XML", "part-of-itself.docx", lambda: docx(paragraph("x"), related={"document": ("header", "<a/>")})),
    ("odd XML", "long-name.docx", lambda: docx(f"<w:{'n' * 2_000_000}/>")),
    ("odd XML", "many-tables.docx", lambda: docx(table(*[("a", "b", "c")] * 20_000))),
    ("huge sheet", "dimension.xlsx", lambda: xlsx('<dimension ref="A1:XFD1048576"/>' + rows("x"))),
    (
        "huge sheet",
        "last-cell.xlsx",
        lambda: xlsx('<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'),
    ),
    (
        "huge sheet",
        "row-number.xlsx",
        lambda: xlsx('<sheetData><row r="99999999999"><c><v>1</v></c></row></sheetData>'),
    ),
    (
        "huge sheet",
        "two-corners.xlsx",
        lambda: xlsx(
            '<sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
            '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData>'
        ),
    ),
    ("heavy huge sheet", "million-rows.xlsx", lambda: sheet_of(b'<row r="1" s="1" customFormat="1"/>', 36)),
    ("heavy huge sheet", "million-cells.xlsx", lambda: sheet_of(b'<row><c s="1"/><c s="1"/><c s="1"/></row>', 60)),
    (
        "huge sheet",
        "merged.xlsx",
        lambda: xlsx(rows("x") + "<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 1000 + "</mergeCells>"),
    ),
    ("huge sheet", "sheets.xlsx", lambda: xlsx(rows("x"), sheets=3000)),
    ("shared-string bomb", "shared.xlsx", lambda: shared_bomb(1_000_000, 20_000)),
    ("shared-string bomb", "shared-small.xlsx", lambda: shared_bomb(10_000, 2_000)),
    (
        "shared-string bomb",
        "shared-absent.xlsx",
        lambda: xlsx(
            '<sheetData><row><c t="s"><v>7</v></c><c t="s"><v>-1</v></c></row></sheetData>', shared="<si><t>x</t></si>"
        ),
    ),
    (
        "odd sheet",
        "date.xlsx",
        lambda: xlsx('<sheetData><row><c s="1"><v>1e300</v></c></row></sheetData>', styles=styled("yyyy-mm-dd")),
    ),
    (
        "odd sheet",
        "format.xlsx",
        lambda: xlsx(
            '<sheetData><row><c s="1"><v>0.5</v></c></row></sheetData>', styles=styled("0." + "0" * 100_000 + "%")
        ),
    ),
    (
        "odd sheet",
        "format-sections.xlsx",
        lambda: xlsx(
            '<sheetData><row><c s="1"><v>0.5</v></c></row></sheetData>', styles=styled("[" * 50_000 + "0;" * 50_000)
        ),
    ),
    ("odd sheet", "number.xlsx", lambda: xlsx(f"<sheetData><row><c><v>{'9' * 1_000_000}</v></c></row></sheetData>")),
    ("odd sheet", "formula.xlsx", lambda: xlsx(f"<sheetData><row><c><f>{'(' * 1_000_000}</f></c></row></sheetData>")),
    ("encrypted", "encrypted.docx", lambda: OLE + bytes(20_000)),
    ("encrypted", "encrypted.xlsx", lambda: OLE + bytes(20_000)),
    ("encrypted", "encrypted.pptx", lambda: OLE + bytes(20_000)),
    ("odd OLE", "hollow.msg", lambda: OLE + bytes(20_000)),
    ("odd OLE", "filled.msg", lambda: OLE + b"\xff" * 20_000),
]
