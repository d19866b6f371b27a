"""Gold files: what a converter has to make of a small file stands beside it.

``tests/data/<format>/<case>.<ext>`` is the file, ``<case>.expected.json`` what is expected of it. The expectation is
written by hand from what the program that owns the format shows, and holds only what differs from nothing:

- ``text``, ``original_text``, ``marked_text``: lists of lines
- ``title``: a string
- ``changes``: objects with ``kind``, ``author``, ``date``, ``start_char``, ``end_char``, ``text``
- ``pages``: lists of number, start, end; ``pages_without_text``: a count
- ``contained``: the names of the files inside
- ``thread``: an object with the fields of ``MailThread``
- ``degraded``: the lines that say what had to be repaired
- ``error_class``: the only key where the file cannot be read

A format's test module reads::

    @pytest.mark.parametrize("case", gold_cases("docx"), ids=case_name)
    def test_gold(case: Path, regenerate_gold: bool) -> None:
        check_gold(case, regenerate=regenerate_gold)

``pytest --regenerate-gold`` writes the expectations anew from the converters' output. It is for changes of a format
that were looked at file by file; ``test_gold_files.py`` asserts that no other run has it.
"""

import dataclasses
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from knowledge_index.convert import converter_for
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

DATA = Path(__file__).resolve().parent / "data"
EXPECTED_SUFFIX = ".expected.json"
# The first moment that a zip archive can state, so that the same parts are the same bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


def gold_cases(format_name: str) -> list[Path]:
    """The files of a format that have an expectation, and those that lack one, by name."""
    return sorted(
        file
        for file in (DATA / format_name).iterdir()
        if not file.name.endswith((EXPECTED_SUFFIX, ".py")) and file.is_file()
    )


def case_name(case: Path) -> str:
    return case.stem


def expected_file(case: Path) -> Path:
    return case.with_name(case.stem + EXPECTED_SUFFIX)


def check_gold(case: Path, *, regenerate: bool) -> None:
    """Compare what the converter makes of a file with the expectation beside it, or write that anew."""
    found = observed(case)
    if regenerate:
        expected_file(case).write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        pytest.skip(f"{case.name}: its expectation was written anew")
    expected = json.loads(expected_file(case).read_text(encoding="utf-8"))
    assert found == expected


def observed(case: Path) -> dict[str, Any]:
    """What the converter makes of a file, in the form of an expectation."""
    data = case.read_bytes()
    try:
        document = converter_for(case.name).convert(data)
    except ConversionError as error:
        return {"error_class": error.error_class}
    return {name: value for name, value in _plain(document).items() if value not in (None, [], 0)}


def _plain(document: ConvertedDocument) -> dict[str, Any]:
    def lines(text: str | None) -> list[str] | None:
        return None if text is None else text.split("\n")

    return {
        "title": document.title,
        "text": lines(document.text),
        "original_text": lines(document.original_text),
        "marked_text": lines(document.marked_text),
        "changes": [dataclasses.asdict(each) | {"kind": str(each.kind)} for each in document.changes],
        "pages": [[each.number, each.start_char, each.end_char] for each in document.pages],
        "pages_without_text": document.pages_without_text,
        "contained": [each.name for each in document.contained],
        "thread": None if document.thread is None else _thread(dataclasses.asdict(document.thread)),
        "degraded": list(document.degraded),
    }


def _thread(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"references": list(values["references"])}


def stored_zip(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive of these parts in this order: the same bytes whatever the zlib, the clock and the system."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name, _ZIP_EPOCH)
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return buffer.getvalue()
