import codecs

import pytest

from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError

GERMAN = "Die Haftung für Mängel ist gemäß § 5 beschränkt; Änderungen bedürfen der Schriftform. Grüße aus Köln"


@pytest.mark.parametrize(
    "data",
    [
        GERMAN.encode(),
        codecs.BOM_UTF8 + GERMAN.encode(),
        GERMAN.encode("utf-16"),
        codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"),
        GERMAN.encode("utf-32"),
        GERMAN.encode("cp1252"),
        GERMAN.encode("iso-8859-1"),
    ],
)
@pytest.mark.parametrize("suffix", ["txt", "MD"])
def test_every_usual_encoding_is_read(data: bytes, suffix: str) -> None:
    assert converter_for(f"a.{suffix}").convert(data).text == GERMAN


@pytest.mark.parametrize(
    ("data", "error_class"),
    [(b"", "empty"), (b" \r\n\t\x00", "empty"), (bytes(range(128, 256)) * 8 + b"\x00\x01\x02" * 200, "damaged")],
)
def test_what_is_no_text_says_so(data: bytes, error_class: str) -> None:
    with pytest.raises(ConversionError) as caught:
        converter_for("a.txt").convert(data)
    assert caught.value.error_class == error_class
