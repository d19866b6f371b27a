import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from knowledge_index.config import ConversionSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.convert.pdf import PdfConverter
from knowledge_index.convert.recognition import TesseractRecogniser
from knowledge_index.domain.errors import ConfigurationError, ConversionError

LANGUAGES = "deu+eng"
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


class FakeRecogniser:
    signature = "fake 1"

    def __init__(self, words: str) -> None:
        self.words = words

    def text_of(self, pixels: bytes, width: int, height: int, stride: int, dpi: float) -> str:
        assert len(pixels) == stride * height
        assert stride >= width
        return self.words


def scan(*pages: str) -> bytes:
    """A PDF whose pages are pictures; an empty page is one of plain text."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    for words in pages:
        if words:
            picture = Image.new("L", (1240, 1754), 255)
            font = ImageFont.truetype(str(FONT), 40) if FONT.exists() else ImageFont.load_default(40)
            ImageDraw.Draw(picture).multiline_text((120, 160), words, fill=0, font=font, spacing=24)
            canvas.drawImage(ImageReader(picture), 0, 0, 595, 842)
        else:
            canvas.drawString(72, 750, "Deckblatt")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


@pytest.fixture(scope="module")
def tesseract() -> TesseractRecogniser:
    try:
        return TesseractRecogniser(LANGUAGES)
    except ConfigurationError as error:
        pytest.skip(f"Tesseract with {LANGUAGES} is not installed: {error}")


def test_a_scanned_page_is_read_by_the_recogniser_and_says_so() -> None:
    document = PdfConverter(FakeRecogniser("gelesene Worte")).convert(scan("", "x"))
    assert document.text == "Deckblatt\n\f\ngelesene Worte"
    assert [page.number for page in document.pages] == [1, 2]
    assert document.pages_without_text == 0
    assert document.degraded == ("page 2 read by OCR: words may be wrong",)


def test_the_recogniser_is_part_of_the_version() -> None:
    plain, reading = PdfConverter(), PdfConverter(FakeRecogniser(""))
    assert reading.version == f"{plain.version}+fake 1"


def test_a_scan_without_words_has_no_text() -> None:
    with pytest.raises(ConversionError, match="OCR found no words") as caught:
        PdfConverter(FakeRecogniser(" \n")).convert(scan("x"))
    assert caught.value.error_class == "no_text"


def test_german_and_english_are_read(tesseract: TesseractRecogniser) -> None:
    document = PdfConverter(tesseract).convert(
        scan(
            "Die Haftung für Mängel ist beschränkt.\nDie Vergütung beträgt 5.000 Euro.",
            "The supplier is liable for gross negligence.",
        )
    )
    first, second = document.text.split("\f")
    assert "Haftung für Mängel ist beschränkt" in first
    assert "Vergütung" in first
    assert "liable for gross negligence" in second
    assert document.degraded == ("pages 1-2 read by OCR: words may be wrong",)


def test_a_page_is_read_the_same_whatever_was_read_before(tesseract: TesseractRecogniser) -> None:
    one, other = scan("Vertrag über die Lieferung"), scan("Kündigung zum 31.12.2026")
    converter = PdfConverter(tesseract)
    first = converter.convert(one).text
    converter.convert(other)
    assert converter.convert(one).text == first


def isolated(**limits: object) -> IsolatedConverter:
    return IsolatedConverter(ConversionSettings.model_validate({"ocr_languages": LANGUAGES, **limits}))


@pytest.mark.usefixtures("tesseract")
def test_a_conversion_in_a_process_without_rights_reads_scans_too() -> None:
    data = scan("Die Haftung für Mängel ist beschränkt.", "")
    with isolated() as converter:
        document = converter.convert("scan.pdf", data)
    assert document == converter_for("scan.pdf", LANGUAGES).convert(data)
    assert "Haftung für Mängel" in document.text


@pytest.mark.usefixtures("tesseract")
def test_reading_scans_has_more_time_than_other_conversions() -> None:
    data = scan(*["The supplier is liable for gross negligence.\n" * 20] * 4)
    with isolated(cpu_s=1, ocr_time_factor=60) as patient:
        assert patient.convert("scan.pdf", data).text.count("gross negligence") == 80
    with (
        isolated(cpu_s=1, ocr_time_factor=1) as hasty,
        pytest.raises(ConversionError, match="ocr_time_factor") as caught,
    ):
        hasty.convert("scan.pdf", data)
    assert caught.value.error_class == "cpu"


def test_a_language_that_is_not_installed_is_refused_with_what_to_do(tesseract: TesseractRecogniser) -> None:
    with pytest.raises(ConfigurationError, match=r"ocr_languages is 'xyz'.*install"):
        converter_for("a.pdf", "xyz").version  # noqa: B018  reading it loads the languages
