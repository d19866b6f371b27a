"""A process that syncs is killed at any moment; the next sync ends where an undisturbed one ends."""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from estate import Estate, allow, counts
from sqlalchemy import Engine, event

from knowledge_index.catalog import open_catalog
from knowledge_index.sources.local_fs import LocalFolderSource

KILLS = 6
KILLS_IN_THE_SLOW_RUN = 60
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["knowledge_index.sources.sync", "knowledge_index.sources.local_fs", "estate"])
GRANTS = {f"{number}.txt": allow("group:a") for number in range(0, 30, 2)}


def resume(catalog_file: Path, root: Path) -> Estate:
    estate = object.__new__(Estate)
    for name, value in (("catalog", open_catalog(catalog_file)), ("source", LocalFolderSource(root)), ("name", "dms")):
        object.__setattr__(estate, name, value)
    return estate


def sync_and_die(catalog_file: Path, root: Path, statement: int) -> None:
    estate = resume(catalog_file, root)
    left = statement

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", count)
    estate.sync(GRANTS)


def dump(catalog_file: Path) -> list[str]:
    with closing(sqlite3.connect(catalog_file)) as connection:
        return list(connection.iterdump())


def kill_and_go_on(tmp_path: Path, kills: int) -> None:
    root = tmp_path / "estate"
    root.mkdir()
    for number in range(30):
        (root / f"{number}.txt").write_bytes(b"paper %d" % number)
    file = tmp_path / "catalog.sqlite"
    first = Estate(open_catalog(file), LocalFolderSource(root))
    first.sync()
    first.catalog.close()
    for number in range(10):
        (root / f"{number}.txt").unlink()
        (root / f"{number + 10}.txt").write_bytes(b"changed %d" % number)
        (root / f"{number + 20}.txt").rename(root / f"moved {number}.txt")
    undisturbed = tmp_path / "undisturbed.sqlite"
    shutil.copy(file, undisturbed)
    finished = resume(undisturbed, root)
    assert counts(finished.sync(GRANTS)) == {"changed": 10, "moved": 10, "gone": 10, "grants_changed": 5, "hashed": 20}
    finished.catalog.close()
    expected = dump(undisturbed)
    died = 0
    for number, statement in enumerate(random.Random(20260301).sample(range(90), kills)):
        killed = tmp_path / f"killed-{number}.sqlite"
        shutil.copy(file, killed)
        process = PROCESSES.Process(target=sync_and_die, args=(killed, root, statement))
        process.start()
        process.join(60)
        died += process.exitcode == -signal.SIGKILL
        again = resume(killed, root)
        again.sync(GRANTS)
        again.catalog.close()
        assert dump(killed) == expected
    assert died > kills / 3


def test_a_killed_sync_is_as_if_it_had_not_begun(tmp_path: Path) -> None:
    kill_and_go_on(tmp_path, KILLS)


@pytest.mark.slow
def test_a_sync_killed_at_many_moments_is_as_if_it_had_not_begun(tmp_path: Path) -> None:
    kill_and_go_on(tmp_path, KILLS_IN_THE_SLOW_RUN)
