"""``ki`` as a person calls it: its arguments, its exit code, and what it prints where."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from knowledge_index.cli import main

Ki = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output, which has to be one JSON document and nothing else."""
        return json.loads(self.out)


def in_this_process(capsys: Any, monkeypatch: Any, *arguments: object) -> Outcome:
    monkeypatch.setattr(sys, "argv", ["ki", *map(str, arguments)])
    capsys.readouterr()
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    captured = capsys.readouterr()
    return Outcome(code, captured.out, captured.err)


def in_a_child(program: str, *arguments: object, **environment: str) -> Outcome:
    """Run Python code with ``arguments`` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8", **environment},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
