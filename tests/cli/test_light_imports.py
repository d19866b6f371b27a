"""What answers at once imports nothing that takes long."""

from pathlib import Path

import pytest
from command_line import in_a_child

HEAVY = ("torch", "lancedb", "sentence_transformers", "tantivy", "numpy", "pyarrow", "scipy", "transformers", "docx")
PROGRAM = f"""
import atexit, sys
atexit.register(lambda: print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr))
from knowledge_index.cli import main
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("status",),
        ("status", "--json"),
        ("config", "show"),
        ("principals", "list"),
        ("break-glass", "list"),
        ("access", "explain", "a.txt", "--as", "user:anna"),
        ("audit", "verify"),
        ("search", "--help"),
        ("ask", "--help"),
        ("golden", "run", "--help"),
        ("run-retrieval-eval", "--help"),
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_imported(arguments: tuple[str, ...], tmp_path: Path) -> None:
    outcome = in_a_child(PROGRAM, *arguments, KI_HOME=str(tmp_path / "home"))
    assert outcome.code == 0
    assert outcome.err.splitlines()[-1] == "[]"
