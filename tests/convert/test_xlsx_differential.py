"""What openpyxl sees of real workbooks, our text holds."""

import datetime
from pathlib import Path

import openpyxl
import pytest

from knowledge_index.convert import converter_for
from knowledge_index.convert.normalise import normal_form

TASK_SET = Path(__file__).parents[2] / "external" / "task-set"
FAST_SHARE = 10


def missing_cells(file: Path) -> tuple[int, list[str]]:
    """How many cells openpyxl sees, and those whose text ours lacks, cell by cell of its sheet's rows."""
    text = converter_for(file.name).convert(file.read_bytes()).text
    lines = text.split("\n")
    seen, missing = 0, []
    for sheet in openpyxl.load_workbook(file, data_only=True).worksheets:
        for row in sheet.iter_rows():
            # A number is shown as its format says, so only words are compared here; test_number_format has the rest.
            for cell in row:
                if cell.value is None or isinstance(cell.value, (datetime.date, datetime.time)):
                    continue
                seen += 1
                words = " ".join(normal_form(str(cell.value)).split())
                if not any(words in line for line in lines):
                    missing.append(f"{sheet.title}!{cell.coordinate}: {words[:80]}")
    return seen, missing


def workbooks() -> list[Path]:
    return sorted(TASK_SET.glob("tasks/**/*.xlsx"))


@pytest.mark.skipif(not TASK_SET.exists(), reason="external/task-set is absent; see external/README.md")
def test_no_cell_of_some_real_workbooks_is_missing() -> None:
    for file in workbooks()[:: max(1, len(workbooks()) // FAST_SHARE)]:
        seen, missing = missing_cells(file)
        assert seen
        assert missing == [], file


@pytest.mark.slow
@pytest.mark.skipif(not TASK_SET.exists(), reason="external/task-set is absent; see external/README.md")
def test_no_cell_of_any_real_workbook_is_missing() -> None:
    counts = [(file, *missing_cells(file)) for file in workbooks()]
    print(f"{len(counts)} workbooks, {sum(seen for _, seen, _ in counts)} cells")
    assert [(file.name, missing) for file, _, missing in counts if missing] == []
