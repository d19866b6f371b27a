"""One page of a PDF: its lines in reading order, what its form fields and comments say, and whether it is a scan."""

import ctypes
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from knowledge_index.convert.normalise import normal_form
from knowledge_index.convert.pdf_layout import Piece, reading_order, rows_of

# PDFium writes one of these, and no line break, where a line ends in a hyphen: which one depends on how it is asked.
_HYPHENS = "\x02\ufffe"
_LETTER = re.compile(r"[^\W\d_]")
_LINE = re.compile(f"[^\n{_HYPHENS}]*[\n{_HYPHENS}]|[^\n{_HYPHENS}]+")
_AS_HYPHEN = dict.fromkeys(map(ord, _HYPHENS), "-")
# A gap this many times the height of its line parts two pieces, as between columns or cells.
_GAP_PER_HEIGHT = 0.9
_UPRIGHT_RADIANS = 0.1
# A page is a scan where a picture covers most of it and the text is no more than a stamp or a page number.
_SCAN_COVER = 0.5
_STAMP_LETTERS = 40
# Kinds of annotations of ISO 32000-1, 12.5.6, and how a person comes by their words.
_COMMENT_LABELS = {"Text": "Comment", "FreeText": "Text box", "Highlight": "Comment", "StrikeOut": "Comment"}
_MAX_ANNOTATIONS = 10_000
_UTF16_BYTES = 2


def page_text(page: Any) -> str:
    """The text of a page in normal form: its lines, a hyphen at a line's end kept, then form fields and comments."""
    text_page = page.get_textpage()
    try:
        lines = list(_lines(page, text_page))
    finally:
        text_page.close()
    return normal_form("\n".join([*lines, *_annotations(page)]))


def is_scan(page: Any, text: str) -> bool:
    """Whether a page shows a picture in place of text; an empty page is none."""
    import pypdfium2.raw as pdfium

    if len(text) > _STAMP_LETTERS and len(_LETTER.findall(text)) > _STAMP_LETTERS:
        return False
    width, height = page.get_size()
    kinds = [pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_PATH] if not text else [pdfium.FPDF_PAGEOBJ_IMAGE]
    for each in page.get_objects(filter=kinds):
        if each.type == pdfium.FPDF_PAGEOBJ_IMAGE and not text:
            return True
        left, bottom, right, top = each.get_bounds()
        if (right - left) * (top - bottom) >= _SCAN_COVER * width * height:
            return bool(each.type == pdfium.FPDF_PAGEOBJ_IMAGE)
    return False


def _lines(page: Any, text_page: Any) -> Iterator[str]:
    text = str(text_page.get_text_range())
    if len(text) != text_page.count_chars() or page.get_rotation():
        # Characters cannot be told by their place, or the page is read turned: the order of the file it is.
        yield from _plain_lines(str(text_page.get_text_bounded()))
        return
    gaps = _has_gaps(text_page)
    upright: list[list[Piece]] = []
    turned: list[str] = []
    start = 0
    for line in _plain_lines(text, keep_ends=True):
        if line.strip():
            if _is_upright(text_page, start + len(line) - len(line.lstrip())):
                upright.append(list(_pieces(text_page, line, start)) if gaps else [_whole(text_page, line, start)])
            else:
                turned.append(line.strip())
        start += len(line)
    yield from reading_order(upright)
    yield from turned


def _plain_lines(text: str, *, keep_ends: bool = False) -> Iterator[str]:
    """Lines as PDFium ends them; the mark of a hyphen ends a line too."""
    for line in _LINE.findall(text):
        yield line if keep_ends else line.translate(_AS_HYPHEN).rstrip("\r\n")


def _has_gaps(text_page: Any) -> bool:
    """Whether any two stretches of text at one height have a wide gap between them: else no line has to be parted."""
    import pypdfium2.raw as pdfium

    sides = [ctypes.c_double() for _ in range(4)]
    stretches = []
    for index in range(pdfium.FPDFText_CountRects(text_page, 0, -1)):
        pdfium.FPDFText_GetRect(text_page, index, *sides)
        left, top, right, bottom = (side.value for side in sides)
        stretches.append(Piece("", left, bottom, right, top))
    return any(
        other.left - one.right > _GAP_PER_HEIGHT * min(one.height, other.height)
        for row in rows_of(stretches)
        for one, other in pairwise(row)
    )


def _is_upright(text_page: Any, index: int) -> bool:
    import pypdfium2.raw as pdfium

    angle = pdfium.FPDFText_GetCharAngle(text_page, index)
    return bool(min(angle % (2 * math.pi), -angle % (2 * math.pi)) < _UPRIGHT_RADIANS)


def _pieces(text_page: Any, line: str, start: int) -> Iterator[Piece]:
    """The pieces of a line, parted at wide gaps; ``start`` is the index of its first character."""
    words: list[tuple[int, int]] = []
    place = 0
    for word in line.split():
        place = line.index(word, place)
        words.append((place, place + len(word)))
        place += len(word)
    boxes = [_word_box(text_page, start + first, start + end - 1) for first, end in words]
    height = max(box[3] - box[1] for box in boxes)
    group = 0
    for number in range(1, len(words) + 1):
        gap = boxes[number][0] - boxes[number - 1][2] if number < len(words) else math.inf
        if gap > _GAP_PER_HEIGHT * height or gap < -height:
            held = boxes[group:number]
            text = line[words[group][0] : words[number - 1][1]].translate(_AS_HYPHEN)
            yield Piece(
                text,
                min(box[0] for box in held),
                min(box[1] for box in held),
                max(box[2] for box in held),
                max(box[3] for box in held),
            )
            group = number


def _whole(text_page: Any, line: str, start: int) -> Piece:
    """A line that has no wide gap."""
    text = line.strip()
    first = start + line.index(text)
    return Piece(text.translate(_AS_HYPHEN), *_word_box(text_page, first, first + len(text) - 1))


def _word_box(text_page: Any, first: int, last: int) -> tuple[float, float, float, float]:
    one, other = _box(text_page, first), _box(text_page, last)
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _box(text_page: Any, index: int) -> tuple[float, float, float, float]:
    """Left, bottom, right, top of a character, as high as its font, so that "." and "A" stand in one row."""
    import pypdfium2.raw as pdfium

    rectangle = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(text_page, index, rectangle)
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _annotations(page: Any) -> Iterator[str]:
    import pypdfium2.raw as pdfium

    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_WIDGET:
                name, value = _value(annotation, "T"), _value(annotation, "V")
                if value and _value(annotation, "FT") in ("Tx", "Ch"):
                    yield f"[Field {name}: {value}]" if name else f"[Field: {value}]"
                continue
            label = next((label for each, label in _COMMENT_LABELS.items() if kind == _kind_number(pdfium, each)), None)
            words = _value(annotation, "Contents") if label else ""
            if words:
                author = _value(annotation, "T")
                yield f"[{label} by {author}: {words}]" if author else f"[{label}: {words}]"
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _kind_number(pdfium: Any, kind: str) -> int:
    return int(getattr(pdfium, f"FPDF_ANNOT_{kind.upper()}"))


def _value(annotation: Any, key: str) -> str:
    """A string of an annotation's dictionary, on one line."""
    import pypdfium2.raw as pdfium

    size = pdfium.FPDFAnnot_GetStringValue(annotation, key.encode(), None, 0)
    if size <= _UTF16_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAnnot_GetStringValue(
        annotation, key.encode(), ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size
    )
    return " ".join(buffer.raw[:-_UTF16_BYTES].decode("utf-16-le", "replace").split())
