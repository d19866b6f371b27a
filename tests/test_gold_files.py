"""The gold is compared with, never written, and every file of it has its expectation."""

import json

from gold_files import DATA, EXPECTED_SUFFIX, expected_file, gold_cases, stored_zip

KEYS = {
    "text",
    "title",
    "original_text",
    "marked_text",
    "changes",
    "pages",
    "pages_without_text",
    "contained",
    "thread",
    "degraded",
    "error_class",
}


def formats() -> list[str]:
    return sorted(folder.name for folder in DATA.iterdir() if folder.is_dir() and folder.name != "__pycache__")


def test_no_expectation_is_regenerated_in_this_run(regenerate_gold: bool) -> None:
    assert not regenerate_gold


def test_each_file_has_its_expectation_and_each_expectation_its_file() -> None:
    for name in formats():
        cases = gold_cases(name)
        expectations = sorted((DATA / name).glob(f"*{EXPECTED_SUFFIX}"))
        assert sorted(expected_file(case) for case in cases) == expectations


def test_an_expectation_has_known_keys_and_either_a_text_or_an_error() -> None:
    for file in sorted(DATA.glob(f"*/*{EXPECTED_SUFFIX}")):
        expected = json.loads(file.read_text(encoding="utf-8"))
        assert expected.keys() <= KEYS, file.name
        assert ("text" in expected) != ("error_class" in expected), file.name


def test_an_archive_of_the_same_parts_is_the_same_bytes() -> None:
    parts = {"b.xml": "<b/>", "a.bin": b"\0"}
    assert stored_zip(parts) == stored_zip(dict(parts))
    assert stored_zip(parts).count(b"PK\x03\x04") == 2
