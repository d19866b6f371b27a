"""What a receipt costs a search, and what the tree under it takes in time and memory, on a synthetic catalog.

    python benchmarks/receipts.py [--chunks 100000] [--searches 200]

Documents have 20 passages of some 700 characters, in 20 ACL classes of which the caller sees all. A search has 10 hits
of two windows each, whose vectors come from the cache. The search itself is not included. Nothing is asserted.
"""

import argparse
import cProfile
import os
import pstats
import random
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from knowledge_index.access import compile_scope
from knowledge_index.access.audit import AuditLog
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.config import RetrievalSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.embed import EmbeddingSignature, Matrix, ModelFile
from knowledge_index.evidence.issuing import Asked, open_issuer
from knowledge_index.evidence.keys import parse_trusted_keys
from knowledge_index.evidence.model_calls import ModelCalls
from knowledge_index.evidence.verifying import verify_receipt

PASSAGES = 20
CLASSES = 20
HITS = 10
CALLER = parse_principals("user:a")
WORDS = (
    "the",
    "lessee",
    "shall",
    "pay",
    "rent",
    "in",
    "advance",
    "unless",
    "notice",
    "of",
    "termination",
    "was",
    "given",
)


class HashedVectors:
    """Keeps ``Embedder`` without a model."""

    signature = EmbeddingSignature("synthetic", "0" * 64, 384, "mean", 256)

    def model_files(self) -> tuple[ModelFile, ...]:
        """One file."""
        return (ModelFile("model.safetensors", "0" * 64, 1),)

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """Vectors that follow from the texts."""
        rows = [np.random.default_rng(list(text.encode()[:8])).normal(size=384) for text in texts]
        return np.stack([row / np.linalg.norm(row) for row in rows]).astype(np.float32)


def write_catalog(home: Home, chunks: int) -> None:
    """A catalog as runs leave it, written past its own classes, which would take minutes."""
    open_catalog(home.catalog_file).close()
    draw = random.Random(1)
    with closing(sqlite3.connect(home.catalog_file)) as connection, connection:
        connection.execute("INSERT INTO source (id, name, kind, root) VALUES (1, 's', 'local_fs', '/s')")
        grants = '[["user:a", "allow"]]'
        connection.executemany("INSERT INTO acl_class VALUES (?, ?)", [(f"c{n}", grants) for n in range(CLASSES)])
        for number in range(1, chunks // PASSAGES + 1):
            passages = [" ".join(draw.choices(WORDS, k=125)) for _ in range(PASSAGES)]
            text = "\n".join(passages)
            blob = sha256_text(str(number))
            connection.execute(
                "INSERT INTO converted_document (id, blob_sha256, converter_name, converter_version, text, text_sha256,"
                " pages_without_text, degraded) VALUES (?, ?, 'text', '1', ?, ?, 0, '[]')",
                (number, blob, text, sha256_text(text)),
            )
            connection.execute(
                "INSERT INTO source_object (id, source_id, path, disk_path, object_key, state, blob_sha256, size_bytes,"
                " mtime_ns, inode, acl_class_id, observed_at, contained_depth, converted_document_id) VALUES"
                " (?, 1, ?, ?, ?, 'current', ?, 1, 1, ?, ?, '', 0, ?)",
                (number, f"{number}", f"{number}", blob[:32], blob, number, f"c{number % CLASSES}", number),
            )
            place, rows = 0, []
            for ordinal, passage in enumerate(passages):
                key = f"{number:08}{ordinal:04}"
                connection.execute(
                    "INSERT INTO index_row VALUES (?, 'passage', ?, '', '', 2, '[]')", (key, f"c{number % CLASSES}")
                )
                rows.append((number, ordinal, key, place, place + len(passage), "", ""))
                place += len(passage) + 1
            connection.executemany("INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT INTO meta VALUES ('index_makeup', '[\"clause-1\", \"rows\"]')")


def hits_of(catalog_file: Path, draw: random.Random, documents: int) -> list[SearchHit]:
    """Ten passages of ten documents."""
    found = []
    with closing(sqlite3.connect(catalog_file)) as connection:
        for number in draw.sample(range(1, documents + 1), HITS):
            row = connection.execute(
                "SELECT object_key, start_char, end_char, text, text_sha256 FROM chunk "
                "JOIN source_object o ON o.id = object_id JOIN converted_document d ON d.id = converted_document_id "
                "WHERE object_id = ? AND ordinal = ?",
                (number, draw.randrange(PASSAGES)),
            ).fetchone()
            key, start, end, text, digest = row
            found.append(
                SearchHit(
                    hit_id=f"{key}.{digest[:8]}.{start}-{end}",
                    source="s",
                    path=str(number),
                    document_key="",
                    title="",
                    heading="",
                    version_status=VersionStatus.UNKNOWN,
                    matter_ref="",
                    matter_title="",
                    passage=text[start:end],
                    start_char=start,
                    end_char=end,
                    text_sha256=digest,
                    converter="text 1",
                    score=draw.random(),
                    legs=(),
                )
            )
    return found


def main(chunks: int, searches: int, profiled: bool) -> None:
    """Build, issue, and print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        home.create()
        write_catalog(home, chunks)
        recorder = AccessRecorder(AuditLog(home.audit_file), b"key", False, "bench", lambda: datetime.now(UTC))
        embedder = HashedVectors()
        draw = random.Random(2)
        asked = Asked("search", "notice of termination", RetrievalSettings(), SearchFilters(), HITS)
        searched = [hits_of(home.catalog_file, draw, chunks // PASSAGES) for _ in range(searches)]
        catalog: Catalog = open_catalog(home.catalog_file)
        issuer = open_issuer(home, recorder)
        with catalog.transaction() as session:
            scope = compile_scope(session, CALLER)

        def issue(hits: Sequence[SearchHit]) -> bytes:
            calls = ModelCalls()
            calls.embedded["notice of termination"] = embedder.embed(["notice of termination"])[0]
            return issuer.issue(catalog, recorder, scope, asked, hits, calls, embedder, None)

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        issue(searched[0])
        print(f"first receipt, tree of {chunks} passages built: {time.perf_counter() - started:.2f} s")
        (tree,) = home.trees_folder.glob("*.tree")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(f"tree: {tree.stat().st_size / 1e6:.1f} MB; peak memory while it is built: {peak / 1000:.0f} MB more")
        for hits in searched:
            issue(hits)
        times, processor_times = [], []
        profile = cProfile.Profile()
        for hits in searched:
            started, processor_started = time.perf_counter(), time.process_time()
            receipt = profile.runcall(issue, hits) if profiled else issue(hits)
            times.append((time.perf_counter() - started) * 1000)
            processor_times.append((time.process_time() - processor_started) * 1000)
        cuts = statistics.quantiles(times, n=20)
        print(f"receipt, tree in memory: p50 {statistics.median(times):.2f} ms, p95 {cuts[-1]:.2f} ms")
        print(f"  processor time: p50 {statistics.median(processor_times):.2f} ms; load {os.getloadavg()[0]:.1f}")
        issuer = open_issuer(home, recorder)
        started = time.perf_counter()
        issue(searched[0])
        print(f"first receipt of a new process, tree mapped: {(time.perf_counter() - started) * 1000:.1f} ms")
        keys = parse_trusted_keys(b"".join(each.pem for each in issuer.keys.public_keys()), "own")
        started = time.perf_counter()
        assert verify_receipt(receipt, keys).passed
        print(f"verified in {(time.perf_counter() - started) * 1000:.1f} ms; a receipt has {len(receipt)} bytes")
        catalog.close()
        if profiled:
            pstats.Stats(profile).sort_stats("cumtime").print_stats(35)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    main(given.chunks, given.searches, given.profile)
