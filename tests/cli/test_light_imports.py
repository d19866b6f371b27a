"""What answers at once imports nothing that takes long."""

import json
from pathlib import Path

import pytest
from command_line import Ki, in_a_child

HEAVY = (
    "torch",
    "lancedb",
    "sentence_transformers",
    "tantivy",
    "numpy",
    "pyarrow",
    "scipy",
    "transformers",
    "docx",
    "mcp",
    "uvicorn",
)
# What the default model is computed without.
UNUSED = ("torch", "transformers", "sentence_transformers", "scipy", "huggingface_hub", "docx", "openpyxl", "pypdfium2")
PROGRAM = f"""
import atexit, sys
names = {HEAVY + UNUSED!r}
atexit.register(lambda: print(*(name for name in names if name in sys.modules), file=sys.stderr))
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
        ("tokens", "list"),
        ("mcp", "--help"),
        ("verify", "--help"),
        ("keys", "show"),
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
    assert outcome.err.splitlines()[-1] == ""


def test_a_search_by_meaning_needs_no_pytorch_neither_to_index_nor_to_ask(ki: Ki, tmp_path: Path) -> None:
    estate = tmp_path / "estate"
    estate.mkdir()
    (estate / "lease.txt").write_text("The tenant may end the lease with three months' notice.")
    grants = tmp_path / "acl.json"
    grants.write_text(json.dumps({"lease.txt": [{"principal": "user:a", "access": "allow"}]}))
    home = tmp_path / "home"
    assert ki("--home", home, "add-source", estate, "--name", "dms", "--acl-map", grants).code == 0
    assert ki("--home", home, "sync").code == 0
    for arguments in (("run",), ("search", "termination by the renter", "--as", "user:a")):
        outcome = in_a_child(PROGRAM, *arguments, KI_HOME=str(home))
        assert outcome.code == 0, outcome.err
        assert set(outcome.err.splitlines()[-1].split()) & set(UNUSED) == set()
    assert "semantic #1" in outcome.out
