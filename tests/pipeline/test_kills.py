"""A process that runs the pipeline is killed at random moments; the run after it mends what is left."""

import multiprocessing
import random
import shutil
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from knowledge_index.benchmark.presets import LADDER_PRESETS, preset
from knowledge_index.config import EmbeddingSettings, RetrievalSettings
from knowledge_index.embed import build_embedder
from mail_files import archive, mail
from small_firm import BARRED, CLAUSES, CORPORATE, OUTSIDER, PARTNER, SUPPLY, SmallFirm, search, write_estate

KILLS = 10
KILLS_OF_THE_COMMAND = 20
QUERIES = ("price of a gearbox", "12 O 345/25", "Betriebskosten der Halle nach Flächen", "who keeps this paper secret")
CALLERS = (CORPORATE, PARTNER, f"{PARTNER},{BARRED}", OUTSIDER)
# Far longer than a run takes; a test that fails is better than one that waits.
PATIENCE_S = 60
# Started once with everything imported: each run is then a process of its own that costs no import.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        *("lancedb", "tantivy", "pyarrow", "docx", "openpyxl", "inscriptis", "pytest"),
        *("knowledge_index.pipeline", "knowledge_index.retrieval", "knowledge_index.benchmark.presets"),
        *("knowledge_index.convert.docx", "knowledge_index.convert.xlsx", "knowledge_index.convert.eml"),
        *("knowledge_index.index.lance_vector", "knowledge_index.sources.local_fs", "knowledge_index.sources.sync"),
    ]
)


def write_mail_with_papers(firm: SmallFirm) -> None:
    papers = archive({"Price.txt": CLAUSES["Price"].encode(), "keys.txt": b"Six keys of the hall."})
    attached = {"papers.zip": papers, "secret.txt": CLAUSES["Secrecy"].encode()}
    firm.write(f"{SUPPLY}/Papers.eml", mail("Papers", "All of them.", attached).as_bytes(), CORPORATE)


def run_in_a_process(firm: SmallFirm, started: Connection) -> None:
    started.send(True)
    firm.run()


def answers(firm: SmallFirm) -> dict[tuple[str, str, str], object]:
    with firm.retrieval() as service:
        return {
            (query, caller, name): search(service, query, caller, settings=preset(name, RetrievalSettings()))
            for query in QUERIES
            for caller in CALLERS
            for name in LADDER_PRESETS
        }


def start(firm: SmallFirm) -> multiprocessing.process.BaseProcess:
    """A process that has begun to run."""
    receiving, sending = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=run_in_a_process, args=(firm, sending))
    process.start()
    sending.close()
    assert receiving.poll(PATIENCE_S)
    return process


@pytest.mark.parametrize("kills", [KILLS, pytest.param(300, marks=pytest.mark.slow)])
def test_a_run_killed_at_any_moment_and_run_again_gives_the_results_of_an_undisturbed_one(
    firm: SmallFirm, tmp_path: Path, kills: int
) -> None:
    write_mail_with_papers(firm)
    firm.sync()
    undisturbed = firm.with_home_copy(tmp_path / "undisturbed")
    process = start(undisturbed)
    started = time.monotonic()
    process.join(PATIENCE_S)
    seconds = time.monotonic() - started
    assert process.exitcode == 0
    expected, expected_answers = undisturbed.stores(), answers(undisturbed)
    assert sum(map(len, expected_answers.values())) > len(QUERIES) * len(LADDER_PRESETS)

    moments = random.Random(20260301)
    for number in range(kills):
        killed = firm.with_home_copy(tmp_path / f"killed-{number}")
        process = start(killed)
        time.sleep(moments.uniform(0, seconds))
        process.kill()
        process.join()
        killed.run()
        assert killed.stores() == expected
        assert answers(killed) == expected_answers
        shutil.rmtree(killed.home.folder)


@pytest.mark.slow
def test_the_command_killed_at_any_moment_and_run_again_gives_the_results_of_an_undisturbed_one(tmp_path: Path) -> None:
    firm = SmallFirm.in_folder(tmp_path / "firm")
    firm.embedder = build_embedder(EmbeddingSettings())
    write_estate(firm)
    write_mail_with_papers(firm)
    firm.sync()
    undisturbed = firm.with_home_copy(tmp_path / "undisturbed")
    started = time.monotonic()
    assert start_command(undisturbed).wait() == 0
    seconds = time.monotonic() - started
    expected, expected_answers = undisturbed.stores(), answers(undisturbed)

    moments = random.Random(20260302)
    for number in range(KILLS_OF_THE_COMMAND):
        killed = firm.with_home_copy(tmp_path / f"killed-{number}")
        command = start_command(killed)
        time.sleep(moments.uniform(0, seconds))
        command.kill()
        command.wait()
        assert start_command(killed).wait() == 0
        assert killed.stores() == expected
        assert answers(killed) == expected_answers


def start_command(firm: SmallFirm) -> "subprocess.Popen[bytes]":
    program = "from knowledge_index.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, "--home", str(firm.home.folder), "run"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
