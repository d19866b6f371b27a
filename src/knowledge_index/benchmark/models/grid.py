"""The grid: every embedder, first stage and reranker over one data set, one model in memory at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge_index.benchmark.models.candidates import (
    CANDIDATES,
    EvalCorpus,
    Scored,
    build_corpus,
    embed_passages,
    fuse,
)
from knowledge_index.benchmark.models.configurations import Configuration, FirstStage
from knowledge_index.benchmark.models.dataset import ModelDataset, Unit
from knowledge_index.benchmark.models.forms import Forms
from knowledge_index.benchmark.models.measuring import LATENCY, ModelCost, cost_of, note, timed, watched_memory
from knowledge_index.benchmark.models.scoring import RankingValues, score_rankings
from knowledge_index.chunking import build_chunker
from knowledge_index.config import AppConfig
from knowledge_index.domain.errors import ModelError
from knowledge_index.domain.progress import Progress
from knowledge_index.embed import CachedEmbedder, Embedder, Reranker, VectorCache
from knowledge_index.embed.devices import free_memory
from knowledge_index.embed.registered import PromptedEmbedder, open_embedder, open_reranker
from knowledge_index.embed.registry import AskedModel, EmbedderCard, embedder_card, reranker_card
from knowledge_index.embed.score_cache import ScoreCache

# What is kept of a ranking: more than any measure looks at.
_DEPTH = 100

Numbers = dict[str, list[int]]
"""For each question the passages that stand for its units, best first."""


@dataclass(frozen=True)
class GridRow:
    """What one configuration did: the ranking of each question in units, and what it is worth.

    ``sha256`` covers all that decides the ranking but the data. Where ``not_run`` says why it did not run, the rest is
    empty.
    """

    configuration: Configuration
    sha256: str
    rankings: Mapping[str, tuple[str, ...]]
    values: Mapping[str, RankingValues]
    not_run: str | None = None


@dataclass(frozen=True)
class GridResult:
    """All rows, in the grid's order, and what their models cost."""

    dataset: ModelDataset
    unit: Unit
    relevant: Mapping[str, Mapping[str, int]]
    rows: tuple[GridRow, ...]
    costs: tuple[ModelCost, ...]
    passages: int


@dataclass
class GridWork:
    """Where a grid is computed: the settings, and the caches that let a stopped run go on."""

    folder: Path
    config: AppConfig
    vectors: VectorCache
    scores: ScoreCache
    progress: Progress


def run_grid(
    dataset: ModelDataset,
    embedders: Sequence[AskedModel],
    rerankers: Sequence[AskedModel],
    wanted: Sequence[Configuration],
    forms: Forms,
    work: GridWork,
) -> GridResult:
    """Run the ``wanted`` configurations, whose models are among those given.

    First each embedder in turn makes its lists and is let go of; then each reranker scores the candidates that any list
    has for it. A model that cannot be loaded takes its rows with it, with the reason, and no others.
    """
    corpus = build_corpus(work.folder, dataset, build_chunker(work.config.chunking))
    run = _Run(dataset, corpus, forms, work)
    lists: dict[tuple[FirstStage, str | None], Numbers] = {(FirstStage.BM25, None): run.bm25()}
    costs = []
    for asked in embedders:
        form = forms.embedders[asked.name]
        if form.not_run is None:
            try:
                stages = run.first_stages_of(asked, form.signature_id)
            except ModelError as error:
                forms = forms.without_embedder(asked.name, str(error))
                continue
            lists |= {(stage, asked.name): numbers for stage, numbers in stages.items()}
            costs.append(cost_of(work.scores, asked.name, form.signature_id))
            free_memory()
    done: dict[Configuration, GridRow] = {}
    for reranker in (None, *rerankers):
        name = reranker.name if reranker else None
        group = [each for each in wanted if each.reranker == name]
        runnable = {each: lists[each.first_stage, each.embedder] for each in group if forms.not_run(each) is None}
        if reranker is not None and runnable:
            signature = forms.rerankers[reranker.name].signature_id
            try:
                runnable = run.reranked(reranker, signature, runnable)
                costs.append(cost_of(work.scores, reranker.name, signature))
            except ModelError as error:
                forms, runnable = forms.without_reranker(reranker.name, str(error)), {}
            free_memory()
        done |= {each: GridRow(each, "", {}, {}, forms.not_run(each)) for each in group if each not in runnable}
        done |= {each: run.row(each, numbers) for each, numbers in runnable.items()}
    return GridResult(
        dataset,
        Unit(forms.unit),
        run.relevant,
        tuple(done[each] for each in wanted),
        tuple(costs),
        len(corpus.passages),
    )


class _Run:
    def __init__(self, dataset: ModelDataset, corpus: EvalCorpus, forms: Forms, work: GridWork) -> None:
        self._dataset = dataset
        self._unit = Unit(forms.unit)
        self._forms = forms
        self._corpus = corpus
        self._work = work
        self._settings = work.config.models
        self._lexical: dict[str, Scored] = {}
        self.relevant = {each.query_id: corpus.relevant(each, self._unit) for each in dataset.questions}

    def bm25(self) -> Numbers:
        with self._work.progress.task("rank by words", len(self._dataset.questions)) as task:
            for question in self._dataset.questions:
                self._lexical[question.query_id] = self._corpus.bm25(question)
                task.advance()
        return self._in_units(self._lexical)

    def first_stages_of(self, asked: AskedModel, signature: str) -> dict[FirstStage, Numbers]:
        """The model is loaded in here, and nothing holds it when this returns."""
        card = embedder_card(asked.name)
        embedder = open_embedder(card, asked, self._settings, self._work.config.embedding.threads)
        cached = CachedEmbedder(embedder, self._work.vectors)
        with watched_memory(self._work.scores, signature, self._settings, lambda: cached.computed > 0):
            semantic = self._dense(card, cached)
            if cached.computed:
                self._time_embedder(card, embedder, signature)
        settings = self._work.config.retrieval
        fused = {query_id: fuse(self._lexical[query_id], scored, settings) for query_id, scored in semantic.items()}
        return {FirstStage.DENSE: self._in_units(semantic), FirstStage.HYBRID: self._in_units(fused)}

    def reranked(
        self, asked: AskedModel, signature: str, lists: Mapping[Configuration, Numbers]
    ) -> dict[Configuration, Numbers]:
        """The lists with their heads in the reranker's order; nothing holds the model when this returns."""
        scorer = _Scorer(open_reranker(reranker_card(asked.name), asked, self._settings), signature, self._work.scores)
        texts = {each.query_id: each.text for each in self._dataset.questions}
        ordered: dict[Configuration, Numbers] = {each: {} for each in lists}
        with (
            watched_memory(self._work.scores, signature, self._settings, lambda: scorer.computed > 0),
            self._work.progress.task(f"rerank with {asked.name}", len(lists) * len(texts)) as task,
        ):
            for configuration, numbers in lists.items():
                for query_id, each in numbers.items():
                    ordered[configuration][query_id] = self._reordered(scorer, texts[query_id], each)
                    task.advance()
        return ordered

    def row(self, configuration: Configuration, numbers: Numbers) -> GridRow:
        """What the configuration's lists are worth."""
        rankings = {
            query_id: tuple(self._corpus.unit_id(number, self._unit) for number in each)
            for query_id, each in numbers.items()
        }
        values = score_rankings(self.relevant, rankings)
        return GridRow(configuration, self._forms.sha256(configuration), rankings, values)

    def _dense(self, card: EmbedderCard, cached: CachedEmbedder) -> dict[str, Scored]:
        windows = sum(len(passage.windows) for passage in self._corpus.passages)
        documents = PromptedEmbedder(cached, card.document_prompt)
        queries = PromptedEmbedder(cached, card.query_prompt)
        with self._work.progress.task(f"embed with {card.name}", windows) as task:
            matrix = embed_passages(self._corpus, documents, task.advance)
        vectors = queries.embed([each.text for each in self._dataset.questions])
        return {
            question.query_id: self._corpus.dense(question, vector, matrix)
            for question, vector in zip(self._dataset.questions, vectors, strict=True)
        }

    def _time_embedder(self, card: EmbedderCard, embedder: Embedder, signature: str) -> None:
        """How long 40 candidates take to embed, past any cache, on the first windows of the set."""
        texts = [
            card.document_prompt + window
            for passage in self._corpus.passages[:CANDIDATES]
            for window in passage.windows
        ][:CANDIDATES]
        if len(texts) == CANDIDATES:
            for _ in range(3):
                note(self._work.scores, signature, LATENCY, timed(lambda: embedder.embed(texts)))

    def _reordered(self, scorer: "_Scorer", query: str, numbers: Sequence[int]) -> list[int]:
        head, tail = list(numbers[:CANDIDATES]), list(numbers[CANDIDATES:])
        scores = scorer.score(query, [self._corpus.passages[number].text for number in head])
        order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
        return [head[place] for place in order] + tail

    def _in_units(self, lists: Mapping[str, Scored]) -> Numbers:
        return {query_id: self._corpus.units(scored, self._unit)[:_DEPTH] for query_id, scored in lists.items()}


class _Scorer:
    """A reranker behind its cache; ``computed`` counts scores that were not in it."""

    def __init__(self, reranker: Reranker, signature: str, cache: ScoreCache) -> None:
        self._reranker = reranker
        self._signature = signature
        self._cache = cache
        self._is_warm = False
        self.computed = 0

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        known = self._cache.get(self._signature, query, passages)
        missing = [each for each in dict.fromkeys(passages) if each not in known]
        if missing:
            fresh: list[float] = []
            seconds = timed(lambda: fresh.extend(self._reranker.score(query, missing)))
            # The first call loads the model.
            if len(missing) == CANDIDATES and self._is_warm:
                note(self._cache, self._signature, LATENCY, seconds)
            self._is_warm = True
            scores = dict(zip(missing, fresh, strict=True))
            self._cache.put(self._signature, query, scores)
            self.computed += len(missing)
            known |= scores
        return [known[each] for each in passages]
