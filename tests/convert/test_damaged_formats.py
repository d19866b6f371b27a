"""A file that was cut or altered gives a text or an error of ours, and spans that fit."""

import random
from pathlib import Path

import pytest

from gold_files import gold_cases
from knowledge_index.convert import converter_for
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

REFUSALS = {"damaged", "empty", "encrypted", "no_text", "too_large"}
CASES = [case for name in ("csv", "html", "pdf", "pptx", "rtf", "text", "xlsx") for case in gold_cases(name)]


def damaged(data: bytes, source: random.Random) -> bytes:
    """The bytes cut off, with some altered, or with a piece missing."""
    place = source.randrange(len(data))
    match source.randrange(3):
        case 0:
            return data[:place]
        case 1:
            altered = bytearray(data)
            for _ in range(source.randint(1, 20)):
                altered[source.randrange(len(data))] = source.randrange(256)
            return bytes(altered)
    return data[:place] + data[place + source.randint(1, 200) :]


def read(name: str, data: bytes) -> ConvertedDocument | None:
    """The document, or None where the file was refused as it should be."""
    try:
        return converter_for(name).convert(data)
    except ConversionError as error:
        if error.error_class not in REFUSALS:
            raise
        return None


def check(case: Path, rounds: int) -> None:
    data, source = case.read_bytes(), random.Random(case.name)
    for _ in range(rounds):
        document = read(case.name, damaged(data, source))
        if document is None:
            continue
        assert document.text.strip()
        ends = [0, *(place for page in document.pages for place in (page.start_char, page.end_char))]
        assert ends == sorted(ends)
        assert ends[-1] <= len(document.text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_damaged_files(case: Path) -> None:
    check(case, 3)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_many_damaged_files(case: Path) -> None:
    check(case, 100)
