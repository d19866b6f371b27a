from pathlib import Path

import pytest

from gold_files import case_name, check_gold, gold_cases

FORMATS = ("csv", "html", "pdf", "pptx", "rtf", "text", "xlsx")


@pytest.mark.parametrize("case", [case for name in FORMATS for case in gold_cases(name)], ids=case_name)
def test_gold(case: Path, regenerate_gold: bool) -> None:
    check_gold(case, regenerate=regenerate_gold)
