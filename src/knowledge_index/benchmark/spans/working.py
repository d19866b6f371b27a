"""Makes the rankers of a run, each index once, in a folder that goes when the run ends."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from knowledge_index.benchmark.spans.bare_ranking import BareRanker, ChunkIndex, build_chunk_index, chunker_of
from knowledge_index.benchmark.spans.configurations import Chunking, Configuration
from knowledge_index.benchmark.spans.eval_set import EvalDocument
from knowledge_index.benchmark.spans.product_ranking import ProductRanker
from knowledge_index.benchmark.spans.ranking import Ranker
from knowledge_index.config import AppConfig
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import ConfigurationError
from knowledge_index.domain.progress import Progress
from knowledge_index.embed import CachedEmbedder, Embedder, Reranker, VectorCache, build_reranker
from knowledge_index.embed.token_counts import TokenCounter

_PASSAGE_CHARS = 500
_PASSAGE_MIN_CHARS = 100


@dataclass
class Workshop:
    """Rankers over one set of documents; configurations that share chunking and header share an index.

    ``embedder`` counts what was computed and what was reused over the whole run.
    """

    folder: Path
    home: Home
    config: AppConfig
    documents: Sequence[EvalDocument]
    embedder: CachedEmbedder
    token_counter: TokenCounter | None
    progress: Progress
    _indexes: dict[tuple[Chunking, bool], ChunkIndex] = field(default_factory=dict)

    def as_run(self, configuration: Configuration) -> Configuration:
        """The configuration with the levers that the installation's settings decide."""
        if not configuration.through_product:
            return configuration
        return replace(configuration, rerank=self.config.retrieval.rerank_enabled)

    def not_run_reason(self, configuration: Configuration) -> str | None:
        """Why the configuration cannot run here, or None."""
        if configuration.rerank and self.config.retrieval.rerank_model is None:
            return "retrieval.rerank_model is not set"
        return None

    @contextmanager
    def ranker(self, configuration: Configuration) -> Iterator[Ranker]:
        """The configuration's ranker; it holds for the length of the block."""
        if configuration.through_product:
            product = ProductRanker(
                self.folder / configuration.name,
                self.home,
                settings_of(configuration, self.config),
                self.documents,
                self.embedder,
                self.progress,
            )
            with closing(product):
                yield product
            return
        key = (configuration.chunking, configuration.context_header)
        if key not in self._indexes:
            self._indexes[key] = build_chunk_index(
                self.folder / configuration.name,
                self.documents,
                chunker_of(configuration.chunking, self.config.chunking),
                self.embedder,
                with_header=configuration.context_header,
                label=configuration.name,
                progress=self.progress,
            )
        yield BareRanker(self._indexes[key], configuration.retriever, self.embedder, self._reranker(configuration))

    def truncated_share(self, ranker: Ranker) -> float | None:
        """The share of the ranker's chunks whose indexed text has more tokens than the embedder takes."""
        if self.token_counter is None:
            return None
        limit = self.embedder.signature.max_tokens
        counts = self.token_counter.count([each.indexed_text for each in ranker.chunks])
        return sum(count > limit for count in counts) / len(counts)

    def embed_queries(self, queries: Sequence[str]) -> None:
        """Bring the queries' vectors into the cache, side by side and with a bar."""
        distinct = list(dict.fromkeys(queries))
        with self.progress.task("embed questions", len(distinct)) as task:
            self.embedder.embed(distinct, task.advance)

    def _reranker(self, configuration: Configuration) -> Reranker | None:
        if not configuration.rerank:
            return None
        return build_reranker(self.config.retrieval.model_copy(update={"rerank_enabled": True}))


def settings_of(configuration: Configuration, config: AppConfig) -> AppConfig:
    """The settings that a configuration through the product runs with."""
    if configuration.chunking is not Chunking.PRODUCT_500:
        return config
    lengths = {"clause_max_chars": _PASSAGE_CHARS, "clause_min_chars": _PASSAGE_MIN_CHARS}
    return config.model_copy(update={"chunking": config.chunking.model_copy(update=lengths)})


@contextmanager
def open_workshop(
    home: Home,
    config: AppConfig,
    documents: Sequence[EvalDocument],
    embedder: Embedder,
    token_counter: TokenCounter | None,
    progress: Progress,
) -> Iterator[Workshop]:
    """A workshop over the home's vector cache; its indexes lie in a folder of the home until the block ends."""
    place = home.folder / "spans"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{place}: cannot be made ({error.strerror}); choose another --home") from error
    with (
        tempfile.TemporaryDirectory(prefix="run-", dir=place, ignore_cleanup_errors=True) as folder,
        closing(VectorCache(home.vector_cache_file)) as cache,
    ):
        cached = CachedEmbedder(embedder, cache)
        yield Workshop(Path(folder), home, config, documents, cached, token_counter, progress)
