"""A tree with hostile files: each is skipped, set aside or indexed, and everything else is as without them."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from knowledge_index.catalog.records import PipelineObject
from knowledge_index.config import AppConfig, ConversionSettings
from knowledge_index.convert.isolated import PRODUCT_REGISTRY
from knowledge_index.convert.zygote_link import running_zygote
from knowledge_index.pipeline.trees import TreeConverter
from small_firm import CORPORATE, PARTNER, SUPPLY, SmallFirm

TIGHT = AppConfig(conversion=ConversionSettings(memory_mb=128, cpu_s=1, wall_s=60, output_mb=4))
# 255 bytes, the most that a name may have on common file systems.
LONG_NAME = "ä" * 125 + "b.txt"


@contextmanager
def special_files(folder: Path) -> Iterator[set[str]]:
    """Makes a pipe, a socket, links in a circle and, where that is allowed, a device; gives their names."""
    os.mkfifo(folder / "pipe.txt")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "itself.txt").symlink_to(folder / "itself.txt")
    (folder / "outside.txt").symlink_to("/etc/passwd")
    made = {"pipe.txt", "loop", "itself.txt", "outside.txt"}
    if os.geteuid() == 0:
        os.mknod(folder / "zero.txt", 0o020644, os.makedev(1, 5))
        made.add("zero.txt")
    here = os.getcwd()
    with socket.socket(socket.AF_UNIX) as listening:
        # The path of a socket is short: it is bound from within its folder.
        os.chdir(folder)
        try:
            listening.bind("socket.txt")
        finally:
            os.chdir(here)
        yield made | {"socket.txt"}


def test_hostile_files_harm_nobody(firm: SmallFirm, shared_firm: SmallFirm) -> None:
    hostile = {
        "marks.txt": ("a" + "\u0315\u0300" * 400_000).encode(),
        "line.txt": b"word " * 600_000,
        "torn.docx": b"PK\x03\x04 not a package at all",
        "torn.pdf": b"%PDF-1.7\n",
        "numbers.txt": b"1.1.1.1.1.1.1.1.\n" * 3_000,
        "a\nb\x1b[31m\x07.txt": b"A name with control characters.",
        LONG_NAME: b"A name of 255 bytes.",
        "blank.txt": b"",
    }
    for name, data in hostile.items():
        firm.write(f"{SUPPLY}/{name}", data, CORPORATE)
    with special_files(firm.root / SUPPLY) as special:
        synced = firm.sync()
        report = firm.run(TIGHT)
    assert {Path(each.path).name for each in synced.skipped} == special
    outcome = {Path(each.path).name: each.error_class for each in report.quarantined}
    assert outcome == {
        "marks.txt": "cpu",
        "line.txt": "output_too_large",
        "torn.docx": "damaged",
        "torn.pdf": "damaged",
        "blank.txt": "empty",
    }
    assert report.unread == []
    found = firm.stores().passages
    undisturbed = shared_firm.stores().passages
    assert {path: found[path] for path in undisturbed} == undisturbed
    assert firm.search("A name of 255 bytes", CORPORATE)[0].path == f"{SUPPLY}/{LONG_NAME}"


def test_a_zygote_killed_during_a_run_costs_nothing(firm: SmallFirm, monkeypatch: pytest.MonkeyPatch) -> None:
    original, calls = TreeConverter.convert, []

    def convert_and_kill(self: TreeConverter, each: PipelineObject) -> None:
        calls.append(1)
        if len(calls) in (3, 4, 8):
            os.kill(running_zygote(PRODUCT_REGISTRY).pid, 9)
        original(self, each)

    monkeypatch.setattr(TreeConverter, "convert", convert_and_kill)
    report = firm.sync_and_run()
    assert (len(calls), report.indexed, report.quarantined, report.unread) == (12, 12, [], [])


def test_what_has_text_already_is_not_converted_ahead(firm: SmallFirm, monkeypatch: pytest.MonkeyPatch) -> None:
    from knowledge_index.convert.isolated import IsolatedConverter

    firm.sync_and_run()
    original, asked = IsolatedConverter.convert, []

    def counting(self: IsolatedConverter, name: str, data: bytes, turn: object = None) -> object:
        asked.append(name)
        return original(self, name, data, turn)  # type: ignore[arg-type]

    monkeypatch.setattr(IsolatedConverter, "convert", counting)
    copy = (firm.root / SUPPLY / "General terms.txt").read_bytes()
    firm.write(f"{SUPPLY}/A new note.txt", "A new note.", PARTNER)
    firm.write(f"{SUPPLY}/B copy.txt", copy, PARTNER)
    firm.write(f"{SUPPLY}/C first.txt", "The same words.", PARTNER)
    firm.write(f"{SUPPLY}/D second.txt", "The same words.", PARTNER)
    report = firm.sync_and_run()
    assert report.conversions == 2
    assert sorted(asked) == [f"{SUPPLY}/A new note.txt", f"{SUPPLY}/C first.txt"]
