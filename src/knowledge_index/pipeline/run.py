"""One run: every pending object through every stage, resumable at any point."""

from contextlib import closing

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import PipelineObject
from knowledge_index.chunking import build_chunker
from knowledge_index.config import AppConfig, ConversionSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import KnowledgeIndexError
from knowledge_index.domain.progress import Progress
from knowledge_index.embed import CachedEmbedder, Embedder, VectorCache
from knowledge_index.index import (
    holds_indexes,
    index_format,
    open_lexical_index,
    open_profile_index,
    open_vector_index,
)
from knowledge_index.pipeline.converting import known_text, needs_conversion, quarantine_bug
from knowledge_index.pipeline.doctor import Doctor
from knowledge_index.pipeline.enriching import ENRICHER_VERSION, enrich_document, renew_properties
from knowledge_index.pipeline.indexing import Indexer
from knowledge_index.pipeline.passages import ROWS_VERSION, fingerprint_of
from knowledge_index.pipeline.read_ahead import ReadAhead
from knowledge_index.pipeline.relating import renew_relations
from knowledge_index.pipeline.report import RunReport
from knowledge_index.pipeline.trees import TreeConverter
from knowledge_index.sources import open_source


def run_pipeline(
    home: Home, catalog: Catalog, config: AppConfig, embedder: Embedder, *, limit: int | None, progress: Progress
) -> RunReport:
    """Bring the indexes to what the last sync saw.

    Each stage looks at what the catalog says is missing, so a run that was killed, or limited to ``limit`` objects,
    goes on where it stood, and a run with nothing to do writes nothing. The caller holds the writer lock.

    Raises:
        ModelError: the embedding model cannot be loaded.
        ConfigurationError: conversion.ocr_languages asks for what is not installed.
        PreconditionError: no conversion can be isolated on this machine.
        IndexStateError: the vector index was made with another model.
    """
    report = RunReport()
    converted = convert_pending(home, catalog, config.conversion, report, limit=limit, progress=progress)
    renew_relations(catalog, forget_old_titles=False)
    _enrich(catalog, config, report, progress)
    renew_properties(catalog)
    indexed = _index(home, catalog, config, embedder, report, limit, progress)
    report.objects = len(converted | indexed)
    return report


def convert_pending(
    home: Home,
    catalog: Catalog,
    settings: ConversionSettings,
    report: RunReport,
    *,
    limit: int | None,
    progress: Progress,
) -> set[int]:
    """The first stage alone; returns the ids of the objects that were tried.

    Raises:
        ConfigurationError, PreconditionError: as :func:`run_pipeline`.
    """
    with catalog.transaction() as session:
        sources = {record.name: open_source(record) for record in session.sources.all()}
        objects = session.pipeline_objects.current()
    waiting = {each.id for each in objects if needs_conversion(each, settings)}
    with_waiting = {each.outermost_object_id or each.id for each in objects if each.id in waiting}
    roots = [each for each in objects if each.id in with_waiting]
    ahead = ReadAhead(
        sources, roots, lambda each: known_text(catalog, each, settings.ocr_languages) is not None, settings, limit
    )
    total = len(waiting) if limit is None else min(limit, len(waiting))
    with progress.task("convert", total) as task, ahead:
        # What turns up inside a file was not counted when the bar was drawn.
        trees = TreeConverter(
            catalog, ahead, home.installation_key, report, limit, lambda each: task.advance(int(each.id in waiting))
        )
        for each in roots:
            if not trees.limit_is_reached:
                trees.convert(each)
    if limit is not None:
        with catalog.transaction() as session:
            left = [each for each in session.pipeline_objects.current() if needs_conversion(each, settings)]
        report.left_for_later += sum(each.id not in trees.tried for each in left)
    return trees.tried


def _enrich(catalog: Catalog, config: AppConfig, report: RunReport, progress: Progress) -> None:
    with catalog.transaction() as session:
        objects = session.pipeline_objects.current()
    waiting: dict[int, list[PipelineObject]] = {}
    for each in objects:
        if each.converted_document_id is not None and each.enricher_version != ENRICHER_VERSION:
            waiting.setdefault(each.converted_document_id, []).append(each)
    with progress.task("enrich", len(waiting)) as task:
        for document_id, holders in sorted(waiting.items()):
            try:
                enrich_document(catalog, document_id)
            except KnowledgeIndexError:
                raise
            except Exception as error:  # noqa: BLE001  one text that our own code fails on must not stop the estate
                for each in holders:
                    quarantine_bug(catalog, each, error, report, config.conversion.ocr_languages)
            else:
                report.enriched += 1
            task.advance()


def _index(
    home: Home,
    catalog: Catalog,
    config: AppConfig,
    embedder: Embedder,
    report: RunReport,
    limit: int | None,
    progress: Progress,
) -> set[int]:
    """Returns the ids of the objects that were taken in."""
    chunker = build_chunker(config.chunking)
    signature = embedder.signature.id
    makeup = (chunker.signature, f"rows {ROWS_VERSION} {index_format()}")
    with catalog.transaction() as session:
        objects = session.pipeline_objects.current()
        to_unindex = session.pipeline_objects.to_unindex()
        unfinished = session.meta.index_write_open()
        _, row_count = session.status.index_counts()
    index_is_gone = row_count > 0 and not holds_indexes(home.lexical_folder, home.profile_folder, home.vector_folder)
    waiting = [
        each
        for each in objects
        if each.relation is not None
        and each.converted_document_id is not None
        and each.index_fingerprint != fingerprint_of(each, chunker.signature, signature)
    ]
    with catalog.transaction() as session:
        if session.meta.index_makeup() != makeup:
            session.meta.set_index_makeup(None if waiting and row_count else makeup)
    left = 0 if limit is None else max(0, len(waiting) - limit)
    report.left_for_later += left
    waiting = waiting[:limit]
    if not (waiting or to_unindex or unfinished or index_is_gone):
        return set()
    lexical = open_lexical_index(home.lexical_folder)
    profiles = open_profile_index(home.profile_folder)
    vectors = open_vector_index(home.vector_folder, embedder.signature)
    with catalog.transaction() as session:
        session.meta.set_embedding_signature(signature)
    with closing(VectorCache(home.vector_cache_file)) as cache:
        cached = CachedEmbedder(embedder, cache)
        if unfinished or index_is_gone:
            doctor = Doctor(catalog, lexical, profiles, vectors, cached)
            doctor.repair(doctor.examine())
            report.embeddings, report.vectors_reused = cached.computed, cached.reused
        indexer = Indexer(
            catalog,
            lexical,
            profiles,
            vectors,
            cached,
            chunker,
            report,
            ocr_languages=config.conversion.ocr_languages,
        )
        indexer.unindex(to_unindex)
        with progress.task("index", len(waiting)) as task:
            for each in waiting:
                task.advance(indexer.index(each))
            task.advance(indexer.flush())
        indexer.finish()
    if not left:
        with catalog.transaction() as session:
            session.meta.set_index_makeup(makeup)
    return {each.id for each in waiting}
