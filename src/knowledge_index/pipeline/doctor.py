"""Do the catalog, the lexical and the vector index hold the same rows, and what to do where they do not."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import IndexRowRecord
from knowledge_index.embed import CachedEmbedder
from knowledge_index.index.base import LexicalIndex, LexicalRow, RowDifferences, VectorIndex, VectorRow
from knowledge_index.pipeline.passages import indexed_text, lexical_row

_ROWS_PER_WRITE = 512


@dataclass(frozen=True)
class Examination:
    """What differs from the catalog; ``unfinished`` are the keys of rows whose write or removal did not end."""

    lexical: RowDifferences
    vectors: RowDifferences
    unfinished: frozenset[str]

    @property
    def is_healthy(self) -> bool:
        """Whether there is nothing to repair."""
        return not (self.lexical or self.vectors or self.unfinished)


@dataclass(frozen=True)
class Doctor:
    """Compares the stores row by row and mends the indexes after the catalog; the caller holds the writer lock."""

    catalog: Catalog
    lexical: LexicalIndex
    vectors: VectorIndex
    embedder: CachedEmbedder

    def examine(self) -> Examination:
        """Compare every row; changes nothing."""
        with self.catalog.transaction() as session:
            unfinished = session.meta.index_intent()
            # They stand in no object any more, and the next run removes them from all stores.
            on_their_way_out = session.passages.unused_row_keys()
        rows = ((row.row_key, row.acl_class_id, row.matter_ref) for row, _ in self._rows())
        lexical, vectors = self.lexical.compare(self._lexical_rows()), self.vectors.compare(rows)
        return Examination(
            replace(lexical, extra=lexical.extra.difference(on_their_way_out)),
            replace(vectors, extra=vectors.extra.difference(on_their_way_out)),
            unfinished,
        )

    def repair(self, found: Examination) -> None:
        """Bring both indexes to the catalog's rows, and finish what did not end."""
        with self.catalog.transaction() as session:
            unused = session.passages.unused_row_keys()
            session.passages.delete_rows(unused)
            unfinished = session.meta.index_intent().union(unused)
            session.meta.set_index_intent(unfinished)
        if not found.lexical.damaged:
            self.lexical.remove(unfinished)
        if not found.vectors.damaged:
            self.vectors.remove(unfinished)
        if found.lexical.damaged:
            self.lexical.rebuild(self._lexical_rows())
        elif found.lexical:
            self.lexical.remove(found.lexical.extra | found.lexical.altered)
            wanted = found.lexical.missing | found.lexical.altered
            self.lexical.add([row for row in self._lexical_rows() if row.row_key in wanted])
        if found.vectors.damaged:
            self.vectors.discard()
            self._add_vectors(None)
        elif found.vectors:
            self.vectors.remove(found.vectors.extra | found.vectors.altered)
            self._add_vectors(found.vectors.missing | found.vectors.altered)
        self.vectors.compact()
        with self.catalog.transaction() as session:
            session.meta.set_index_intent(())

    def _add_vectors(self, wanted: frozenset[str] | None) -> None:
        """Add the rows of these keys, or all, with vectors from the cache where it has them."""
        waiting: list[tuple[IndexRowRecord, str]] = []

        def write() -> None:
            matrix = self.embedder.embed([text for _, text in waiting])
            self.vectors.add(
                [
                    VectorRow(row.row_key, row.acl_class_id, row.matter_ref, vector)
                    for (row, _), vector in zip(waiting, matrix, strict=True)
                ]
            )
            waiting.clear()

        for row, text in self._rows():
            if wanted is None or row.row_key in wanted:
                waiting.append((row, text))
            if len(waiting) == _ROWS_PER_WRITE:
                write()
        if waiting:
            write()

    def _lexical_rows(self) -> Iterator[LexicalRow]:
        return (lexical_row(row, text) for row, text in self._rows())

    def _rows(self) -> Iterator[tuple[IndexRowRecord, str]]:
        """Every row that stands in an object, with the text that was indexed."""
        with self.catalog.transaction() as session:
            rows = list(session.passages.rows_with_text())
        return ((row, indexed_text(row.header, passage)) for row, passage in rows)
