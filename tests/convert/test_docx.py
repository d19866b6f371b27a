import io
import zipfile

import pytest
from ooxml_files import deleted, docx, paragraph, part, relationships, run, table, zipped

from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError

DELETED_MARK = "<w:rPr><w:del/></w:rPr>"


def text_of(data: bytes) -> str:
    return converter_for("a.docx").convert(data).text


def error_class_of(data: bytes) -> str:
    with pytest.raises(ConversionError) as caught:
        converter_for("a.docx").convert(data)
    return caught.value.error_class


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (["Die ", f"<w:ins>{run('neue ')}</w:ins>", deleted("alte "), "Frist"], "Die neue Frist"),
        ([f"<w:moveTo>{run('Hin')}</w:moveTo>", f"<w:moveFrom>{run('Weg')}</w:moveFrom>"], "Hin"),
        ([f"<w:ins>{run('a')}{deleted('b')}{run('c')}</w:ins>"], "ac"),
        ([f"<w:sdt><w:sdtPr/><w:sdtContent>{run('Control')}</w:sdtContent></w:sdt>"], "Control"),
        ([f"<w:hyperlink>{run('a link')}</w:hyperlink>"], "a link"),
        ([f'<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>'], "7"),
        (["<w:r><w:instrText>REF x</w:instrText></w:r>", "5.1"], "5.1"),
        (["a", "<w:r><w:tab/></w:r>", "b", "<w:r><w:br/></w:r>", "c"], "a\tb\nc"),
        (["non", "<w:r><w:noBreakHyphen/></w:r>", "compete"], "non-compete"),
        (["Haf", "<w:r><w:softHyphen/></w:r>", "tung"], "Haftung"),
        (['<w:r><w:sym w:char="00A7"/></w:r>', " 5"], "§ 5"),
        (['<w:r><w:sym w:char="F0B7"/></w:r>', "item"], "item"),
        (['<w:r><w:sym w:char="zz"/></w:r>', "item"], "item"),
        (["A &amp; B &lt;C&gt;"], "A & B <C>"),
        (["u\u0308ber"], "über"),
    ],
)
def test_a_paragraph_reads_as_it_stands_with_all_changes_accepted(content: list[str], expected: str) -> None:
    assert text_of(docx(paragraph(*content))) == expected


def test_a_paragraph_whose_mark_is_deleted_joins_its_successor() -> None:
    body = paragraph("One ", properties=DELETED_MARK) + paragraph("two") + paragraph("three")
    assert text_of(docx(body)) == "One two\nthree"


def test_a_deleted_paragraph_leaves_no_empty_line() -> None:
    body = paragraph("One") + paragraph(deleted("gone"), properties=DELETED_MARK) + paragraph("two")
    assert text_of(docx(body)) == "One\ntwo"


def test_a_deleted_mark_before_a_table_or_at_the_end_loses_nothing() -> None:
    first = paragraph("before", properties=DELETED_MARK)
    assert text_of(docx(first + table(("x",)) + first)) == "before\nx\nbefore"


def test_a_table_row_is_one_line() -> None:
    assert text_of(docx(paragraph("Preise") + table(("Ware", "EUR"), ("Stahl", "", "5")))) == (
        "Preise\nWare | EUR\nStahl | 5"
    )


def test_a_nested_table_and_several_paragraphs_stay_in_the_cell() -> None:
    inner = paragraph("a") + paragraph("b") + table(("c", "d"))
    assert text_of(docx(table((inner, "e")))) == "a b c | d | e"


def test_a_deleted_row_and_a_deleted_cell_are_gone() -> None:
    row = f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{paragraph('gone')}</w:tc></w:tr>"
    cell = f"<w:tr><w:tc><w:tcPr><w:cellDel/></w:tcPr>{paragraph('gone')}</w:tc><w:tc>{paragraph('kept')}</w:tc></w:tr>"
    assert text_of(docx(f"<w:tbl>{row}{cell}</w:tbl>")) == "kept"


def test_content_controls_hold_paragraphs_rows_and_cells() -> None:
    def control(content: str) -> str:
        return f"<w:sdt><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    cell = control(f"<w:tc>{paragraph('cell')}</w:tc>")
    body = control(control(paragraph("text"))) + f"<w:tbl>{control(f'<w:tr>{cell}</w:tr>')}</w:tbl>"
    assert text_of(docx(body)) == "text\ncell"


def test_headers_stand_before_and_notes_and_footers_behind_the_body_each_once() -> None:
    body = paragraph("Body") + (
        '<w:sectPr><w:headerReference r:id="h2"/><w:headerReference r:id="h1"/>'
        '<w:headerReference r:id="h3"/><w:footerReference r:id="f1"/></w:sectPr>'
    )
    separator = f'<w:footnote w:type="separator">{paragraph("----")}</w:footnote>'
    related = {
        "h1": ("header", part("hdr", paragraph("Second header"))),
        "h2": ("header", part("hdr", paragraph("First header"))),
        "h3": ("header", part("hdr", paragraph("First header"))),
        "unused": ("header", part("hdr", paragraph("Shown nowhere"))),
        "f1": ("footer", part("ftr", paragraph("Footer"))),
        "n1": ("footnotes", part("footnotes", f"{separator}<w:footnote>{paragraph('Note')}</w:footnote>")),
    }
    assert text_of(docx(body, related=related)) == "First header\nSecond header\nBody\nNote\nFooter"


def test_a_text_box_is_read_once_behind_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    branches = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    anchor = f"<w:r><mc:AlternateContent>{branches}</mc:AlternateContent></w:r>"
    assert text_of(docx(paragraph("Text", anchor) + paragraph("next"))) == "Text\nin the box\nnext"


def test_many_empty_paragraphs_are_one_empty_line() -> None:
    assert text_of(docx(paragraph("a") + paragraph() * 5 + paragraph("b"))) == "a\n\nb"


def test_the_title_is_that_of_the_core_properties() -> None:
    document = converter_for("a.docx").convert(docx(paragraph("x"), title="Liefervertrag  Stahl"))
    assert (document.title, document.converter_name, document.converter_version) == ("Liefervertrag Stahl", "docx", "2")


@pytest.mark.parametrize("title", ["Word Document", "Untitled", "  ", "Dokument1", "Microsoft Word - x.doc"])
def test_the_title_of_a_template_is_none(title: str) -> None:
    assert converter_for("a.docx").convert(docx(paragraph("x"), title=title)).title is None


def test_a_damaged_title_does_not_cost_the_text() -> None:
    document = converter_for("a.docx").convert(docx(paragraph("x"), title="<broken"))
    assert (document.text, document.title) == ("x", None)


def test_a_bare_ampersand_is_read_as_the_character() -> None:
    assert text_of(docx(paragraph("Roe & Partner &amp; Söhne &#167; 5, R&D;"))) == "Roe & Partner & Söhne § 5, R&D;"


def test_files_of_python_docx_are_read() -> None:
    import docx as python_docx

    file = python_docx.Document()
    file.add_heading("Vertrag", 1)
    file.add_paragraph("Text")
    file.add_table(1, 2).rows[0].cells[1].text = "Zelle"
    file.sections[0].header.paragraphs[0].text = "Kopf"
    buffer = io.BytesIO()
    file.save(buffer)
    assert text_of(buffer.getvalue()) == "Kopf\nVertrag\nText\nZelle"


def test_entities_are_not_expanded() -> None:
    document = part("document", f"<w:body>{paragraph('&x;')}</w:body>").replace(
        "?><", '?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/hostname">]><', 1
    )
    parts = {"_rels/.rels": relationships(("rId1", "officeDocument", "d.xml")), "d.xml": document}
    assert error_class_of(zipped(parts)) == "damaged"


@pytest.mark.parametrize(
    ("data", "error_class"),
    [
        (b"", "damaged"),
        (b"no zip at all", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512, "encrypted"),
        (docx(""), "empty"),
        (docx(paragraph(" ", "<w:r><w:tab/></w:r>")), "empty"),
        (docx("<w:p><w:broken"), "damaged"),
        (zipped({"a.txt": "x"}), "damaged"),
        (zipped({"_rels/.rels": relationships(("rId1", "officeDocument", "word/none.xml"))}), "damaged"),
        (zipped({"_rels/.rels": relationships(("rId1", "officeDocument", "d.xml")), "d.xml": "<x/>"}), "damaged"),
        (docx(paragraph("x"))[:200], "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, error_class: str) -> None:
    assert error_class_of(data) == error_class


def test_a_flipped_byte_is_an_error_of_ours_or_text() -> None:
    data = docx(paragraph("Some text of a paper " * 20), title="A title")
    for position in range(0, len(data), 7):
        broken = bytearray(data)
        broken[position] ^= 0xFF
        try:
            text = converter_for("a.docx").convert(bytes(broken)).text
        except ConversionError as error:
            text = error.error_class
        assert text


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_part_that_does_not_unpack_is_damaged_whatever_packed_it(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("_rels/.rels", relationships(("rId1", "officeDocument", "word/document.xml")))
        archive.writestr("word/document.xml", part("document", f"<w:body>{paragraph('x' * 5000)}</w:body>"))
        packed = archive.getinfo("word/document.xml")
    data = bytearray(buffer.getvalue())
    # The head that names the settings of LZMA stays, so that the decompressor itself meets the damage.
    start, end = packed.header_offset + 30 + len(packed.filename) + 9, data.index(b"PK\x01\x02")
    data[start:end] = b"\xff" * (end - start)
    assert error_class_of(bytes(data)) == "damaged"


def test_tables_within_tables_are_read_as_deep_as_a_part_may_nest() -> None:
    def nested(depth: int) -> str:
        content = paragraph("inmost")
        for _ in range(depth):
            content = f"<w:tbl><w:tr><w:tc>{content}</w:tc></w:tr></w:tbl>"
        return content

    assert text_of(docx(nested(60))) == "inmost"
    assert error_class_of(docx(nested(3000))) == "damaged"


def test_a_list_that_begins_beyond_all_counting_writes_no_endless_label() -> None:
    level = (
        '<w:lvl w:ilvl="0"><w:start w:val="2147483647"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1)"/></w:lvl>'
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    item = paragraph("item", properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')
    data = docx(item * 2, related={"n1": ("numbering", part("numbering", numbering))})
    assert text_of(data) == "32767) item\n32767) item"


@pytest.mark.parametrize("number_id", ["-1", "x", "", "99", "99999999999999999999"])
def test_a_list_that_is_not_there_gives_no_number(number_id: str) -> None:
    numbering = '<w:abstractNum w:abstractNumId="0"/><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    item = paragraph("item", properties=f'<w:numPr><w:numId w:val="{number_id}"/></w:numPr>')
    assert text_of(docx(item, related={"n1": ("numbering", part("numbering", numbering))})) == "item"


def test_styles_and_lists_that_refer_to_themselves_end() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="B"><w:basedOn w:val="A"/></w:style>'
        '<w:style w:type="numbering" w:styleId="L"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="L"/></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = paragraph("a", properties='<w:pStyle w:val="A"/>') + paragraph(
        "b", properties='<w:numPr><w:numId w:val="1"/></w:numPr>'
    )
    related = {"s": ("styles", part("styles", styles)), "n": ("numbering", part("numbering", numbering))}
    assert text_of(docx(body, related=related)) == "a\nb"
