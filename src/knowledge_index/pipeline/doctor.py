"""Do the catalog and the indexes hold the same rows, and what to do where they do not."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.passage_records import IndexRowRecord, RowKind, window_keys, window_of
from knowledge_index.embed import CachedEmbedder
from knowledge_index.index.base import (
    LexicalIndex,
    LexicalRow,
    ProfileIndex,
    ProfileRow,
    RowDifferences,
    VectorIndex,
)
from knowledge_index.pipeline.passages import lexical_row, profile_row, vector_rows

_ROWS_PER_WRITE = 512


@dataclass(frozen=True)
class Examination:
    """What differs from the catalog; ``unfinished`` are the keys of rows whose write or removal did not end."""

    lexical: RowDifferences
    profiles: RowDifferences
    vectors: RowDifferences
    unfinished: frozenset[str]

    @property
    def is_healthy(self) -> bool:
        """Whether there is nothing to repair."""
        return not (self.lexical or self.profiles or self.vectors or self.unfinished)


@dataclass(frozen=True)
class Doctor:
    """Compares the stores row by row and mends the indexes after the catalog; the caller holds the writer lock."""

    catalog: Catalog
    lexical: LexicalIndex
    profiles: ProfileIndex
    vectors: VectorIndex
    embedder: CachedEmbedder

    def examine(self) -> Examination:
        """Compare every row; changes nothing."""
        with self.catalog.transaction() as session:
            unfinished = session.meta.index_intent()
            # They stand in no object any more, and the next run removes them from all stores.
            going = _all_keys(session.passages.unused_rows())
        vectors = (
            (key, row.acl_class_id, row.matter_ref)
            for row, _ in self._rows(RowKind.PASSAGE)
            for key in window_keys(row.row_key, row.windows)
        )
        return Examination(
            _without(self.lexical.compare(self._lexical_rows()), going),
            _without(self.profiles.compare(self._profile_rows()), going),
            _without(self.vectors.compare(vectors), going),
            unfinished,
        )

    def repair(self, found: Examination) -> None:
        """Bring the indexes to the catalog's rows, and finish what did not end."""
        with self.catalog.transaction() as session:
            unused = session.passages.unused_rows()
            session.passages.delete_rows(unused.keys())
            unfinished = session.meta.index_intent() | _all_keys(unused)
            session.meta.set_index_intent(unfinished)
        if found.lexical.damaged:
            self.lexical.rebuild(self._lexical_rows())
        else:
            self.lexical.remove(unfinished | found.lexical.extra | found.lexical.altered)
            wanted = found.lexical.missing | found.lexical.altered
            self.lexical.add([row for row in self._lexical_rows() if row.row_key in wanted])
        if found.profiles.damaged:
            self.profiles.rebuild(self._profile_rows())
        else:
            self.profiles.remove(unfinished | found.profiles.extra | found.profiles.altered)
            wanted = found.profiles.missing | found.profiles.altered
            self.profiles.add([row for row in self._profile_rows() if row.row_key in wanted])
        if found.vectors.damaged:
            self.vectors.discard()
            self._add_vectors(None)
        else:
            self.vectors.remove(unfinished | found.vectors.extra | found.vectors.altered)
            self._add_vectors(found.vectors.missing | found.vectors.altered)
        self.vectors.compact()
        with self.catalog.transaction() as session:
            session.meta.set_index_intent(())

    def _add_vectors(self, wanted: frozenset[str] | None) -> None:
        """Add the vectors of these keys, or all, from the cache where it has them; what is there stays."""
        row_keys = None if wanted is None else {window_of(key)[0] for key in wanted}
        waiting: list[tuple[IndexRowRecord, str]] = []
        for row, passage in self._rows(RowKind.PASSAGE):
            if row_keys is None or row.row_key in row_keys:
                waiting.append((row, passage))
            if len(waiting) == _ROWS_PER_WRITE:
                self.vectors.add(vector_rows(waiting, self.embedder))
                waiting.clear()
        if waiting:
            self.vectors.add(vector_rows(waiting, self.embedder))

    def _lexical_rows(self) -> Iterator[LexicalRow]:
        return (lexical_row(row, passage) for row, passage in self._rows(RowKind.PASSAGE))

    def _profile_rows(self) -> Iterator[ProfileRow]:
        return (profile_row(row, text) for row, text in self._rows(RowKind.PROFILE))

    def _rows(self, kind: RowKind) -> Iterator[tuple[IndexRowRecord, str]]:
        """Every row of a kind that stands in an object, with its text."""
        with self.catalog.transaction() as session:
            rows = list(session.passages.rows_with_text(kind))
        return iter(rows)


def _all_keys(windows_of: dict[str, int]) -> frozenset[str]:
    return frozenset(key for each, windows in windows_of.items() for key in (each, *window_keys(each, windows)))


def _without(found: RowDifferences, going: frozenset[str]) -> RowDifferences:
    return replace(found, extra=found.extra - going)
