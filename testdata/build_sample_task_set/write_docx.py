"""Write a paper as a small, complete WordprocessingML package.

python-docx starts from a template of 37 KB; these packages are a few KB, and every byte of them is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from xml.sax.saxutils import escape

from .model import Author, Paper, Paragraph, Span, Table
from .zipping import fixed_zip

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMESPACES = f'xmlns:w="{_W}" xmlns:r="{_R}"'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_STYLE_IDS = {
    "title": "Title",
    "heading": "Heading1",
    "subheading": "Heading2",
    "item": "ListParagraph",
    "centre": "Centred",
    "small": "Small",
}


@dataclass
class _State:
    """Counters and footnotes collected while the body is written."""

    revision: count[int] = field(default_factory=lambda: count(101))
    footnotes: list[str] = field(default_factory=list)
    tracked: bool = False


def docx_bytes(paper: Paper) -> bytes:
    """Return the .docx file of `paper`."""
    state = _State()
    body = "".join(_table(b) if isinstance(b, Table) else _paragraph(b, state) for b in paper.blocks)
    if isinstance(paper.blocks[-1], Table):
        body += "<w:p/>"  # Word wants a paragraph after the last table
    parts: dict[str, str] = {"[Content_Types].xml": "", "_rels/.rels": _root_rels()}
    overrides = [
        ("/word/document.xml", f"{_MAIN}.document.main+xml"),
        ("/word/styles.xml", f"{_MAIN}.styles+xml"),
        ("/word/settings.xml", f"{_MAIN}.settings+xml"),
        ("/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"),
    ]
    rels = [("rId1", "styles", "styles.xml"), ("rId2", "settings", "settings.xml")]
    references = ""
    extra: dict[str, str] = {}
    if paper.header:
        extra["word/header1.xml"] = _header(paper.header)
        overrides.append(("/word/header1.xml", f"{_MAIN}.header+xml"))
        rels.append(("rId3", "header", "header1.xml"))
        references += '<w:headerReference w:type="default" r:id="rId3"/>'
    if paper.footer:
        extra["word/footer1.xml"] = _footer(paper.footer, paper.page_label)
        overrides.append(("/word/footer1.xml", f"{_MAIN}.footer+xml"))
        rels.append(("rId4", "footer", "footer1.xml"))
        references += '<w:footerReference w:type="default" r:id="rId4"/>'
    if state.footnotes:
        extra["word/footnotes.xml"] = _footnotes(state.footnotes)
        overrides.append(("/word/footnotes.xml", f"{_MAIN}.footnotes+xml"))
        rels.append(("rId5", "footnotes", "footnotes.xml"))
    section = (
        f'<w:sectPr>{references}<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1418" w:right="1418" '
        'w:bottom="1134" w:left="1418" w:header="709" w:footer="567" w:gutter="0"/>'
        "</w:sectPr>"
    )
    parts["[Content_Types].xml"] = _content_types(overrides)
    parts["word/document.xml"] = (
        f"{_DECLARATION}<w:document {_NAMESPACES}><w:body>{body}{section}</w:body></w:document>"
    )
    parts["word/_rels/document.xml.rels"] = _relationships(
        [(rel_id, f"{_R}/{kind}", target) for rel_id, kind, target in rels]
    )
    parts["word/styles.xml"] = _styles()
    parts["word/settings.xml"] = _settings(tracked=state.tracked, footnotes=bool(state.footnotes))
    parts |= extra
    parts["docProps/core.xml"] = core_properties(paper.title, paper.creator, paper.created)
    return fixed_zip(parts)


def core_properties(title: str, creator: str, created: str) -> str:
    """Document properties with a date from the content, never from the clock."""
    return (
        f'{_DECLARATION}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>{escape(creator)}</dc:creator>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{created}</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{created}</dcterms:modified></cp:coreProperties>'
    )


def _attributes(author: Author, state: _State) -> str:
    state.tracked = True
    name = escape(author.name, {'"': "&quot;"})
    return f'w:id="{next(state.revision)}" w:author="{name}" w:date="{author.date}"'


def _paragraph(paragraph: Paragraph, state: _State) -> str:
    properties = ""
    if paragraph.style in _STYLE_IDS:
        properties += f'<w:pStyle w:val="{_STYLE_IDS[paragraph.style]}"/>'
    marks = ""
    if paragraph.inserted:
        marks += f"<w:ins {_attributes(paragraph.inserted, state)}/>"
    if paragraph.deleted:
        marks += f"<w:del {_attributes(paragraph.deleted, state)}/>"
    if marks:
        properties += f"<w:rPr>{marks}</w:rPr>"
    runs = "".join(_span(span, state) for span in _with_bold_terms(paragraph.spans))
    if paragraph.footnote:
        state.footnotes.append(paragraph.footnote)
        number = len(state.footnotes) + 1
        runs += f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteReference w:id="{number}"/></w:r>'
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{runs}</w:p>"


def _with_bold_terms(spans: tuple[Span, ...]) -> list[tuple[Span, bool]]:
    """Set a defined term in bold where a paragraph opens with it in quotation marks."""
    out: list[tuple[Span, bool]] = []
    for index, span in enumerate(spans):
        for opening, closing in (("“", "”"), ("„", "“")):
            end = span.text.find(closing, 1)
            if index == 0 and span.text.startswith(opening) and 0 < end < 60:
                out.append((Span(span.text[: end + 1], span.inserted, span.deleted), True))
                span = Span(span.text[end + 1 :], span.inserted, span.deleted)
                break
        out.append((span, False))
    return out


def _span(item: tuple[Span, bool], state: _State) -> str:
    span, bold = item
    if not span.text:
        return ""
    tag = "delText" if span.deleted else "t"
    properties = "<w:rPr><w:b/></w:rPr>" if bold else ""
    run = f'<w:r>{properties}<w:{tag} xml:space="preserve">{escape(span.text)}</w:{tag}></w:r>'
    if span.deleted:
        run = f"<w:del {_attributes(span.deleted, state)}>{run}</w:del>"
    if span.inserted:
        run = f"<w:ins {_attributes(span.inserted, state)}>{run}</w:ins>"
    return run


def _table(table: Table) -> str:
    columns = max(len(row) for row in table.rows)
    width = 9070 // columns
    grid = "".join(f'<w:gridCol w:w="{width}"/>' for _ in range(columns))
    rows = ""
    for number, row in enumerate(table.rows):
        cells = "".join(
            f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr><w:p><w:r>'
            f"{'<w:rPr><w:b/></w:rPr>' if number == 0 else ''}"
            f'<w:t xml:space="preserve">{escape(cell)}</w:t></w:r></w:p></w:tc>'
            for cell in row
        )
        rows += f"<w:tr>{cells}</w:tr>"
    return (
        '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="9070" w:type="dxa"/></w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid>{rows}</w:tbl>"
    )


def _header(text: str) -> str:
    return (
        f'{_DECLARATION}<w:hdr {_NAMESPACES}><w:p><w:pPr><w:pStyle w:val="Header"/></w:pPr>'
        f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p></w:hdr>'
    )


def _footer(text: str, page_label: str) -> str:
    return (
        f'{_DECLARATION}<w:ftr {_NAMESPACES}><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>'
        f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r><w:r><w:tab/></w:r>'
        f'<w:r><w:t xml:space="preserve">{page_label} </w:t></w:r>'
        '<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple></w:p></w:ftr>'
    )


def _footnotes(notes: list[str]) -> str:
    # Word wants the two separators first; the notes themselves start at id 2.
    out = (
        '<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
        '<w:footnote w:type="continuationSeparator" w:id="1">'
        "<w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>"
    )
    for number, note in enumerate(notes, start=2):
        out += (
            f'<w:footnote w:id="{number}"><w:p><w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr>'
            '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>'
            f'<w:r><w:t xml:space="preserve"> {escape(note)}</w:t></w:r></w:p></w:footnote>'
        )
    return f"{_DECLARATION}<w:footnotes {_NAMESPACES}>{out}</w:footnotes>"


def _settings(*, tracked: bool, footnotes: bool) -> str:
    inner = "<w:trackRevisions/>" if tracked else ""
    if footnotes:
        inner += '<w:footnotePr><w:footnote w:id="0"/><w:footnote w:id="1"/></w:footnotePr>'
    return f"{_DECLARATION}<w:settings {_NAMESPACES}>{inner}</w:settings>"


def _content_types(overrides: list[tuple[str, str]]) -> str:
    lines = "".join(f'<Override PartName="{part}" ContentType="{kind}"/>' for part, kind in overrides)
    return (
        f'{_DECLARATION}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{lines}</Types>'
    )


def _relationships(rels: list[tuple[str, str, str]]) -> str:
    lines = "".join(f'<Relationship Id="{i}" Type="{kind}" Target="{target}"/>' for i, kind, target in rels)
    return f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'


def _root_rels() -> str:
    return _relationships(
        [
            ("rId1", f"{_R}/officeDocument", "word/document.xml"),
            ("rId2", f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
        ]
    )


def _style(style_id: str, name: str, paragraph: str = "", run: str = "", kind: str = "paragraph") -> str:
    based = '<w:basedOn w:val="Normal"/>' if kind == "paragraph" else ""
    paragraph = f"<w:pPr>{paragraph}</w:pPr>" if paragraph else ""
    run = f"<w:rPr>{run}</w:rPr>" if run else ""
    return f'<w:style w:type="{kind}" w:styleId="{style_id}"><w:name w:val="{name}"/>{based}{paragraph}{run}</w:style>'


def _styles() -> str:
    border = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="808080"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    return (
        f"{_DECLARATION}<w:styles {_NAMESPACES}><w:docDefaults><w:rPrDefault><w:rPr>"
        '<w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman" w:cs="Times New Roman"/><w:sz w:val="22"/>'
        '</w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120"/></w:pPr></w:pPrDefault></w:docDefaults>'
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
        + _style("Title", "Title", '<w:spacing w:after="240"/><w:jc w:val="center"/>', '<w:b/><w:sz w:val="30"/>')
        + _style("Heading1", "heading 1", '<w:keepNext/><w:spacing w:before="240"/><w:outlineLvl w:val="0"/>', "<w:b/>")
        + _style("Heading2", "heading 2", '<w:keepNext/><w:outlineLvl w:val="1"/>', "<w:b/><w:i/>")
        + _style("ListParagraph", "List Paragraph", '<w:ind w:left="720"/>')
        + _style("Centred", "Centred", '<w:jc w:val="center"/>')
        + _style("Small", "Small", "", '<w:sz w:val="18"/>')
        + _style("Header", "header", '<w:jc w:val="right"/>', '<w:sz w:val="18"/>')
        + _style("Footer", "footer", '<w:tabs><w:tab w:val="right" w:pos="9070"/></w:tabs>', '<w:sz w:val="18"/>')
        + _style("FootnoteText", "footnote text", "", '<w:sz w:val="18"/>')
        + _style("FootnoteReference", "footnote reference", "", '<w:vertAlign w:val="superscript"/>', "character")
        + '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr><w:tblBorders>'
        f"{border}</w:tblBorders></w:tblPr></w:style></w:styles>"
    )
