"""Ranking with the product's chunkers, embedder, indexes and fusion, one lever at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge_index.access import acl_class_of
from knowledge_index.benchmark.spans.configurations import Chunking, Retriever
from knowledge_index.benchmark.spans.eval_set import EvalDocument
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.ranking import ChunkPlace, IndexedChunk, RankedChunk
from knowledge_index.chunking import build_chunker
from knowledge_index.chunking.base import Chunker
from knowledge_index.chunking.fixed import FixedWindowChunker
from knowledge_index.chunking.published_clause import PublishedClauseChunker
from knowledge_index.chunking.windows import with_heading
from knowledge_index.config import ChunkingSettings
from knowledge_index.domain.documents import Chunk
from knowledge_index.domain.grants import Access, Grant, Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.progress import Progress
from knowledge_index.domain.search import Leg, SearchFilters
from knowledge_index.embed import Embedder, Reranker
from knowledge_index.index import (
    LexicalIndex,
    LexicalRow,
    ScoredRow,
    VectorIndex,
    VectorRow,
    open_lexical_index,
    open_vector_index,
)
from knowledge_index.retrieval.fusion import leg_scores

# Cormack, Clarke and Büttcher 2009, which the published hybrid follows.
PUBLISHED_RRF_K = 60
# The one who asks in an evaluation: every document is given to them, and nobody else.
EVALUATOR = Principal.parse("group:span-evaluation")
EVALUATOR_GRANT = Grant(EVALUATOR, Access.ALLOW)
_ACL_CLASS = acl_class_of([EVALUATOR_GRANT])
_SCOPE = Scope(frozenset({EVALUATOR}), frozenset({_ACL_CLASS.id}), 0)


def chunker_of(chunking: Chunking, settings: ChunkingSettings) -> Chunker:
    """The chunker of a configuration; ``settings`` are the product's."""
    if chunking is Chunking.FIXED_1000:
        return FixedWindowChunker(1000, 150)
    if chunking is Chunking.FIXED_500:
        return FixedWindowChunker(500, 0)
    if chunking is Chunking.PUBLISHED_CLAUSE:
        return PublishedClauseChunker()
    return build_chunker(settings)


@dataclass(frozen=True)
class ChunkIndex:
    """The chunks of all documents in both indexes, one row a chunk; a document is its rows' matter."""

    chunker_signature: str
    chunks: tuple[IndexedChunk, ...]
    passages: dict[str, str]
    places: dict[str, ChunkPlace]
    lexical: LexicalIndex
    vectors: VectorIndex


def build_chunk_index(
    folder: Path,
    documents: Sequence[EvalDocument],
    chunker: Chunker,
    embedder: Embedder,
    *,
    with_header: bool,
    label: str,
    progress: Progress,
) -> ChunkIndex:
    """Cut, embed and index all documents, into ``folder``, which has to be new."""
    keys: list[str] = []
    chunks: list[IndexedChunk] = []
    passages: dict[str, str] = {}
    for document in sorted(documents, key=lambda each: each.doc_id):
        for chunk in chunker.chunk(document.text):
            # Sorts by document and place: ties are broken by it, never by the order of insertion.
            key = f"{document.doc_id}:{chunk.start_char:09d}-{chunk.end_char:09d}"
            place = ChunkPlace(document.doc_id, Span(chunk.start_char, chunk.end_char))
            keys.append(key)
            chunks.append(IndexedChunk(place, _with_header(document, chunk) if with_header else chunk.text))
            passages[key] = chunk.text
    with progress.task(f"embed {label}", len(chunks)) as task:
        matrix = embedder.embed([each.indexed_text for each in chunks], task.advance)
    lexical = open_lexical_index(folder / "lexical")
    vectors = open_vector_index(folder / "vector", embedder.signature)
    lexical.add(
        [
            LexicalRow(key, _ACL_CLASS.id, each.place.doc_id, each.indexed_text, ())
            for key, each in zip(keys, chunks, strict=True)
        ]
    )
    vectors.add(
        [
            VectorRow(key, _ACL_CLASS.id, each.place.doc_id, vector)
            for key, each, vector in zip(keys, chunks, matrix, strict=True)
        ]
    )
    places = {key: each.place for key, each in zip(keys, chunks, strict=True)}
    return ChunkIndex(chunker.signature, tuple(chunks), passages, places, lexical, vectors)


def _with_header(document: EvalDocument, chunk: Chunk) -> str:
    """The document's title and the section before the chunk, as embedders that know no document choice are given it."""
    return with_heading(" | ".join(filter(None, (document.title or document.doc_id, chunk.heading))), chunk.text)


class BareRanker:
    """Ranks the rows of a :class:`ChunkIndex` by one leg, or by two fused; keeps :class:`Ranker`.

    Hybrid fuses two lists, each as deep as the ranking that was asked for. With a reranker, the ranking's chunks are
    put into the order of its scores.
    """

    def __init__(
        self, index: ChunkIndex, retriever: Retriever, embedder: Embedder, reranker: Reranker | None = None
    ) -> None:
        self._index = index
        self._retriever = retriever
        self._embedder = embedder
        self._reranker = reranker
        self.chunker_signature = index.chunker_signature

    @property
    def chunks(self) -> Sequence[IndexedChunk]:
        """See :attr:`Ranker.chunks`."""
        return self._index.chunks

    def rank(self, query: str, doc_ids: frozenset[str] | None, depth: int) -> tuple[RankedChunk, ...]:
        """See :meth:`Ranker.rank`."""
        if doc_ids is not None and not doc_ids:
            # An empty filter means no narrowing to an index.
            return ()
        filters = SearchFilters(matter_refs=doc_ids or frozenset())
        rows = self._rows(query, filters, depth)
        if self._reranker is not None:
            scores = self._reranker.score(query, [self._index.passages[row.row_key] for row in rows])
            order = sorted(range(len(rows)), key=lambda place: (-scores[place], place))
            rows = [ScoredRow(rows[place].row_key, scores[place]) for place in order]
        return tuple(RankedChunk(self._index.places[row.row_key], row.score) for row in rows)

    def _rows(self, query: str, filters: SearchFilters, depth: int) -> list[ScoredRow]:
        lists: dict[Leg, list[ScoredRow]] = {}
        if self._retriever in (Retriever.DENSE, Retriever.HYBRID):
            vector = self._embedder.embed([query])[0]
            # A pool ends at a strict drop of score; the list ends at its depth, equal scores by key.
            lists[Leg.SEMANTIC] = self._index.vectors.search(vector, _SCOPE, filters, depth)[:depth]
        if self._retriever in (Retriever.BM25, Retriever.HYBRID):
            lists[Leg.LEXICAL] = self._index.lexical.search_text(query, _SCOPE, filters, depth)[:depth]
        if len(lists) == 1:
            return next(iter(lists.values()))
        shares = [
            leg_scores(leg, [(row.row_key, row.score) for row in rows], "ranks", PUBLISHED_RRF_K)
            for leg, rows in lists.items()
        ]
        fused = {
            row.row_key: sum(each.share(row.row_key) for each in shares) for rows in lists.values() for row in rows
        }
        ordered = sorted(fused.items(), key=lambda item: (-item[1], item[0]))
        return [ScoredRow(row_key, score) for row_key, score in ordered[:depth]]
