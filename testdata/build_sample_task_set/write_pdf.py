"""Write a paper as a PDF with a real text layer.

The fourteen standard fonts are used, so that nothing depends on the fonts of the machine; their encoding has umlauts,
§ and typographic quotation marks, but no mark for an open point: an executed paper has none.
"""

from __future__ import annotations

import io
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, SimpleDocTemplate
from reportlab.platypus import Paragraph as PdfParagraph
from reportlab.platypus import Table as PdfTable

from .model import Paper, Table

_BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10, leading=13, spaceAfter=5, alignment=TA_JUSTIFY)
_STYLES = {
    "title": ParagraphStyle("title", _BODY, fontName="Times-Bold", fontSize=14, leading=18, alignment=TA_CENTER),
    "heading": ParagraphStyle("heading", _BODY, fontName="Times-Bold", spaceBefore=8, keepWithNext=1),
    "subheading": ParagraphStyle("subheading", _BODY, fontName="Times-BoldItalic", spaceBefore=4, keepWithNext=1),
    "item": ParagraphStyle("item", _BODY, leftIndent=22),
    "centre": ParagraphStyle("centre", _BODY, alignment=TA_CENTER),
    "small": ParagraphStyle("small", _BODY, fontSize=8, leading=10),
}
_GRID = [("GRID", (0, 0), (-1, -1), 0.4, "#808080"), ("VALIGN", (0, 0), (-1, -1), "TOP")]


def _without_advertisement(data: bytes) -> bytes:
    """Blank the library's comments, byte for byte: an offset of the cross-reference table must not move."""
    for comment in (
        b"ReportLab Generated PDF document (opensource)",
        b"ReportLab generated PDF document -- digest (opensource)",
    ):
        data = data.replace(comment, b" " * len(comment))
    return data


def pdf_bytes(paper: Paper) -> bytes:
    """Return the .pdf file of `paper`; `invariant` keeps clock and random ids out of it."""
    buffer = io.BytesIO()
    template = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        leftMargin=68,
        rightMargin=68,
        topMargin=64,
        bottomMargin=60,
        title=paper.title,
        author=paper.creator,
        creator=paper.creator,
        producer="Document production",
        invariant=1,
        pageCompression=1,
    )

    def decorate(canvas: Any, _document: Any) -> None:
        canvas.saveState()
        canvas.setFont("Times-Italic", 8)
        if paper.header:
            canvas.drawString(68, A4[1] - 40, paper.header)
        canvas.drawRightString(A4[0] - 68, 34, f"{paper.page_label} {canvas.getPageNumber()}")
        if paper.footer:
            canvas.drawString(68, 34, paper.footer)
        canvas.restoreState()

    flow: list[Flowable] = []
    for block in paper.blocks:
        if isinstance(block, Table):
            cells = [[PdfParagraph(escape(cell), _STYLES["small"]) for cell in row] for row in block.rows]
            flow.append(PdfTable(cells, style=_GRID, hAlign="LEFT", spaceAfter=8))
        else:
            note = f" ({block.footnote})" if block.footnote else ""
            flow.append(PdfParagraph(escape(block.text + note), _STYLES.get(block.style, _BODY)))
    template.build(flow, onFirstPage=decorate, onLaterPages=decorate)
    return _without_advertisement(buffer.getvalue())
