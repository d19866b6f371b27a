import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from knowledge_index.convert import converter_for
from knowledge_index.convert.base import Converter
from knowledge_index.domain.errors import ConversionError


@pytest.fixture
def converter() -> Converter:
    return converter_for("paper.pdf")


def pdf(
    *pages: list[str], title: str = "", user_password: str | None = None, owner_password: str | None = None
) -> bytes:
    encryption = None
    if user_password is not None or owner_password is not None:
        encryption = StandardEncryption(user_password or "", ownerPassword=owner_password, canPrint=0)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1, encrypt=encryption)
    canvas.setTitle(title)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(72, 750 - 20 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_pages_in_order_with_a_form_feed_between(converter: Converter) -> None:
    document = converter.convert(pdf(["Kaufvertrag", "§ 1 Gegenstand"], ["Seite zwei: größer"]))
    assert document.text == "Kaufvertrag\n§ 1 Gegenstand\n\f\nSeite zwei: größer"


def test_a_word_split_at_a_line_end_is_whole_again(converter: Converter) -> None:
    text = converter.convert(pdf(["Die Haftungs-", "beschränkung gilt für Unter-", "Auftragnehmer."])).text
    assert "Haftungsbeschränkung" in text
    assert "Unter-Auftragnehmer" in text


def test_the_title_is_that_of_the_metadata(converter: Converter) -> None:
    assert converter.convert(pdf(["x"], title="Supply Agreement")).title == "Supply Agreement"
    assert converter.convert(pdf(["x"], title="untitled")).title is None


def test_an_owner_password_alone_hides_no_text(converter: Converter) -> None:
    assert converter.convert(pdf(["open"], owner_password="owner")).text == "open"


@pytest.mark.parametrize(
    ("data", "error_class"),
    [
        (b"", "damaged"),
        (b"%PDF-1.7 and nothing else", "damaged"),
        (pdf(["secret"], user_password="user", owner_password="owner"), "encrypted"),
        (pdf([], []), "no_text"),
    ],
)
def test_what_cannot_be_read_says_why(converter: Converter, data: bytes, error_class: str) -> None:
    with pytest.raises(ConversionError) as caught:
        converter.convert(data)
    assert caught.value.error_class == error_class


def test_a_truncated_file_is_text_or_an_error_of_ours(converter: Converter) -> None:
    data = pdf(["one"], ["two"])
    for end in range(0, len(data), 97):
        try:
            text = converter.convert(data[:end]).text
        except ConversionError as error:
            text = error.error_class
        assert text


def test_threads_get_the_same_text(converter: Converter) -> None:
    data = pdf(*([f"page {number}"] for number in range(20)))
    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(lambda _: converter.convert(data).text, range(12)))
    assert len(texts) == 1
