"""PDF: the text layer, page by page."""

import re
import threading
from typing import Any

from knowledge_index.convert.normalise import converted, normal_form
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

# PDFium writes this character, and no line break, where a line ends in a hyphen.
_HYPHEN = "\x02"
_SPLIT_WORD = re.compile(f"(?<=[a-zß-öø-ÿ]){_HYPHEN}(?=[a-zß-öø-ÿ])")
# PDFium keeps its state for the process: no two threads may be inside it.
_PDFIUM = threading.Lock()
_PAGE_SEPARATOR = "\n\f\n"


class PdfConverter:
    r"""The pages' text, a line with a form feed between two pages; words split at line ends are whole again."""

    name = "pdf"
    version = "1"
    suffixes = frozenset({".pdf"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .pdf.

        Raises:
            ConversionError: ``encrypted`` where it asks for a password, ``damaged``, or ``no_text`` for a scan.
        """
        with _PDFIUM:
            pages, title = _read(data)
        if not any(page.strip() for page in pages):
            raise ConversionError(
                "no_text", "the PDF has no text layer; it is likely a scan and needs text recognition"
            )
        return converted(_PAGE_SEPARATOR.join(pages), title, self.name, self.version)


CONVERTER = PdfConverter()


def _read(data: bytes) -> tuple[list[str], str | None]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).casefold():
            raise ConversionError("encrypted", "the PDF asks for a password; store a copy without one") from error
        raise ConversionError("damaged", f"the file is no readable PDF: {error}") from error
    try:
        return [_page_text(document, number) for number in range(len(document))], document.get_metadata_value("Title")
    except pypdfium2.PdfiumError as error:
        raise ConversionError("damaged", f"a page of the PDF cannot be read: {error}") from error
    finally:
        document.close()


def _page_text(document: Any, number: int) -> str:
    page = document[number]
    text_page = page.get_textpage()
    try:
        text = str(text_page.get_text_bounded())
    finally:
        text_page.close()
        page.close()
    return normal_form(_SPLIT_WORD.sub("", text).replace(_HYPHEN, "-"))
