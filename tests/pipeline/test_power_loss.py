"""The power fails at a flush to disk: files that were not flushed come back cut short, or not at all."""

import os
import random
from contextlib import suppress
from pathlib import Path

import pytest
from test_crash_points import PowerCut, answers, changed_firm

from small_firm import SmallFirm

__all__ = ["changed_firm"]

POINTS = 8
POINTS_SLOW = 100


class Disk:
    """Remembers what was flushed, and fails at the flush after ``flushes_left`` others."""

    def __init__(self, flushes_left: int) -> None:
        self.flushed: dict[int, tuple[int, int]] = {}
        self.flushes = 0
        self._flushes_left = flushes_left

    def fsync(self, descriptor: int) -> None:
        if self.flushes == self._flushes_left:
            raise PowerCut
        self.flushes += 1
        found = os.fstat(descriptor)
        self.flushed[found.st_ino] = (found.st_size, found.st_mtime_ns)

    def lose(self, folder: Path, before: dict[int, tuple[int, int]], draw: random.Random) -> int:
        """Damage each file of the indexes that changed and was not flushed since; returns how many those were."""
        lost = 0
        for file in sorted(folder.rglob("*")):
            found = file.stat()
            state = (found.st_size, found.st_mtime_ns)
            if file.is_dir() or before.get(found.st_ino) == state or self.flushed.get(found.st_ino) == state:
                continue
            lost += 1
            if draw.random() < 0.5:
                file.unlink()
            else:
                file.write_bytes(file.read_bytes()[: draw.randint(0, max(0, found.st_size - 1))])
        return lost


def states_of(folder: Path) -> dict[int, tuple[int, int]]:
    return {found.st_ino: (found.st_size, found.st_mtime_ns) for found in (file.stat() for file in folder.rglob("*"))}


def run_until_power_loss(
    firm: SmallFirm, flushes: int, draw: random.Random, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """Returns how many flushes there were and how many files were damaged."""
    before = states_of(firm.home.folder / "index")
    disk = Disk(flushes)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", disk.fsync)
        with suppress(PowerCut):
            firm.run()
    return disk.flushes, disk.lose(firm.home.folder / "index", before, draw)


@pytest.mark.parametrize("points", [POINTS, pytest.param(POINTS_SLOW, marks=pytest.mark.slow)])
def test_what_a_power_loss_took_is_made_again_by_the_next_run(
    changed_firm: SmallFirm, tmp_path: Path, points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = changed_firm.with_home_copy(tmp_path / "undisturbed")
    draw = random.Random(20260305)
    flushes, lost = run_until_power_loss(undisturbed, 10**9, draw, monkeypatch)
    # A run that ended has flushed whatever it wrote.
    assert lost == 0
    assert flushes > 10
    expected, expected_answers = undisturbed.stores(), answers(undisturbed)
    damaged = 0
    for number in range(points):
        firm = changed_firm.with_home_copy(tmp_path / f"lost-{number}")
        damaged += run_until_power_loss(firm, draw.randrange(flushes), draw, monkeypatch)[1]
        firm.run()
        assert firm.stores() == expected, f"point {number}"
        assert answers(firm) == expected_answers, f"point {number}"
    assert damaged > points / 2
