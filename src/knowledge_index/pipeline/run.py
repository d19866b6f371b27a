"""One run: every pending object through every stage, resumable at any point."""

from contextlib import closing

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import PipelineObject
from knowledge_index.chunking import build_chunker
from knowledge_index.config import AppConfig
from knowledge_index.config.home import Home
from knowledge_index.domain.progress import Progress
from knowledge_index.embed import CachedEmbedder, Embedder, VectorCache
from knowledge_index.index import holds_indexes, open_lexical_index, open_vector_index
from knowledge_index.pipeline.converting import convert_object, needs_conversion
from knowledge_index.pipeline.enriching import ENRICHER_VERSION, enrich_document
from knowledge_index.pipeline.indexing import Indexer
from knowledge_index.pipeline.passages import fingerprint_of
from knowledge_index.pipeline.relating import relate
from knowledge_index.pipeline.report import RunReport
from knowledge_index.sources import open_source


def run_pipeline(
    home: Home, catalog: Catalog, config: AppConfig, embedder: Embedder, *, limit: int | None, progress: Progress
) -> RunReport:
    """Bring the indexes to what the last sync saw.

    Each stage looks at what the catalog says is missing, so a run that was killed, or limited to ``limit`` objects,
    goes on where it stood, and a run with nothing to do writes nothing. The caller holds the writer lock.

    Raises:
        ModelError: the embedding model cannot be loaded.
        IndexStateError: the vector index was made with another model.
    """
    report = RunReport()
    with catalog.transaction() as session:
        sources = {record.name: open_source(record) for record in session.sources.all()}
        objects = session.pipeline_objects.current()
    chunker = build_chunker(config.chunking)
    signature = embedder.signature.id

    def needs_index(each: PipelineObject) -> bool:
        if each.relation is None or each.converted_document_id is None:
            return False
        return each.index_fingerprint != fingerprint_of(each, chunker.signature, signature)

    to_convert = [each for each in objects if needs_conversion(each)]
    tried = 0
    with progress.task("convert", len(to_convert) if limit is None else min(limit, len(to_convert))) as task:
        for each in to_convert:
            # One that cannot be read stays pending and comes first again, so it must not use up the limit.
            if limit is not None and tried - len(report.unread) == limit:
                break
            convert_object(catalog, sources, each, report)
            tried += 1
            task.advance()
    report.left_for_later += len(to_convert) - tried

    _relate(catalog)
    with catalog.transaction() as session:
        objects = session.pipeline_objects.current()
        to_unindex = session.pipeline_objects.to_unindex()
        unfinished = session.meta.index_write_open()
        _, row_count = session.status.index_counts()
    index_is_gone = row_count > 0 and not holds_indexes(home.lexical_folder, home.vector_folder)

    to_enrich = sorted(
        {
            each.converted_document_id
            for each in objects
            if each.converted_document_id is not None and each.enricher_version != ENRICHER_VERSION
        }
    )
    with progress.task("enrich", len(to_enrich)) as task:
        for document_id in to_enrich:
            enrich_document(catalog, document_id)
            report.enriched += 1
            task.advance()

    to_index = [each for each in objects if needs_index(each)]
    if limit is not None:
        report.left_for_later += max(0, len(to_index) - limit)
        to_index = to_index[:limit]
    report.objects = len({each.id for each in to_convert[:tried]} | {each.id for each in to_index})
    if to_index or to_unindex or unfinished or index_is_gone:
        lexical = open_lexical_index(home.lexical_folder)
        vectors = open_vector_index(home.vector_folder, embedder.signature)
        with closing(VectorCache(home.vector_cache_file)) as cache:
            cached = CachedEmbedder(embedder, cache)
            indexer = Indexer(catalog, lexical, vectors, cached, chunker, report, compare_rows=index_is_gone)
            indexer.unindex(to_unindex)
            with progress.task("index", len(to_index)) as task:
                for each in to_index:
                    task.advance(indexer.index(each))
                task.advance(indexer.flush())
            indexer.finish()
        with catalog.transaction() as session:
            session.meta.set_embedding_signature(signature)
    return report


def _relate(catalog: Catalog) -> None:
    with catalog.transaction() as session:
        objects = session.pipeline_objects.current()
        held = {each.id: each.relation for each in objects}
        found = relate(objects)
        session.pipeline_objects.set_relations(
            {object_id: relation for object_id, relation in found.items() if held[object_id] != relation}
        )
