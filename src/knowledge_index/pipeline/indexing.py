"""The index stage: passages into the lexical and the vector index, the catalog last."""

from collections.abc import Sequence

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import IndexRowRecord, PipelineObject
from knowledge_index.chunking.base import Chunker
from knowledge_index.embed import CachedEmbedder
from knowledge_index.index.base import LexicalIndex, VectorIndex, VectorRow
from knowledge_index.pipeline.converting import quarantine_bug
from knowledge_index.pipeline.passages import Passage, fingerprint_of, indexed_text, lexical_row, passages_of
from knowledge_index.pipeline.report import RunReport

# Rows in one write: small enough that a killed run loses seconds, large enough that commits do not count.
_ROWS_PER_WRITE = 128


class Indexer:
    """Brings both indexes to what the catalog says, in an order that a kill at any moment leaves repairable.

    Index rows are written before the catalog refers to them: an interrupted write leaves rows that the catalog does
    not know, which no search returns and which :meth:`finish` removes.
    """

    def __init__(
        self,
        catalog: Catalog,
        lexical: LexicalIndex,
        vectors: VectorIndex,
        embedder: CachedEmbedder,
        chunker: Chunker,
        report: RunReport,
        *,
        compare_rows: bool,
        ocr_languages: str,
    ) -> None:
        self._catalog = catalog
        self._lexical = lexical
        self._vectors = vectors
        self._embedder = embedder
        self._chunker = chunker
        self._report = report
        self._ocr_languages = ocr_languages
        self._waiting: list[tuple[PipelineObject, list[Passage]]] = []
        self._waiting_keys: set[str] = set()
        with catalog.transaction() as session:
            self._compare_rows = compare_rows or session.meta.index_write_open()
            session.meta.set_index_write_open(True)

    def index(self, each: PipelineObject) -> int:
        """Take one object in; returns how many objects were finished by this call (they are written in groups)."""
        assert each.converted_document_id is not None
        with self._catalog.transaction() as session:
            text = session.conversions.text(each.converted_document_id)
            identifiers = session.conversions.identifiers(each.converted_document_id)
        try:
            passages = passages_of(each, text, identifiers, self._chunker)
        except Exception as error:  # noqa: BLE001  one text that our own code fails on must not stop the estate
            quarantine_bug(self._catalog, each, error, self._report, self._ocr_languages)
            return 1
        self._waiting.append((each, passages))
        self._waiting_keys.update(passage.row.row_key for passage in passages)
        return self.flush() if len(self._waiting_keys) >= _ROWS_PER_WRITE else 0

    def flush(self) -> int:
        """Write what waits; returns how many objects that were."""
        distinct = {passage.row.row_key: passage for _, passages in self._waiting for passage in passages}
        with self._catalog.transaction() as session:
            known = session.passages.known_row_keys(distinct.keys())
        new = [passage for key, passage in sorted(distinct.items()) if key not in known]
        if new:
            self._write(new)
        with self._catalog.transaction() as session:
            session.passages.put_rows([passage.row for passage in new])
            for each, passages in self._waiting:
                session.passages.replace_chunks(each.id, [passage.chunk for passage in passages])
                fingerprint = fingerprint_of(each, self._chunker.signature, self._embedder.signature.id)
                session.pipeline_objects.set_indexed(each.id, fingerprint)
                self._report.passages += len(passages)
        finished = len(self._waiting)
        self._report.indexed += finished
        self._waiting.clear()
        self._waiting_keys.clear()
        return finished

    def unindex(self, object_ids: Sequence[int]) -> None:
        """Take objects out that are gone, superseded or without text; their rows go with :meth:`finish`."""
        with self._catalog.transaction() as session:
            session.pipeline_objects.unindex(object_ids)
        self._report.unindexed += len(object_ids)

    def finish(self) -> None:
        """Remove rows that stand in no object any more, and say that the indexes agree with the catalog."""
        with self._catalog.transaction() as session:
            unused = session.passages.unused_row_keys()
        if unused:
            # From the catalog first: a row that an index still holds and the catalog does not is never returned.
            with self._catalog.transaction() as session:
                session.passages.delete_rows(unused)
            self._vectors.remove(unused)
            self._rebuild_lexical()
            self._report.rows_removed += len(unused)
        if self._compare_rows:
            self._reconcile()
        self._vectors.compact()
        with self._catalog.transaction() as session:
            session.meta.set_index_write_open(False)

    def _write(self, new: Sequence[Passage]) -> None:
        vector_rows = self._embedded([(passage.row, passage.indexed_text) for passage in new])
        self._report.rows_written += self._lexical.add([passage.lexical_row() for passage in new])
        self._vectors.add(vector_rows)

    def _embedded(self, rows: Sequence[tuple[IndexRowRecord, str]]) -> list[VectorRow]:
        computed, reused = self._embedder.computed, self._embedder.reused
        matrix = self._embedder.embed([text for _, text in rows])
        self._report.embeddings += self._embedder.computed - computed
        self._report.vectors_reused += self._embedder.reused - reused
        return [
            VectorRow(row.row_key, row.acl_class_id, row.matter_ref, vector)
            for (row, _), vector in zip(rows, matrix, strict=True)
        ]

    def _reconcile(self) -> None:
        """Bring both indexes to the catalog's rows, after a run that did not end or the loss of an index."""
        with self._catalog.transaction() as session:
            expected = session.passages.all_row_keys()
        if self._lexical.row_keys() != expected:
            self._rebuild_lexical()
        held = self._vectors.row_keys()
        if held - expected:
            self._vectors.remove(held - expected)
        missing = expected - held
        if missing:
            with self._catalog.transaction() as session:
                rows = [
                    (row, indexed_text(row.header, passage))
                    for row, passage in session.passages.rows_with_text()
                    if row.row_key in missing
                ]
            self._vectors.add(self._embedded(rows))

    def _rebuild_lexical(self) -> None:
        with self._catalog.transaction() as session:
            self._lexical.rebuild(
                lexical_row(row, indexed_text(row.header, passage))
                for row, passage in session.passages.rows_with_text()
            )
