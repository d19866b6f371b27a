"""Real Word files: redlines against the papers beside them, and text against what the XML holds."""

import re
import zipfile
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from knowledge_index.convert import converter_for
from knowledge_index.convert.normalise import normal_form
from knowledge_index.domain.documents import ConvertedDocument

TASK_SET = Path(__file__).parents[2] / "external" / "task-set"
FILES = sorted(TASK_SET.glob("tasks/**/documents/**/*.docx"))
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# The footer of each file names the version that it is: "Our ref. COM-1234/26 / redline 2".
FOOTER_VERSION = re.compile(r"(Our ref\. \S+) / (?:draft|redline|final|executed)(?: \d+)?")

pytestmark = pytest.mark.skipif(not FILES, reason="external/task-set is absent; see external/README.md")


@cache
def converted(path: Path) -> ConvertedDocument:
    return converter_for(path.name).convert(path.read_bytes())


def paragraphs(text: str | None) -> list[str]:
    assert text is not None
    return [FOOTER_VERSION.sub(r"\1", line) for line in text.split("\n") if line.strip()]


def redlines_with(beside: str) -> list[tuple[Path, Path]]:
    pairs = [
        (path, path.with_name(re.sub(r"-redline-v\d+(?=\.docx$)", beside, path.name)))
        for path in FILES
        if re.search(r"-redline-v\d+\.docx$", path.name)
    ]
    return [(redline, other) for redline, other in pairs if other.exists()]


def test_a_redline_with_its_changes_accepted_is_the_final_paper() -> None:
    pairs = redlines_with("-final")
    if not pairs:
        pytest.skip("no redline has a final paper beside it")
    for redline, final in pairs:
        assert paragraphs(converted(redline).text) == paragraphs(converted(final).text), redline


def test_a_redline_with_its_changes_rejected_is_the_draft() -> None:
    pairs = redlines_with("-draft-v1")
    if not pairs:
        pytest.skip("no redline has a draft beside it")
    for redline, draft in pairs:
        assert paragraphs(converted(redline).original_text) == paragraphs(converted(draft).text), redline


def test_no_words_of_a_body_are_missing_and_none_that_were_deleted_stand_in_the_text() -> None:
    for path in FILES:
        document = converted(path)
        shown, deleted = [], []
        with zipfile.ZipFile(path) as archive:
            root = etree.fromstring(archive.read("word/document.xml"))
        for paragraph in root.iter(f"{W}p"):
            shown.append("".join(each.text or "" for each in paragraph.iter(f"{W}t")))
            deleted.append("".join(each.text or "" for each in paragraph.iter(f"{W}delText")))
        expected = [line for line in normal_form("\n".join(shown)).split("\n") if line.strip()]
        found = [line for line in document.text.split("\n") if line.strip()]
        # What stands around the body is its footer.
        assert found[: len(expected)] == expected, path
        assert all("Our ref." in line for line in found[len(expected) :]), path
        gone = [change.text for change in document.changes if change.start_char == change.end_char]
        assert "".join("".join(gone).split()) == "".join(normal_form("".join(deleted)).split()), path


def test_each_insertion_stands_where_its_record_says() -> None:
    changes = [(path, change) for path in FILES for change in converted(path).changes]
    for path, change in changes:
        if change.start_char < change.end_char:
            assert converted(path).text[change.start_char : change.end_char] == change.text, path
