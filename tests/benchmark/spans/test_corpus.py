import json
from pathlib import Path
from typing import Any

import pytest
from span_sets import WordCounter, contract, places

from knowledge_index.benchmark.spans.configurations import CORPUS_CONFIGURATIONS
from knowledge_index.benchmark.spans.corpus import (
    CUTOFFS,
    CorpusBenchmark,
    CorpusQuery,
    load_corpus_benchmark,
    score_corpus_ranking,
)
from knowledge_index.benchmark.spans.corpus_report import write_corpus_run
from knowledge_index.benchmark.spans.corpus_running import run_corpus
from knowledge_index.benchmark.spans.run_files import prepare_folder
from knowledge_index.benchmark.spans.working import open_workshop
from knowledge_index.config import AppConfig
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import InputError
from knowledge_index.domain.progress import SilentProgress
from small_firm import WordEmbedder

NAMES = ("Nordkai", "Alster", "Elbe")


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    tests = []
    for name in NAMES:
        file = tmp_path / "corpus" / "papers" / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8", newline="") as stream:
            stream.write(contract(name))
        for answer in ("invoice falls due after thirty days", "kept secret for five years"):
            start = contract(name).index(answer)
            snippet = {"file_path": f"papers/{name}.txt", "span": [start, start + len(answer)], "answer": answer}
            tests.append({"query": f"What did {name} agree on: {answer}?", "snippets": [snippet]})
    file = tmp_path / "benchmark.json"
    file.write_text(json.dumps({"tests": tests}), "utf-8")
    return file


def run(benchmark: Path, out: Path, mini: int | None = None) -> tuple[CorpusBenchmark, WordEmbedder]:
    folder = benchmark.parent
    loaded = load_corpus_benchmark(benchmark, folder / "corpus", mini)
    home = Home(folder / "home")
    home.create()
    embedder = WordEmbedder()
    with open_workshop(home, AppConfig(), loaded.documents, embedder, WordCounter(), SilentProgress()) as workshop:
        result = run_corpus(loaded, workshop, CORPUS_CONFIGURATIONS)
    prepare_folder(out)
    write_corpus_run(result, out)
    return loaded, embedder


def test_characters_are_counted_at_every_cutoff() -> None:
    # 40 gold characters in one document, 10 in another.
    query = CorpusQuery(0, "?", (*places((0, 40), doc_id="a"), *places((0, 10), doc_id="b")))
    ranking = [*places((20, 60), doc_id="a"), *places((0, 100), doc_id="c"), *places((0, 20), doc_id="b")]
    found = score_corpus_ranking(query, ranking)
    assert CUTOFFS == (1, 2, 4, 8, 16, 32, 64)
    assert found.precision == pytest.approx((100 * 20 / 40, 100 * 20 / 140, *[100 * 30 / 160] * 5))
    assert found.recall == pytest.approx((100 * 20 / 50, 100 * 20 / 50, *[100 * 30 / 50] * 5))
    assert found.right_document_at_16 == pytest.approx(2 / 3)


def test_an_empty_ranking_scores_nothing() -> None:
    found = score_corpus_ranking(CorpusQuery(0, "?", tuple(places((0, 40)))), [])
    assert (found.precision, found.recall, found.right_document_at_16) == ((0.0,) * 7, (0.0,) * 7, 0.0)


def test_rankings_lie_in_the_corpus_and_give_the_figures_of_the_report(benchmark: Path, tmp_path: Path) -> None:
    loaded, _ = run(benchmark, tmp_path / "out")
    texts = {each.doc_id: each.text for each in loaded.documents}
    means = json.loads((tmp_path / "out" / "per_query.json").read_text("utf-8"))["means"]
    assert list(means) == ["dense", "hybrid", "full", "full-500"]
    for name in means:
        lines = (tmp_path / "out" / f"rankings-{name}.jsonl").read_text("utf-8").splitlines()
        ranked = {line["index"]: line["ranked"] for line in map(json.loads, lines)}
        assert list(ranked) == list(range(6))
        precisions, recalls = [], []
        for query in loaded.queries:
            assert all(0 <= start < end <= len(texts[file]) for file, start, end in ranked[query.index])
            file, start, end = ranked[query.index][0]
            (gold,) = query.gold
            shared = len(set(range(start, end)) & set(range(*gold.span))) if file == gold.doc_id else 0
            precisions.append(100 * shared / (end - start))
            recalls.append(100 * shared / gold.span.length)
        assert means[name]["precision@1"] == pytest.approx(sum(precisions) / 6)
        assert means[name]["recall@1"] == pytest.approx(sum(recalls) / 6)
        # Everything is found in so small a corpus.
        assert means[name]["recall@64"] == pytest.approx(100)
        assert f"| {name} | {means[name]['precision@1']:.1f} |" in (tmp_path / "out" / "report.md").read_text("utf-8")


def test_a_second_run_embeds_nothing_and_writes_the_same_bytes(benchmark: Path, tmp_path: Path) -> None:
    run(benchmark, tmp_path / "out")
    _, embedder = run(benchmark, tmp_path / "again")
    assert embedder.asked == []
    for file in sorted((tmp_path / "out").iterdir()):
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_mini_run_asks_the_first_questions_and_writes_them(benchmark: Path, tmp_path: Path) -> None:
    run(benchmark, tmp_path / "out", mini=2)
    asked = json.loads((tmp_path / "out" / "benchmark.json").read_text("utf-8"))["tests"]
    given = json.loads(benchmark.read_text("utf-8"))["tests"][:2]
    assert [each["query"] for each in asked] == [each["query"] for each in given]
    assert [each["snippets"][0]["span"] for each in asked] == [each["snippets"][0]["span"] for each in given]
    assert "the first 2 of 6" in (tmp_path / "out" / "report.md").read_text("utf-8")
    run(benchmark, tmp_path / "out")
    assert not (tmp_path / "out" / "benchmark.json").exists()


@pytest.mark.parametrize(
    ("snippet", "message"),
    [
        ({"file_path": "papers/none.txt"}, "names 'papers/none.txt'"),
        ({"span": [0, 10**6]}, "lies outside"),
        ({"answer": "something else"}, "does not slice back"),
        ({"span": [1]}, "tests > 0 > snippets > 0 > span"),
    ],
)
def test_a_benchmark_for_another_corpus_is_refused(benchmark: Path, snippet: dict[str, Any], message: str) -> None:
    content = json.loads(benchmark.read_text("utf-8"))
    content["tests"][0]["snippets"][0].update(snippet)
    benchmark.write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError, match=message):
        load_corpus_benchmark(benchmark, benchmark.parent / "corpus", None)


def test_a_corpus_that_is_not_there_is_refused(benchmark: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        load_corpus_benchmark(benchmark, tmp_path / "none", None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no"):
        load_corpus_benchmark(benchmark, tmp_path / "empty", None)
