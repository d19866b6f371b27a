"""The product's whole way: documents as files of an estate, source, sync, run, and the one way to search."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from knowledge_index.access import compile_scope
from knowledge_index.benchmark.spans.bare_ranking import EVALUATOR, EVALUATOR_GRANT
from knowledge_index.benchmark.spans.eval_set import EvalDocument
from knowledge_index.benchmark.spans.offset_map import OffsetMap
from knowledge_index.benchmark.spans.ranking import ChunkPlace, IndexedChunk, RankedChunk
from knowledge_index.catalog import open_catalog
from knowledge_index.catalog.passage_records import RowKind
from knowledge_index.chunking import build_chunker
from knowledge_index.chunking.windows import with_heading
from knowledge_index.config import AppConfig, RetrievalSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import InputError
from knowledge_index.domain.progress import Progress
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.embed import Embedder
from knowledge_index.pipeline import run_pipeline
from knowledge_index.retrieval import open_retrieval
from knowledge_index.sources import LOCAL_FS, open_source
from knowledge_index.sources.sync import sync_source

_SOURCE_NAME = "spans"
_MAX_NAME_BYTES = 200


@dataclass(frozen=True)
class _WorkHome(Home):
    """A home of its own for one configuration, over the vector cache of the installation."""

    shared_cache_file: Path

    @property
    def vector_cache_file(self) -> Path:
        return self.shared_cache_file


class ProductRanker:
    """Ranks through ``RetrievalService.search``; keeps :class:`Ranker`. To be closed.

    Each document is a file in a folder of its own, so that it is its own matter and no two are taken for versions of
    one paper. The settings are the installation's; only the places that one paper may take, and the candidate pool
    where it is smaller, are raised to the depth of the ranking. Spans are told in the eval set's own text.
    """

    def __init__(
        self,
        folder: Path,
        home: Home,
        config: AppConfig,
        documents: Sequence[EvalDocument],
        embedder: Embedder,
        progress: Progress,
    ) -> None:
        """Index all documents, into ``folder``, which has to be new.

        Raises:
            InputError: a document cannot be written as a file, converted, or told in the eval set's offsets.
        """
        self._config = config
        self.chunker_signature = build_chunker(config.chunking).signature
        work_home = _WorkHome(folder / "home", home.vector_cache_file)
        work_home.create()
        self._folders = _write_estate(folder / "estate", documents)
        self._catalog = open_catalog(work_home.catalog_file)
        try:
            self._index(work_home, home.installation_key(), folder / "estate", embedder, progress)
            self._maps = self._offset_maps(documents)
            self._chunks = self._indexed_chunks(documents)
            self._service = open_retrieval(work_home, self._catalog, config, embedder)
            with self._catalog.transaction() as session:
                self._scope = compile_scope(session, frozenset({EVALUATOR}))
        except BaseException:
            self._catalog.close()
            raise

    def close(self) -> None:
        """Let go of the catalog."""
        self._catalog.close()

    @property
    def chunks(self) -> Sequence[IndexedChunk]:
        """See :attr:`Ranker.chunks`."""
        return self._chunks

    def rank(self, query: str, doc_ids: frozenset[str] | None, depth: int) -> tuple[RankedChunk, ...]:
        """See :meth:`Ranker.rank`."""
        return self.rank_under(self._config.retrieval, query, doc_ids, depth)

    def rank_under(
        self, retrieval: RetrievalSettings, query: str, doc_ids: frozenset[str] | None, depth: int
    ) -> tuple[RankedChunk, ...]:
        """As :meth:`rank`, with other knobs of the search than the installation's, over the same index."""
        if doc_ids is not None and not doc_ids:
            return ()
        filters = SearchFilters(frozenset(self._folders[doc_id] for doc_id in doc_ids or ()))
        settings = retrieval.model_copy(
            update={
                "max_chunks_per_document": max(depth, retrieval.max_chunks_per_document),
                "candidate_pool": max(depth, retrieval.candidate_pool),
            }
        )
        result = self._service.search(query, self._scope, settings, filters, depth)
        return tuple(RankedChunk(self._place(hit), hit.score) for hit in result.hits)

    def _place(self, hit: SearchHit) -> ChunkPlace:
        doc_id, offsets = self._maps[hit.path]
        span = offsets.original_span(hit.start_char, hit.end_char)
        assert span is not None, "a chunk has at least one visible character"
        return ChunkPlace(doc_id, span)

    def _index(
        self, work_home: Home, installation_key: bytes, estate: Path, embedder: Embedder, progress: Progress
    ) -> None:
        with work_home.writing():
            with self._catalog.transaction() as session:
                session.sources.add(_SOURCE_NAME, LOCAL_FS, str(estate), None)
                record = session.sources.all()[0]
            source = open_source(record)
            paths = [path.relative_to(estate).as_posix() for path in sorted(estate.rglob("*.txt"))]
            synced = sync_source(
                self._catalog,
                record,
                source,
                dict.fromkeys(paths, (EVALUATOR_GRANT,)),
                # The installation's own, so that ties fall as they do there, in every run.
                installation_key=installation_key,
                rehash=False,
                clock=lambda: datetime.now(UTC),
                progress=progress,
            )
            report = run_pipeline(work_home, self._catalog, self._config, embedder, limit=None, progress=progress)
        lost = [
            *((each.path, each.reason) for each in (*synced.skipped, *synced.unreadable)),
            *((each.path, each.message) for each in report.quarantined),
            *report.unread,
        ]
        if lost:
            raise InputError(
                f"{len(lost)} documents do not pass the product's pipeline, first '{lost[0][0]}': {lost[0][1]}"
            )

    def _offset_maps(self, documents: Sequence[EvalDocument]) -> dict[str, tuple[str, OffsetMap]]:
        by_folder = {folder: doc_id for doc_id, folder in self._folders.items()}
        texts = {each.doc_id: each.text for each in documents}
        maps: dict[str, tuple[str, OffsetMap]] = {}
        with self._catalog.transaction() as session:
            for each in session.pipeline_objects.current():
                assert each.converted_document_id is not None
                doc_id = by_folder[each.path.split("/", 1)[0]]
                converted = session.conversions.text(each.converted_document_id)
                maps[each.path] = (doc_id, OffsetMap(texts[doc_id], converted, f"document '{doc_id}'"))
        return maps

    def _indexed_chunks(self, documents: Sequence[EvalDocument]) -> tuple[IndexedChunk, ...]:
        found: list[IndexedChunk] = []
        with self._catalog.transaction() as session:
            texts = {
                row.row_key: with_heading(row.header, passage)
                for row, passage in session.passages.rows_with_text(RowKind.PASSAGE)
            }
            scope = compile_scope(session, frozenset({EVALUATOR}))
            for each in session.occurrences.of_rows(texts.keys(), scope):
                doc_id, offsets = self._maps[each.path]
                span = offsets.original_span(each.start_char, each.end_char)
                assert span is not None, "a chunk has at least one visible character"
                found.append(IndexedChunk(ChunkPlace(doc_id, span), texts[each.row_key]))
        return tuple(sorted(found, key=lambda each: each.place))


def _write_estate(folder: Path, documents: Sequence[EvalDocument]) -> dict[str, str]:
    """Write each document as ``<folder>/<title>.txt``; returns the folder of each document's id."""
    folders: dict[str, str] = {}
    taken: set[str] = set()
    for document in documents:
        name = _file_name(document.doc_id)
        while name.casefold() in taken:
            name = f"{name} {len(folders) + 1}"
        taken.add(name.casefold())
        folders[document.doc_id] = name
        place = folder / name
        place.mkdir(parents=True)
        file = place / f"{_file_name(document.title or document.doc_id)}.txt"
        file.write_text(document.text, encoding="utf-8", newline="")
    return folders


def _file_name(text: str) -> str:
    """The text as a name that any file system takes, and no source skips for its leading mark."""
    stem = text.rpartition("/")[2] if text.endswith(".txt") else text
    plain = "".join(
        character if character.isprintable() and character not in '/\\:*?"<>|' else "_" for character in stem
    )
    cut = plain.removesuffix(".txt").encode("utf-8")[:_MAX_NAME_BYTES].decode("utf-8", "ignore").strip(" .~")
    return cut or "document"
