"""The vector index: LanceDB as the store of record, searched exactly by a scan of a copy in memory.

The copy is one matrix, its rows grouped by ACL class, so a search multiplies the slices that its scope allows and
touches no other row. A scan costs about 1.5 KB of memory traffic a row; LanceDB's own flat search was 10 times slower.
"""

import shutil
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from knowledge_index.domain.errors import IndexStateError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed.base import Matrix, Vector
from knowledge_index.index.analysis import storable
from knowledge_index.index.base import ScoredRow, VectorRow
from knowledge_index.index.pool import FetchedRows, complete_pool

if TYPE_CHECKING:
    import pyarrow

_TABLE_NAME = "vectors"
_SCORE_DECIMALS = 9
_UNIT_TOLERANCE = 1e-5
# How far a float32 dot product may lie from the float64 cosine, vectors being unit within the tolerance.
_FLOAT32_ERROR = 5e-5
_DELETE_BATCH = 1000
# A search lasts far less, so none in another process loses the version that it reads.
_KEEP_OLD_VERSIONS = timedelta(minutes=10)


def holds_table(folder: Path) -> bool:
    """Whether ``folder`` holds the table; one whose creation was cut short has no manifest and does not count."""
    return any((folder / f"{_TABLE_NAME}.lance" / "_versions").glob("*.manifest"))


@dataclass(frozen=True)
class _Rows:
    """The rows of one version of the table, sorted by ACL class, then by key.

    ``matrix`` has shape (rows, dimensions), float32; ``slice_of_class`` says which of its rows a class has.
    """

    version: int
    row_keys: list[str]
    matter_refs: "np.ndarray[Any, np.dtype[np.object_]]"
    matrix: Matrix
    slice_of_class: dict[str, slice]


class LanceVectorIndex:
    """Keeps :class:`~knowledge_index.index.base.VectorIndex` in ``folder``, for vectors of ``dimensions``.

    Errors: IndexStateError where the table is damaged or has other dimensions, UsageError for a vector that is not a
    unit vector of these dimensions; nothing of the call is written then.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._dimensions = dimensions
        self._lock = threading.RLock()
        self._opened: Any = None
        self._loaded: _Rows | None = None

    def add(self, rows: Sequence[VectorRow]) -> int:
        """See :meth:`VectorIndex.add`; one version of the table a call, none where no key is absent."""
        by_key: dict[str, VectorRow] = {}
        for row in rows:
            self._check(row.row_key, row.vector)
            if not row.row_key or not row.acl_class_id:
                raise UsageError(f"vector row {row.row_key!r}: needs a row key and an ACL class")
            by_key.setdefault(storable(row.row_key), row)
        if not by_key:
            return 0
        with self._lock, self._damage_explained():
            table = self._table(create=True)
            present = self._present_keys(table, by_key)
            absent = [row for key, row in by_key.items() if key not in present]
            if not absent:
                return 0
            merge = table.merge_insert("row_key").when_not_matched_insert_all()
            return int(merge.execute(self._arrow(absent)).num_inserted_rows)

    def remove(self, row_keys: Collection[str]) -> None:
        """See :meth:`VectorIndex.remove`."""
        from lancedb.expr import col

        keys = sorted({storable(key) for key in row_keys})
        with self._lock, self._damage_explained():
            table = self._table() if keys else None
            if table is None:
                return
            for start in range(0, len(keys), _DELETE_BATCH):
                table.delete(col("row_key").isin(keys[start : start + _DELETE_BATCH]))

    def row_keys(self) -> set[str]:
        """See :meth:`VectorIndex.row_keys`."""
        table = self._table()
        if table is None:
            return set()
        with self._damage_explained():
            return set(table.search().select(["row_key"]).to_arrow()["row_key"].to_pylist())

    def compact(self) -> None:
        """See :meth:`VectorIndex.compact`."""
        with self._lock, self._damage_explained():
            table = self._table()
            if table is not None:
                table.optimize(cleanup_older_than=_KEEP_OLD_VERSIONS)

    def search(self, vector: Vector, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        """See :meth:`VectorIndex.search`; scores lie in -1 to 1, rounded to 9 decimals."""
        self._check("query", vector)
        table = self._table() if scope.acl_class_ids else None
        if table is None:
            return []
        rows = self._rows(table)
        query = np.asarray(vector, dtype=np.float32)
        visible = [
            rows.slice_of_class[each]
            for each in map(storable, sorted(scope.acl_class_ids))
            if each in rows.slice_of_class
        ]
        if not visible:
            return []
        places = np.concatenate([np.arange(each.start, each.stop) for each in visible])
        rough = np.concatenate([rows.matrix[each] @ query for each in visible])
        if filters.only_row_keys is not None:
            held = np.array(
                [rows.row_keys[place].split("#")[0] in filters.only_row_keys for place in places], dtype=bool
            )
            places, rough = places[held], rough[held]
        if filters.matter_refs:
            wanted = np.isin(rows.matter_refs[places], [storable(each) for each in filters.matter_refs])
            places, rough = places[wanted], rough[wanted]

        def fetch(limit: int) -> FetchedRows:
            if limit >= len(places):
                return FetchedRows(self._scored(rows, places, query), None)
            best = np.argpartition(-rough, limit - 1)[:limit]
            return FetchedRows(self._scored(rows, places[best], query), float(rough[best].min()) + _FLOAT32_ERROR)

        return complete_pool(fetch, pool)

    def _scored(self, rows: _Rows, places: "np.ndarray[Any, np.dtype[np.int64]]", query: Vector) -> list[ScoredRow]:
        matrix = rows.matrix[places].astype(np.float64)
        wanted = query.astype(np.float64)
        # Summed row by row: a matrix product's last bits depend on how many rows stand beside one.
        products = (matrix * wanted).sum(axis=1)
        norms = np.sqrt((matrix * matrix).sum(axis=1)) * np.sqrt((wanted * wanted).sum())
        scores = products / norms
        return [
            ScoredRow(rows.row_keys[place], round(float(score), _SCORE_DECIMALS))
            for place, score in zip(places, scores, strict=True)
        ]

    def _rows(self, table: Any) -> _Rows:
        """The rows in memory, loaded again whenever any process has written a new version of the table."""
        with self._lock, self._damage_explained():
            version = int(table.version)
            if self._loaded is None or self._loaded.version != version:
                found = table.to_arrow().sort_by([("acl_class_id", "ascending"), ("row_key", "ascending")])
                classes = found["acl_class_id"].to_pylist()
                bounds = [place for place in range(len(classes)) if place == 0 or classes[place] != classes[place - 1]]
                self._loaded = _Rows(
                    version=version,
                    row_keys=found["row_key"].to_pylist(),
                    matter_refs=np.array(found["matter_ref"].to_pylist(), dtype=object),
                    matrix=_matrix(found["vector"], self._dimensions),
                    slice_of_class={
                        classes[start]: slice(start, end)
                        for start, end in zip(bounds, [*bounds[1:], len(classes)], strict=True)
                    },
                )
            return self._loaded

    def _check(self, what: str, vector: Vector) -> None:
        if np.shape(vector) != (self._dimensions,):
            raise UsageError(f"vector of {what!r}: has shape {np.shape(vector)}, the index holds ({self._dimensions},)")
        length = float(np.linalg.norm(np.asarray(vector, dtype=np.float64)))
        if not abs(length - 1.0) <= _UNIT_TOLERANCE:
            raise UsageError(f"vector of {what!r}: has length {length}, the index holds unit vectors: normalise it")

    def _present_keys(self, table: Any, keys: Collection[str]) -> set[str]:
        from lancedb.expr import col

        found = table.search().where(col("row_key").isin(sorted(keys))).select(["row_key"]).to_arrow()
        return set(found["row_key"].to_pylist())

    def _arrow(self, rows: Sequence[VectorRow]) -> "pyarrow.Table":
        import pyarrow

        flat = np.concatenate([np.asarray(row.vector, dtype=np.float32) for row in rows])
        columns = [
            pyarrow.array([storable(row.row_key) for row in rows], pyarrow.string()),
            pyarrow.array([storable(row.acl_class_id) for row in rows], pyarrow.string()),
            pyarrow.array([storable(row.matter_ref) for row in rows], pyarrow.string()),
            pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(flat), self._dimensions),
        ]
        return pyarrow.Table.from_arrays(columns, schema=self._schema())

    def _schema(self) -> "pyarrow.Schema":
        import pyarrow

        return pyarrow.schema(
            [
                pyarrow.field("row_key", pyarrow.string(), nullable=False),
                pyarrow.field("acl_class_id", pyarrow.string(), nullable=False),
                pyarrow.field("matter_ref", pyarrow.string(), nullable=False),
                pyarrow.field("vector", pyarrow.list_(pyarrow.float32(), self._dimensions), nullable=False),
            ]
        )

    @contextmanager
    def _damage_explained(self) -> Iterator[None]:
        """What a person can act on, in place of the engine's errors; opening reads no file of rows."""
        try:
            yield
        except Exception as error:
            if not _is_the_engines(error):
                raise
            raise IndexStateError(
                f"{self._folder}: the vector index cannot be read or written ({error}): unless the disk is full or "
                "read-only it is damaged: delete the folder and run 'ki run', which makes it anew"
            ) from error

    def _table(self, create: bool = False) -> Any:
        """The table, which sees other processes' writes at every call, or None where nothing was written yet."""
        with self._lock:
            if self._opened is not None:
                return self._opened
            exists = holds_table(self._folder)
            if not exists and not create:
                return None
            import lancedb

            self._folder.mkdir(parents=True, exist_ok=True)
            connection = lancedb.connect(str(self._folder), read_consistency_interval=timedelta(0))
            try:
                if exists:
                    table = connection.open_table(_TABLE_NAME)
                else:
                    shutil.rmtree(self._folder / f"{_TABLE_NAME}.lance", ignore_errors=True)
                    table = connection.create_table(_TABLE_NAME, schema=self._schema())
                dimensions = table.schema.field("vector").type.list_size
            except Exception as error:
                if not _is_the_engines(error):
                    raise
                raise IndexStateError(
                    f"{self._folder}: the vector index cannot be opened ({error}): "
                    "delete the folder and run 'ki run', which makes it anew"
                ) from error
            if dimensions != self._dimensions:
                raise IndexStateError(
                    f"{self._folder}: the vector index holds {dimensions} dimensions, the model makes "
                    f"{self._dimensions}: go back to the model it was made with, or delete the folder and run 'ki run'"
                )
            self._opened = table
            return table


def _is_the_engines(error: Exception) -> bool:
    """Whether the engine raised it: a panic, which some damage leads to, has a class that it does not export."""
    return isinstance(error, ValueError | OSError | RuntimeError | KeyError) or type(error).__name__ == "RustPanic"


def _matrix(vectors: "pyarrow.ChunkedArray", dimensions: int) -> Matrix:
    """A column of fixed-size lists as one contiguous matrix."""
    parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in vectors.chunks]
    flat = np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)
    return np.ascontiguousarray(flat, dtype=np.float32).reshape(-1, dimensions)
