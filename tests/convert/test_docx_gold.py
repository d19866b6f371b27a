"""Word files of our own making, against what Word shows of them."""

from pathlib import Path

import pytest

from build_docx_gold import FOLDER, build
from gold_files import case_name, check_gold, gold_cases


@pytest.mark.parametrize("case", gold_cases("docx"), ids=case_name)
def test_a_file_reads_as_word_shows_it(case: Path, regenerate_gold: bool) -> None:
    check_gold(case, regenerate=regenerate_gold)


def test_the_files_are_those_that_the_builder_makes() -> None:
    assert {file.name: file.read_bytes() for file in FOLDER.glob("*.docx")} == build()
