"""``ki watch`` as a process of its own over files that change."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Ki

from knowledge_index.config.home import Home

# Far longer than anything here takes; a test that fails is better than one that waits.
PATIENCE_S = 120
PROGRAM = """
import knowledge_index.embed
from small_firm import WordEmbedder
knowledge_index.embed.build_embedder = lambda settings: WordEmbedder()
from knowledge_index.cli import main
main()
"""


class Watching:
    """A running watch and what it has said."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self.process = process
        self._log = log
        self._read = 0

    def said(self, what: str, since: int = 0) -> int:
        """Wait until the log holds the words behind a place; returns the place behind them."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            place = self._log.read_text(encoding="utf-8").find(what, since)
            if place >= 0:
                return place + len(what)
            assert self.process.poll() is None, self._log.read_text(encoding="utf-8")
            time.sleep(0.05)
        raise AssertionError(f"never said {what!r}:\n{self._log.read_text(encoding='utf-8')[since:]}")

    def end(self, number: int) -> tuple[int, str]:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE_S)
        return code, self._log.read_text(encoding="utf-8")


@contextmanager
def watching(home: Path, log: Path, *options: str) -> Iterator[Watching]:
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "--home", str(home), "watch", "--debounce", "0.2", *options],
            stdout=stream,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": "", "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"},
        )
        try:
            yield Watching(process, log)
        finally:
            process.kill()
            process.wait()


def found(ki: Ki, home: Path) -> list[str]:
    outcome = ki("--home", home, "search", "zinc smelters", "--as", "user:zoe", "--json")
    return sorted(hit["path"] for hit in outcome.json()["hits"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "estate"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(f"The {name} paper is about zinc smelters.\n", encoding="utf-8")
    return folder


@pytest.fixture
def watched_home(ki: Ki, home: Path, folder: Path, tmp_path: Path) -> Path:
    write_map(tmp_path / "acl.json", "a.txt", "b.txt", "new.txt")
    assert ki("--home", home, "add-source", folder, "--name", "dms", "--acl-map", tmp_path / "acl.json").code == 0
    return home


def write_map(file: Path, *paths: str) -> None:
    content = {path: [{"principal": "user:zoe", "access": "allow"}] for path in paths}
    beside = file.with_suffix(".tmp")
    beside.write_text(json.dumps(content), encoding="utf-8")
    beside.replace(file)


def test_a_watch_follows_files_grants_and_a_root_that_goes_and_comes(
    ki: Ki, watched_home: Path, folder: Path, tmp_path: Path
) -> None:
    with watching(watched_home, tmp_path / "log") as watch:
        place = watch.said("2 indexed")
        # The lock is free while nothing goes on.
        with Home(watched_home).writing():
            (folder / "new.txt").write_text("Another paper about zinc smelters.\n", encoding="utf-8")
            place = watch.said("another ki process", place)
        place = watch.said("1 indexed", watch.said("1 new", place))
        assert found(ki, watched_home) == ["a.txt", "b.txt", "new.txt"]

        # Programs' own files wake nobody.
        (folder / "~$a.docx").write_bytes(b"")
        time.sleep(1)
        (folder / "b.txt").unlink()
        after = watch.said("1 gone", place)
        assert (tmp_path / "log").read_text(encoding="utf-8")[place:after].count("\ndms: ") == 1
        place = watch.said("1 taken out", after)

        write_map(tmp_path / "acl.json", "a.txt")
        place = watch.said("0 embeddings", watch.said("grants changed on 1", place))
        assert found(ki, watched_home) == ["a.txt"]

        (tmp_path / "acl.json").write_text("{", encoding="utf-8")
        place = watch.said("is no valid ACL map", place)
        write_map(tmp_path / "acl.json", "a.txt", "new.txt")
        place = watch.said("grants changed on 1", place)

        folder.rename(tmp_path / "away")
        place = watch.said("is the share mounted?", place)
        (tmp_path / "away" / "late.txt").write_text("Late.\n", encoding="utf-8")
        (tmp_path / "away").rename(folder)
        place = watch.said("1 new", place)
        (folder / "later.txt").write_text("Later.\n", encoding="utf-8")
        place = watch.said("1 indexed", watch.said("1 new", place))

        # A mass that is missing is held; a burst of events is no reason to believe it.
        for file in folder.iterdir():
            file.unlink()
        place = watch.said("HELD: 4 files", place)
        for number in range(4):
            (folder / f"folder {number}").mkdir()
            place = watch.said("HELD: 4 files are missing at once", place)
        assert found(ki, watched_home) == ["a.txt", "new.txt"]

        code, said = watch.end(signal.SIGTERM)
    assert (code, said.splitlines()[-1]) == (0, "Stopped. What was finished is kept.")
    assert "Traceback" not in said


@pytest.mark.slow
def test_scans_by_the_clock_let_a_hold_run_out(watched_home: Path, folder: Path, tmp_path: Path) -> None:
    with watching(watched_home, tmp_path / "log", "--source", "dms", "--full-scan-every", "1") as watch:
        place = watch.said("2 indexed")
        for file in folder.iterdir():
            file.unlink()
        watch.said("2 gone", watch.said("HELD: 2 files", place))
        assert watch.end(signal.SIGINT)[0] == 0


def test_a_watch_over_nothing_is_refused(ki: Ki, watched_home: Path) -> None:
    outcome = ki("--home", watched_home, "watch", "--source", "other")
    assert (outcome.code, "there is no source named 'other'" in outcome.err) == (2, True)
