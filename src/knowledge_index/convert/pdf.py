"""PDF: the text layer, page by page; scanned pages by text recognition where that is switched on."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from knowledge_index.convert.dehyphenation import WordsOf
from knowledge_index.convert.normalise import converted_pages, normal_form
from knowledge_index.convert.pdf_page import is_scan, page_text
from knowledge_index.convert.recognition import Recogniser
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

# PDFium keeps its state for the process: no two threads may be inside it.
_PDFIUM = threading.Lock()
_RECOGNITION_DPI = 300
_POINTS_PER_INCH = 72
# A poster at 300 dpi would exhaust the machine; it is recognised at fewer.
_MAX_PIXELS = 40_000_000


class PdfConverter:
    r"""The pages' text in reading order, a line with a form feed between two pages; each page's span is kept.

    Kept: lines as the page has them, columns one after the other (see ``pdf_layout``), headers and footers, page
    numbers, text drawn across the page, the values of form fields and the comments, behind their page; words cut at a
    line end are whole again (see ``dehyphenation``). Files with an owner password only are read.
    Scanned pages are counted and named in ``degraded``; with a recogniser they are read by it, which ``degraded`` says.
    Dropped: pictures, fonts and their sizes, bookmarks, attached files, scripts.
    """

    name = "pdf"
    suffixes = frozenset({".pdf"})

    def __init__(self, recogniser: Recogniser | None = None) -> None:
        self._recogniser = recogniser
        # Another recogniser may give another text.
        self.version = "2" if recogniser is None else f"2+{recogniser.signature}"

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .pdf.

        Raises:
            ConversionError: ``encrypted`` where it asks for a password, ``damaged``, or ``no_text`` for a scan.
        """
        with _PDFIUM, _opened(data) as document:
            pages = _Pages()
            for number in range(1, len(document) + 1):
                self._read_page(document, number, pages)
            title = document.get_metadata_value("Title")
        if not any(text.strip() for text in pages.texts):
            if pages.unreadable:
                raise ConversionError("damaged", f"no page of the PDF can be read: {_listed(pages.unreadable)}")
            raise ConversionError("no_text", _no_text(pages, self._recogniser))
        words = WordsOf(pages.texts)
        made = converted_pages([words.joined(text) for text in pages.texts], title, self.name, self.version)
        return replace(made, pages_without_text=len(pages.scanned), degraded=pages.degraded())

    def _read_page(self, document: Any, number: int, pages: "_Pages") -> None:
        import pypdfium2

        try:
            page = document[number - 1]
        except pypdfium2.PdfiumError:
            pages.unreadable.append(number)
            pages.texts.append("")
            return
        try:
            text = page_text(page)
            if is_scan(page, text):
                recognised = "" if self._recogniser is None else _recognised(page, self._recogniser)
                (pages.recognised if recognised else pages.scanned).append(number)
                text = "\n".join(each for each in (text, recognised) if each)
            pages.texts.append(text)
        except pypdfium2.PdfiumError:
            pages.unreadable.append(number)
            pages.texts.append("")
        finally:
            page.close()


CONVERTER = PdfConverter()


@dataclass
class _Pages:
    """The texts of all pages, and the numbers of those that are more or less than their text layer."""

    texts: list[str] = field(default_factory=list)
    scanned: list[int] = field(default_factory=list)
    recognised: list[int] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)

    def degraded(self) -> tuple[str, ...]:
        said = (
            (self.recognised, "read by OCR: words may be wrong"),
            (self.scanned, "scanned, without text: needs OCR"),
            (self.unreadable, "damaged, not read"),
        )
        return tuple(f"{_listed(numbers)} {what}" for numbers, what in said if numbers)


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).casefold():
            raise ConversionError("encrypted", "the PDF asks for a password; store a copy without one") from error
        raise ConversionError("damaged", f"the file is no readable PDF: {error}") from error
    try:
        yield document
    finally:
        document.close()


def _recognised(page: Any, recogniser: Recogniser) -> str:
    width, height = page.get_size()
    scale = _RECOGNITION_DPI / _POINTS_PER_INCH
    pixels = width * height * scale * scale
    if pixels > _MAX_PIXELS:
        scale *= (_MAX_PIXELS / pixels) ** 0.5
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        return normal_form(
            recogniser.text_of(
                bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride, scale * _POINTS_PER_INCH
            )
        )
    finally:
        bitmap.close()


def _no_text(pages: _Pages, recogniser: Recogniser | None) -> str:
    if not pages.scanned:
        return "the pages of the PDF are empty"
    what = f"the PDF has no text layer: {_listed(pages.scanned)} scanned"
    if recogniser is None:
        return f"{what}; to read it by OCR, install Tesseract and set conversion.ocr_languages"
    return f"{what}, and OCR found no words in them"


def _listed(numbers: list[int]) -> str:
    """``page 3``, ``pages 1-4, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    text = ", ".join("-".join(map(str, run)) for run in runs)
    return f"page{'s' if len(numbers) > 1 else ''} {text}"
