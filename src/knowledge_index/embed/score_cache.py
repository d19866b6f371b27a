"""Scores of rerankers that were paid for once, and what computing cost: an SQLite file."""

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import IndexStateError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS scores (
    signature_id TEXT NOT NULL,
    pair_sha256 BLOB NOT NULL,
    score REAL NOT NULL,
    PRIMARY KEY (signature_id, pair_sha256)
);
CREATE TABLE IF NOT EXISTS measurements (
    signature_id TEXT NOT NULL,
    what TEXT NOT NULL,
    value REAL NOT NULL,
    load_average REAL NOT NULL,
    cores INTEGER NOT NULL,
    measured_at TEXT NOT NULL
);
"""


@dataclass(frozen=True)
class Measurement:
    """One measured value, with the machine's load (runnable processes, mean of a minute) and cores at that time."""

    what: str
    value: float
    load_average: float
    cores: int
    measured_at: str


class ScoreCache:
    """Scores by the reranker's signature and by the SHA-256 of query and passage; durable when a call returns.

    Errors: IndexStateError where the file is no such cache.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(file, timeout=30.0)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise IndexStateError(
                f"{file}: the score cache cannot be used ({error}): where it is damaged, delete the file; its scores "
                "are computed anew"
            ) from error

    def get(self, signature_id: str, query: str, passages: Sequence[str]) -> dict[str, float]:
        """The scores that are there, by passage."""
        found = {}
        for passage in passages:
            row = self._connection.execute(
                "SELECT score FROM scores WHERE signature_id = ? AND pair_sha256 = ?",
                (signature_id, _pair(query, passage)),
            ).fetchone()
            if row is not None:
                found[passage] = float(row[0])
        return found

    def put(self, signature_id: str, query: str, scores: Mapping[str, float]) -> None:
        """Store the scores of passages; what is there stays."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO scores VALUES (?, ?, ?)",
                [(signature_id, _pair(query, passage), score) for passage, score in scores.items()],
            )

    def note(self, signature_id: str, measurement: Measurement) -> None:
        """Keep a measurement, so that a run which went on from a cache still tells what computing cost."""
        with self._connection:
            self._connection.execute(
                "INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?)",
                (
                    signature_id,
                    measurement.what,
                    measurement.value,
                    measurement.load_average,
                    measurement.cores,
                    measurement.measured_at,
                ),
            )

    def measurements(self, signature_id: str) -> tuple[Measurement, ...]:
        """All that was measured of a model, the oldest first."""
        rows = self._connection.execute(
            "SELECT what, value, load_average, cores, measured_at FROM measurements WHERE signature_id = ? "
            "ORDER BY rowid",
            (signature_id,),
        )
        return tuple(Measurement(*row) for row in rows)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _pair(query: str, passage: str) -> bytes:
    return hashlib.sha256(bytes.fromhex(sha256_text(query)) + bytes.fromhex(sha256_text(passage))).digest()
