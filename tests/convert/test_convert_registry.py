import subprocess
import sys
from pathlib import Path

import pytest

from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError

TASK_SET = Path(__file__).parents[2] / "external" / "task-set"


@pytest.mark.parametrize(
    "path",
    [
        *("a.docx", "b/C.XLSX", "x.eml", "Ä ö.Pdf", "n.txt", "n.md", "m.xlsm", "p.pptx", "r.rtf", "h.htm", "t.csv"),
        *("o.msg", "z.zip", "m.docm"),
    ],
)
def test_every_format_has_its_converter_whatever_the_case(path: str) -> None:
    converter = converter_for(path)
    assert "." + path.rsplit(".", 1)[1].lower() in converter.suffixes
    assert converter_for(path) is converter


@pytest.mark.parametrize("path", ["a.doc", "b.odt", "b.xls", "c.ppt", "d.wpd", "noext", ".docx/file", ""])
def test_other_formats_are_unsupported(path: str) -> None:
    with pytest.raises(ConversionError, match=r"\.docx.*\.xlsx") as caught:
        converter_for(path)
    assert caught.value.error_class == "unsupported"


def test_no_library_is_imported_before_it_is_needed() -> None:
    program = (
        "import sys; from knowledge_index.convert import converter_for\n"
        "converter_for('a.pdf'); converter_for('a.xlsx')\n"
        "print([m for m in ('lxml', 'openpyxl', 'pypdfium2', 'inscriptis', 'charset_normalizer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not TASK_SET.exists(), reason="external/task-set is absent; see external/README.md")
def test_accepting_a_redline_gives_the_final_paper() -> None:
    pairs = [
        (redline, final)
        for redline in sorted(TASK_SET.glob("tasks/**/documents/*-redline-v2.docx"))
        if (final := redline.with_name(redline.name.replace("-redline-v2", "-final"))).exists()
    ]
    if not pairs:
        pytest.skip("external/task-set holds no redline beside its final paper")
    for redline, final in pairs[:20]:
        texts = [converter_for(path.name).convert(path.read_bytes()).text for path in (redline, final)]
        # The footer names the version.
        without_footer = [text.rpartition("Our ref. ")[0] or text for text in texts]
        assert without_footer[0] == without_footer[1], redline
