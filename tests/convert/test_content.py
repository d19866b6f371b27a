from pathlib import Path

import pytest

from gold_files import DATA
from knowledge_index.convert import converter_for
from knowledge_index.convert.content import kind_of
from knowledge_index.domain.errors import ConversionError

FILES = {
    "pdf": DATA / "pdf" / "header_drawn_last.pdf",
    "pptx": DATA / "pptx" / "chart.pptx",
    "rtf": DATA / "rtf" / "table.rtf",
    "xlsx": DATA / "xlsx" / "numbers.xlsx",
}


@pytest.mark.parametrize(("kind", "file"), FILES.items(), ids=str)
def test_a_kind_is_told_from_the_bytes(kind: str, file: Path) -> None:
    assert kind_of(file.read_bytes()) == kind


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"plain words", b"a;b\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 9]
)
def test_what_bears_no_mark_is_left_to_its_name(data: bytes) -> None:
    assert kind_of(data) is None


@pytest.mark.parametrize("name", ["a.docx", "a.txt", "a.html", "a.xlsx", "a.eml"])
def test_a_pdf_under_another_name_is_read_and_says_so(name: str) -> None:
    data = FILES["pdf"].read_bytes()
    right, wrong = converter_for("a.pdf").convert(data), converter_for(name).convert(data)
    assert (wrong.text, wrong.pages) == (right.text, right.pages)
    assert right.degraded == ()
    assert wrong.degraded[0].startswith("is a PDF, named ")
    assert (wrong.converter_name, wrong.converter_version) == (converter_for(name).name, converter_for(name).version)


@pytest.mark.parametrize("name", ["a.docx", "a.pdf", "a.xlsx", "a.pptx", "a.rtf"])
def test_words_under_the_name_of_a_format_are_damaged(name: str) -> None:
    with pytest.raises(ConversionError) as caught:
        converter_for(name).convert(b"only some words")
    assert caught.value.error_class == "damaged"
