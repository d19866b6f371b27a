"""PowerPoint: the slides, one after the other."""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from knowledge_index.convert.normalise import converted_pages
from knowledge_index.convert.ooxml import OoxmlPackage, repaired_package
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_CELL_SEPARATOR = " | "
_DRAWING_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_DRAWING_PARAGRAPH = "{http://schemas.openxmlformats.org/drawingml/2006/main}p"
_DOCUMENT_TYPE = re.compile(rb"<!DOCTYPE|<\x00!\x00D\x00O\x00C\x00T\x00Y\x00P\x00E")
_PLACEHOLDER_NUMBER = "SLIDE_NUMBER"


class PptxConverter:
    """Each slide's text in the order of its shapes, as a page of its own.

    Kept: hidden slides, marked "(hidden slide)"; text of shapes, groups, tables (rows as lines), charts (title and
    categories) and diagrams; speaker notes, marked "Notes:"; comments with their author.
    Dropped: slide numbers, what stands on masters and layouts only, chart figures, pictures, animations.
    """

    name = "pptx"
    version = "1"
    suffixes = frozenset({".pptx"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .pptx.

        Raises:
            ConversionError: ``encrypted``, ``damaged``, ``too_large`` or ``empty``.
        """
        package = OoxmlPackage(data)
        degraded: list[str] = []
        for part in package.part_names():
            if part.endswith((".xml", ".rels")) and _DOCUMENT_TYPE.search(package.read(part)):
                raise ConversionError("damaged", f"part {part} brings a document type, which OOXML forbids")
        try:
            slides = _slides(data, degraded)
        except ConversionError:
            repaired = repaired_package(package)
            if repaired is None:
                raise
            degraded = []
            slides = _slides(repaired, degraded)
        document = converted_pages(slides, package.title(), self.name, self.version)
        return replace(document, degraded=(*package.repairs, *degraded))


CONVERTER = PptxConverter()


def _slides(data: bytes, degraded: list[str]) -> list[str]:
    import pptx

    try:
        presentation = pptx.Presentation(io.BytesIO(data))
        slides = list(presentation.slides)
    except MemoryError:
        raise
    except Exception as error:
        # python-pptx raises whatever the parsers underneath raise.
        raise ConversionError("damaged", f"the presentation cannot be read: {error!r}") from error
    texts: list[str] = []
    for number, slide in enumerate(slides, start=1):
        lines: list[str] = []
        try:
            lines.extend(_slide_lines(slide))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  one damaged slide does not cost the others
            degraded.append(f"slide {number} cannot be read whole: {type(error).__name__}: {error}")
        texts.append("\n".join(lines))
    return texts


def _slide_lines(slide: Any) -> Iterator[str]:
    lines = [line for shape in slide.shapes for line in _shape_lines(shape)]
    if lines and slide._element.get("show") in ("0", "false"):
        yield "(hidden slide)"
    yield from lines
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        if notes:
            yield f"Notes: {notes}"
    yield from _comments(slide.part)


def _shape_lines(shape: Any) -> Iterator[str]:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
        for each in shape.shapes:
            yield from _shape_lines(each)
    elif getattr(shape, "has_table", False) and shape.has_table:
        for row in shape.table.rows:
            cells = [" ".join(cell.text.split()) for cell in row.cells if not cell.is_spanned]
            if any(cells):
                yield _CELL_SEPARATOR.join(cell for cell in cells if cell)
    elif getattr(shape, "has_chart", False) and shape.has_chart:
        yield from _chart_lines(shape.chart)
    elif _is_slide_number(shape):
        return
    elif shape.has_text_frame:
        yield from (text for paragraph in shape.text_frame.paragraphs if (text := paragraph.text.strip()))
    else:
        yield from _diagram_lines(shape)


def _is_slide_number(shape: Any) -> bool:
    kind = shape.placeholder_format.type if shape.is_placeholder else None
    return kind is not None and kind.name == _PLACEHOLDER_NUMBER


def _chart_lines(chart: Any) -> Iterator[str]:
    if chart.has_title and chart.chart_title.has_text_frame:
        yield chart.chart_title.text_frame.text.strip()
    for plot in chart.plots:
        words = [*(str(each) for each in plot.categories), *(series.name for series in plot.series)]
        if words:
            yield _CELL_SEPARATOR.join(" ".join(word.split()) for word in words if word.strip())


def _diagram_lines(shape: Any) -> Iterator[str]:
    """The paragraphs of a diagram (SmartArt), which lie in a part of their own."""
    from lxml import etree

    for reference in shape._element.iter("{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"):
        key = reference.get("{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm")
        part = shape.part.related_part(key)
        root = etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
        for paragraph in root.iter(_DRAWING_PARAGRAPH):
            text = "".join(run.text or "" for run in paragraph.iter(_DRAWING_TEXT)).strip()
            if text:
                yield text


def _comments(slide_part: Any) -> Iterator[str]:
    from lxml import etree

    for relation in slide_part.rels.values():
        if relation.is_external or not relation.reltype.endswith("/comments"):
            continue
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(relation.target_part.blob, parser)
        authors = _comment_authors(slide_part)
        for comment in root.iter("{*}cm"):
            # Older files keep the words in one element, newer ones as paragraphs of drawing text.
            words = comment.findtext("{*}text") or " ".join(each.text or "" for each in comment.iter(_DRAWING_TEXT))
            author = authors.get(comment.get("authorId", ""), "")
            if words.strip():
                yield f"[Comment by {author}: {words.strip()}]" if author else f"[Comment: {words.strip()}]"


def _comment_authors(slide_part: Any) -> dict[str, str]:
    from lxml import etree

    for relation in slide_part.package.presentation_part.rels.values():
        if not relation.is_external and relation.reltype.rsplit("/", 1)[-1] in ("commentAuthors", "authors"):
            root = etree.fromstring(
                relation.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
            )
            return {each.get("id", ""): each.get("name", "") for each in root}
    return {}
