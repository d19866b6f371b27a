"""How long a search takes as the estate falls into more and more ACL classes.

    python benchmarks/compartments.py [--rows 100000] [--compartments 6 10 100 1000]

Rows have 170 words of a Zipf-like vocabulary and random unit vectors of 384 dimensions, spread evenly over the classes,
all of which are visible: the worst case. Each search asks for a pool of 200. "first" is the first search of a freshly
opened index, which reads the compartments; the others are searches after it. Times are CPU time of the process, on one
thread with OMP_NUM_THREADS=1, so that other work on the machine does not count.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed import EmbeddingSignature
from knowledge_index.index import LexicalRow, VectorRow, open_lexical_index, open_vector_index

DIMENSIONS = 384
WORDS_PER_ROW = 170
POOL = 200
SEARCHES = 50
ROWS_A_WRITE = 10_000
SIGNATURE = EmbeddingSignature("synthetic", "0" * 64, DIMENSIONS, "mean", 256)


def line_of(name: str, call: Callable[[int], object]) -> str:
    """First search, median and 95th percentile of those after it, in milliseconds."""
    times = []
    for number in range(SEARCHES + 1):
        start = time.process_time()
        call(number)
        times.append((time.process_time() - start) * 1000)
    first, *rest = times
    percentile_95 = sorted(rest)[int(SEARCHES * 0.95)]
    return f"  {name:24} first {first:8.1f}   p50 {statistics.median(rest):7.1f}   p95 {percentile_95:7.1f} ms"


def measure(folder: Path, count: int, classes: int) -> None:
    """Write both indexes, open them again and search."""
    random = np.random.default_rng(42)
    vocabulary = np.asarray([f"word{number}" for number in range(20_000)])
    scope = Scope(frozenset(), frozenset(f"class-{number}" for number in range(classes)), 0)

    def lexical_rows():  # type: ignore[no-untyped-def]
        for number in range(count):
            ranks = np.minimum(random.zipf(1.2, size=WORDS_PER_ROW) - 1, vocabulary.size - 1)
            yield LexicalRow(
                f"key-{number:07}", f"class-{number % classes}", f"M-{number % 100}", " ".join(vocabulary[ranks]), ()
            )

    open_lexical_index(folder / "lexical").rebuild(lexical_rows())
    vectors = open_vector_index(folder / "vector", SIGNATURE)
    for start in range(0, count, ROWS_A_WRITE):
        matrix = random.normal(size=(min(ROWS_A_WRITE, count - start), DIMENSIONS)).astype(np.float32)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        vectors.add(
            [
                VectorRow(f"key-{start + place:07}", f"class-{(start + place) % classes}", "M-1", vector)
                for place, vector in enumerate(matrix)
            ]
        )
    vectors.compact()
    print(f"{count} rows in {classes} compartments")
    lexical = open_lexical_index(folder / "lexical")
    vectors = open_vector_index(folder / "vector", SIGNATURE)
    for words in (3, 12):
        queries = [" ".join(vocabulary[random.zipf(1.2, size=words) % vocabulary.size]) for _ in range(SEARCHES + 1)]
        found = line_of(
            f"lexical, {words} words",
            lambda number, queries=queries: lexical.search_text(queries[number], scope, SearchFilters(), POOL),
        )
        print(found)
    asked = random.normal(size=(SEARCHES + 1, DIMENSIONS))
    asked = (asked / np.linalg.norm(asked, axis=1, keepdims=True)).astype(np.float32)
    print(line_of("vectors", lambda number: vectors.search(asked[number], scope, SearchFilters(), POOL)))
    for name in ("lexical", "vector"):
        size = sum(file.stat().st_size for file in (folder / name).rglob("*") if file.is_file())
        print(f"  {name} on disk: {size / 1e6:.0f} MB")


def main() -> None:
    """Measure every number of compartments that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--compartments", type=int, nargs="+", default=[6, 10, 100, 1000])
    arguments = parser.parse_args()
    for classes in arguments.compartments:
        with tempfile.TemporaryDirectory() as name:
            measure(Path(name), arguments.rows, classes)


if __name__ == "__main__":
    main()
