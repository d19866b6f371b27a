"""Mails, Outlook messages and archives of our own making, against what a person sees in them."""

from pathlib import Path

import pytest

from build_mail_gold import build
from gold_files import DATA, EXPECTED_SUFFIX, case_name, check_gold, gold_cases

CASES = [case for name in ("eml", "msg", "zip") for case in gold_cases(name)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case_name(case)}")
def test_a_file_reads_as_a_person_sees_it(case: Path, regenerate_gold: bool) -> None:
    check_gold(case, regenerate=regenerate_gold)


def test_the_files_are_those_that_the_builder_makes() -> None:
    held = {
        f"{folder}/{file.name}": file.read_bytes()
        for folder in ("eml", "msg", "zip")
        for file in (DATA / folder).iterdir()
        if not file.name.endswith(EXPECTED_SUFFIX)
    }
    assert held == build()
