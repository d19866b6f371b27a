"""How fast the lexical and the vector index write and answer, on synthetic rows.

    python benchmarks/index_speed.py [--rows 5000 100000] [--classes 20] [--batch 2000]

Rows have 170 words of a Zipf-like vocabulary and random unit vectors of 384 dimensions, spread over ``--classes`` ACL
classes and 100 matters; searches ask for a pool of 200 with half of the classes in scope. Times are wall clock on an
otherwise idle machine.
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
MATTERS = 100
POOL = 200
SEARCHES = 50
SIGNATURE = EmbeddingSignature("synthetic", "0" * 64, DIMENSIONS, "mean", 256)
NO_FILTER = SearchFilters()


def measure_ms(call: Callable[[int], object]) -> str:
    """Median and 95th percentile over the searches."""
    times = []
    for number in range(SEARCHES):
        start = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - start) * 1000)
    return f"p50 {statistics.median(times):7.1f} ms   p95 {sorted(times)[int(SEARCHES * 0.95)]:7.1f} ms"


def measure_lexical(folder: Path, count: int, classes: int, batch: int, random: np.random.Generator) -> None:
    """Adds in batches, then a rebuild, then searches."""
    vocabulary = np.asarray([f"word{number}" for number in range(20_000)])
    ranks = np.minimum(random.zipf(1.2, size=(count, WORDS_PER_ROW)) - 1, vocabulary.size - 1)
    rows = [
        LexicalRow(
            row_key=f"key-{number:07}",
            acl_class_id=f"class-{number % classes}",
            matter_ref=f"M-{number % MATTERS}",
            text=" ".join(vocabulary[ranks[number]]),
            identifiers=(f"file:{number % 1000}", f"amount:{number}"),
        )
        for number in range(count)
    ]
    index = open_lexical_index(folder)
    start = time.perf_counter()
    for first in range(0, count, batch):
        index.add(rows[first : first + batch])
    print(f"lexical  add, {batch} a commit     {count / (time.perf_counter() - start):10.0f} rows/s")
    start = time.perf_counter()
    index.rebuild(rows)
    print(f"lexical  rebuild                {count / (time.perf_counter() - start):10.0f} rows/s")
    start = time.perf_counter()
    index.row_keys()
    print(f"lexical  row_keys               {(time.perf_counter() - start) * 1000:10.1f} ms")
    scope = Scope(frozenset(), frozenset(f"class-{number}" for number in range(0, classes, 2)), 0)
    for words in (3, 12, 200):
        queries = [" ".join(vocabulary[random.zipf(1.2, size=words) % vocabulary.size]) for _ in range(SEARCHES)]
        found = measure_ms(lambda number, queries=queries: index.search_text(queries[number], scope, NO_FILTER, POOL))
        print(f"lexical  search, {words:3} words       {found}")
    matter = SearchFilters(frozenset({"M-2"}))
    found = measure_ms(lambda number: index.search_text(f"word{number} word7", scope, matter, POOL))
    print(f"lexical  search in one matter   {found}")
    found = measure_ms(lambda number: index.search_identifiers([f"file:{number}"], scope, NO_FILTER, POOL))
    print(f"lexical  search identifiers     {found}")


def measure_vector(folder: Path, count: int, classes: int, batch: int, random: np.random.Generator) -> None:
    """Adds in batches, searches, compacts, searches again; numpy over the same matrix for comparison."""
    matrix = random.normal(size=(count, DIMENSIONS)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    rows = [
        VectorRow(f"key-{number:07}", f"class-{number % classes}", f"M-{number % MATTERS}", matrix[number])
        for number in range(count)
    ]
    index = open_vector_index(folder, SIGNATURE)
    # The engine is imported and the table made outside of the clock.
    index.add(rows[:1])
    start = time.perf_counter()
    for first in range(0, count, batch):
        index.add(rows[first : first + batch])
    print(f"vector   add, {batch} a commit     {count / (time.perf_counter() - start):10.0f} rows/s")
    scope = Scope(frozenset(), frozenset(f"class-{number}" for number in range(0, classes, 2)), 0)
    matter = SearchFilters(frozenset({"M-2"}))
    queries = random.normal(size=(SEARCHES, DIMENSIONS))
    queries = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)
    print(f"vector   search                 {measure_ms(lambda n: index.search(queries[n], scope, NO_FILTER, POOL))}")
    start = time.perf_counter()
    index.compact()
    print(f"vector   compact                {(time.perf_counter() - start) * 1000:10.1f} ms")
    print(f"vector   search, compacted      {measure_ms(lambda n: index.search(queries[n], scope, NO_FILTER, POOL))}")
    print(f"vector   search in one matter   {measure_ms(lambda n: index.search(queries[n], scope, matter, POOL))}")
    start = time.perf_counter()
    index.row_keys()
    print(f"vector   row_keys               {(time.perf_counter() - start) * 1000:10.1f} ms")
    start = time.perf_counter()
    index.remove([row.row_key for row in rows[:1000]])
    print(f"vector   remove 1,000           {(time.perf_counter() - start) * 1000:10.1f} ms")
    print(f"numpy    the same matrix        {measure_ms(lambda n: np.argpartition(matrix @ queries[n], -POOL))}")


def main() -> None:
    """Measure every size that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 100_000])
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--batch", type=int, default=2_000)
    arguments = parser.parse_args()
    for count in arguments.rows:
        print(f"--- {count} rows, {arguments.classes} ACL classes")
        for measure in (measure_lexical, measure_vector):
            with tempfile.TemporaryDirectory() as name:
                measure(Path(name) / "index", count, arguments.classes, arguments.batch, np.random.default_rng(42))


if __name__ == "__main__":
    main()
