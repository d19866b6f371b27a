"""How long it takes to relate an estate, and to put together the papers of a search's candidates.

    python benchmarks/relating_speed.py [--papers 2500] [--words 3000]

Every paper has four versions that differ in one word of twenty, under names without marks, in a folder with three other
papers; words are drawn from a Zipf-like vocabulary. Half of the objects are in scope. Wall clock on an otherwise idle
machine.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from knowledge_index.access import acl_class_of
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.records import ObservedObject
from knowledge_index.domain.documents import ConvertedDocument, sha256_text
from knowledge_index.domain.grants import Access, Grant, Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.pipeline import renew_relations

VERSIONS, PAPERS_PER_FOLDER = 4, 4
POOL_OBJECTS = 300
SEARCHES = 100
CLASSES = [acl_class_of([Grant(Principal.parse(f"group:{name}"), Access.ALLOW)]) for name in ("one", "other")]


def build(catalog: Catalog, papers: int, words: int) -> None:
    """Converted objects, ready to be related."""
    random = np.random.default_rng(1)
    vocabulary = np.array([f"word{number}" for number in range(30_000)])
    with catalog.transaction() as session:
        session.sources.add("dms", "local_fs", "/dms", None)
        for each in CLASSES:
            session.acl_classes.put(each)
        for paper in range(papers):
            text = vocabulary[np.minimum(random.zipf(1.3, words) - 1, len(vocabulary) - 1)]
            folder = f"M-2026-{paper // 40:04d}/folder {paper // PAPERS_PER_FOLDER}"
            for version in range(VERSIONS):
                places = random.integers(0, words, words // 20)
                text[places] = vocabulary[random.integers(0, len(vocabulary), len(places))]
                path = f"{folder}/{sha256_text(f'{paper} {version}')[:16]}.docx"
                blob, acl = sha256_text(path), CLASSES[paper % 2]
                session.objects.add(1, ObservedObject(path, path, blob[:32], blob, 1, 1, 1, acl.id), "2026-01-01")
                session.conversions.add(blob, ConvertedDocument(" ".join(text), None, "docx", "1"))
    with catalog.transaction() as session:
        for each in session.pipeline_objects.current():
            document_id = session.conversions.find(each.blob_sha256, "docx", "1")
            assert document_id is not None
            session.pipeline_objects.set_converted(each.id, document_id)


def main() -> None:
    """Build, relate twice, then ask for the papers of random pools."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=2500)
    parser.add_argument("--words", type=int, default=3000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        catalog = open_catalog(Path(folder) / "catalog.sqlite")
        build(catalog, arguments.papers, arguments.words)
        print(f"{arguments.papers * VERSIONS} objects of {arguments.words} words")
        for name in ("first", "second"):
            start, cpu_start = time.perf_counter(), time.process_time()
            renew_relations(catalog, forget_old_titles=False)
            print(f"{name} run {time.perf_counter() - start:6.1f} s, {time.process_time() - cpu_start:6.1f} s of CPU")
        with catalog.transaction() as session:
            objects = [each for each in session.pipeline_objects.current() if each.relation is not None]
            print(f"{len(session.versions.pairs())} pairs")
            scope = Scope(frozenset(), frozenset([CLASSES[0].id]), 0)
            visible = [each for each in objects if each.acl_class_id == CLASSES[0].id]
            random, times = np.random.default_rng(2), []
            for _ in range(SEARCHES):
                chosen = random.choice(len(visible), min(POOL_OBJECTS, len(visible)), replace=False)
                keys = {each.relation.document_key for place in chosen if (each := visible[place]).relation}
                start = time.perf_counter()
                session.versions.papers(keys, scope)
                times.append((time.perf_counter() - start) * 1000)
        catalog.close()
    print(f"papers of {POOL_OBJECTS} objects: p50 {statistics.median(times):.1f} ms, p95 {sorted(times)[94]:.1f} ms")


if __name__ == "__main__":
    main()
