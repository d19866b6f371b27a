"""How long a whole search takes over an estate of many passages, with the query's embedding.

    python benchmarks/search_speed.py --texts external/cuad/contracts [--passages 100000] [--home DIR]
    python benchmarks/search_speed.py --sample-firm demo/home

The texts are repeated with other figures, each in a matter of its own, spread over six groups, until there are so many
passages; they go through sync and run as any estate does. Only their vectors are made up (random, of the default
model's shape), since computing some hundred thousand would take hours and a scan takes about as long over any. Queries
are words out of the texts, asked by a member of all groups; the default model embeds each when it is asked. As many
others are asked before them, as of a process that has been answering for a minute; no query is asked twice.
With ``--home`` the installation is kept, and used again by the next call.

The second form measures the sample firm as ``make demo`` leaves it: ten queries of its gold, each asked 20 times, by a
member of three of its four groups.

Printed for bm25 and full: median, mean and 95th percentile of the wall clock, and the median of the processor time.
"""

import argparse
import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from knowledge_index.access import compile_scope
from knowledge_index.benchmark.freezing import load_frozen_gold
from knowledge_index.benchmark.presets import PresetName, preset
from knowledge_index.catalog import open_catalog
from knowledge_index.cli.progress import console_progress
from knowledge_index.config import AppConfig, load_config
from knowledge_index.config.home import Home
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed import Embedder, Matrix, build_embedder
from knowledge_index.pipeline import run_pipeline
from knowledge_index.retrieval import open_retrieval

GROUPS = 6
SEARCHES = 60
LIMIT = 10
SAMPLE_QUERIES, SAMPLE_REPEATS, SAMPLE_GROUPS = 10, 20, 3
# Measured on CUAD's contracts; the number of passages that came out is printed.
CHARACTERS_A_PASSAGE = 935


class RandomVectors:
    """Vectors of the default model's shape that say nothing; a function of the text, as the contract asks."""

    def __init__(self, model: Embedder) -> None:
        self.signature, self.model_files = model.signature, model.model_files

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """See :meth:`Embedder.embed`."""
        vectors = np.empty((len(texts), self.signature.dimensions), dtype=np.float32)
        for place, text in enumerate(texts):
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            vectors[place] = np.random.default_rng(seed).standard_normal(self.signature.dimensions, dtype=np.float32)
        if on_done:
            on_done(len(texts))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def another(text: str, copy: int) -> str:
    """The text with other figures, as of another matter."""
    return text.translate(str.maketrans("0123456789", "".join(str((digit + copy) % 10) for digit in range(10))))


def write_estate(folder: Path, texts: Sequence[Path], copies: int) -> Path:
    """The files, and the map of their grants, whose path is returned."""
    grants = {}
    for copy in range(copies):
        for number, file in enumerate(texts):
            matter = f"M-{2000 + copy}-{number:04d}"
            target = folder / "estate" / f"{matter} Matter {number}" / f"{file.stem[:60]}.txt"
            target.parent.mkdir(parents=True)
            target.write_text(another(file.read_text(encoding="utf-8"), copy), encoding="utf-8")
            principal = f"group:group-{number % GROUPS}"
            grants[str(target.relative_to(folder / "estate"))] = [{"principal": principal, "access": "allow"}]
    acl_map = folder / "acl.json"
    acl_map.write_text(json.dumps(grants), encoding="utf-8")
    return acl_map


def ingest(home: Home, config: AppConfig, folder: Path, acl_map: Path, embedder: Embedder) -> None:
    """Add the source, sync, and run with made-up vectors."""
    command = [sys.executable, "-c", "from knowledge_index.cli.main import main; main()", "--home", str(home.folder)]
    subprocess.run([*command, "add-source", folder, "--name", "estate", "--acl-map", acl_map], check=True)
    subprocess.run([*command, "sync"], check=True)
    catalog = open_catalog(home.catalog_file)
    with home.writing():
        run_pipeline(home, catalog, config, embedder, limit=None, progress=console_progress())
    catalog.close()


def queries_of(texts: Sequence[Path]) -> list[str]:
    """Some words that follow each other in one of the texts, always the same ones: the second half are to warm up."""
    chosen = random.Random(7)
    queries = []
    while len(queries) < 2 * SEARCHES:
        words = chosen.choice(texts).read_text(encoding="utf-8").split()
        start = chosen.randrange(max(1, len(words) - 20))
        queries.append(" ".join(words[start : start + chosen.choice((3, 6, 10))]))
    return queries


def main() -> None:
    """Make the installation where there is none, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    estate = parser.add_mutually_exclusive_group(required=True)
    estate.add_argument("--texts", type=Path)
    estate.add_argument("--sample-firm", type=Path)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    if arguments.sample_firm:
        queries, asking = sample_queries()
        home = Home(arguments.sample_firm)
        config = load_config(home.folder, {}).config
        measure(home, config, build_embedder(config.embedding), queries * SAMPLE_REPEATS, asking, warming=queries)
        return
    texts = sorted(arguments.texts.glob("*.txt"))
    with tempfile.TemporaryDirectory() as temporary:
        home = Home(arguments.home or Path(temporary) / "home")
        config = load_config(home.folder, {}).config
        model = build_embedder(config.embedding)
        if not home.catalog_file.exists():
            characters = sum(len(file.read_text(encoding="utf-8")) for file in texts)
            copies = max(1, round(arguments.passages * CHARACTERS_A_PASSAGE / characters))
            acl_map = write_estate(Path(temporary), texts, copies)
            ingest(home, config, Path(temporary) / "estate", acl_map, RandomVectors(model))
        everyone = frozenset(Principal.parse(f"group:group-{number}") for number in range(GROUPS))
        queries = queries_of(texts)
        measure(home, config, model, queries[:SEARCHES], everyone, warming=queries[SEARCHES:])


def sample_queries() -> tuple[list[str], frozenset[Principal]]:
    """Ten queries of the sample gold, always the same ones, and three of the groups that ask them."""
    gold = load_frozen_gold("sample").queries
    chosen = random.Random(5).sample([each.query for each in gold], SAMPLE_QUERIES)
    return chosen, frozenset(sorted({each.principal for each in gold})[:SAMPLE_GROUPS])


def measure(
    home: Home,
    config: AppConfig,
    model: Embedder,
    queries: Sequence[str],
    principals: frozenset[Principal],
    *,
    warming: Sequence[str],
) -> None:
    """Ask every query, after those that warm the process up, and print a line a preset."""
    catalog = open_catalog(home.catalog_file)
    service = open_retrieval(home, catalog, config, model)
    with catalog.transaction() as session:
        scope = compile_scope(session, principals)
        passages, rows = session.status.index_counts()
    if not rows:
        raise SystemExit(f"{home.folder}: an ingest was broken off here; remove the folder and call this again")
    print(f"{passages} passages in {rows} rows, {len(scope.acl_class_ids)} ACL classes")
    for name in (PresetName.BM25, PresetName.FULL):
        settings = preset(name, config.retrieval)
        wall, processor = [], []
        for query in warming:
            service.search(query, scope, settings, SearchFilters(), LIMIT)
        for query in queries:
            started, used = time.perf_counter(), time.process_time()
            service.search(query, scope, settings, SearchFilters(), LIMIT)
            wall.append((time.perf_counter() - started) * 1000)
            processor.append((time.process_time() - used) * 1000)
        print(
            f"{name:6} p50 {statistics.median(wall):6.1f}  mean {statistics.mean(wall):6.1f}  "
            f"p95 {sorted(wall)[int(len(wall) * 0.95)]:6.1f} ms; processor p50 {statistics.median(processor):6.1f} ms"
        )
    catalog.close()


if __name__ == "__main__":
    main()
