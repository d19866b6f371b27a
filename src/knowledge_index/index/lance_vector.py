"""The vector index: LanceDB as the store of record, searched exactly by a scan of one matrix an ACL class.

A search reads the matrices that its scope allows and touches no other row. They are mapped from files that the writer
derives at the end of a run; until then they are read from the table into memory. A scan reads each row in bytes, which
says what its cosine is at most, and computes the cosines of those rows alone that can be among the best: exact, with a
quarter of the memory traffic of float32. LanceDB's own flat search was 10 times slower than that.
"""

import hashlib
import os
import shutil
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from knowledge_index.domain.errors import IndexStateError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed.base import Matrix, Vector
from knowledge_index.index.analysis import storable
from knowledge_index.index.base import RowDifferences, ScoredRow, VectorRow
from knowledge_index.index.durable import fsync_file, fsync_folder
from knowledge_index.index.nearest import UNIT_TOLERANCE, AskedRows, nearest
from knowledge_index.index.vector_scan import ScanFiles, VectorCompartment, compartment_of

if TYPE_CHECKING:
    import pyarrow

_TABLE_NAME = "vectors"
_DELETE_BATCH = 1000
# A search lasts far less, so none in another process loses the version that it reads.
_KEEP_OLD_VERSIONS = timedelta(minutes=10)


def holds_table(folder: Path) -> bool:
    """Whether ``folder`` holds the table; one whose creation was cut short has no manifest and does not count."""
    return any((folder / f"{_TABLE_NAME}.lance" / "_versions").glob("*.manifest"))


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
        self._scan_files = ScanFiles(folder, dimensions)
        self._loaded: tuple[str, dict[str, VectorCompartment]] | None = None
        self._on_disk: dict[Path, int] = {}

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
            inserted = int(merge.execute(self._arrow(absent)).num_inserted_rows)
            self._bring_to_disk()
            return inserted

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
            self._bring_to_disk()

    def row_keys(self) -> set[str]:
        """See :meth:`VectorIndex.row_keys`."""
        table = self._table()
        if table is None:
            return set()
        with self._damage_explained():
            return set(table.search().select(["row_key"]).to_arrow()["row_key"].to_pylist())

    def compare(self, rows: Iterable[tuple[str, str, str]]) -> RowDifferences:
        """See :meth:`VectorIndex.compare`."""
        expected = {storable(key): (storable(acl_class), storable(matter)) for key, acl_class, matter in rows}
        held: dict[str, tuple[str, str]] = {}
        altered: set[str] = set()
        damaged: list[str] = []
        try:
            with self._lock, self._damage_explained():
                table = self._table()
                for acl_class_id, each in self._from_table(table).items() if table is not None else ():
                    held |= {
                        key: (acl_class_id, matter) for key, matter in zip(each.row_keys, each.matter_refs, strict=True)
                    }
                    lengths = np.linalg.norm(each.matrix.astype(np.float64), axis=1)
                    altered |= {each.row_keys[row] for row in np.flatnonzero(~(abs(lengths - 1) <= UNIT_TOLERANCE))}
        except IndexStateError as error:
            damaged.append(str(error))
        damaged += self._scan_files.damaged(self._state())
        altered |= {key for key in held.keys() & expected.keys() if held[key] != expected[key]}
        missing, extra = frozenset(expected.keys() - held.keys()), frozenset(held.keys() - expected.keys())
        return RowDifferences(missing, extra, frozenset(altered) - extra, tuple(damaged))

    def discard(self) -> None:
        """See :meth:`VectorIndex.discard`."""
        with self._lock:
            self._opened, self._loaded = None, None
            self._on_disk.clear()
            shutil.rmtree(self._folder / f"{_TABLE_NAME}.lance", ignore_errors=True)
            self._scan_files.discard()

    def compact(self) -> None:
        """See :meth:`VectorIndex.compact`."""
        with self._lock, self._damage_explained():
            table = self._table()
            if table is None:
                return
            if self._scan_files.manifest(self._state()) is None:
                table.optimize(cleanup_older_than=_KEEP_OLD_VERSIONS)
                self._bring_to_disk()
                self._scan_files.write(self._state(), self._from_table(table))

    def search(self, vector: Vector, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        """See :meth:`VectorIndex.search`; scores lie in -1 to 1, rounded to 9 decimals."""
        self._check("query", vector)
        if not scope.acl_class_ids or not holds_table(self._folder):
            return []
        compartments = self._compartments(frozenset(map(storable, scope.acl_class_ids)))
        if not compartments:
            return []
        asked = AskedRows(
            frozenset(map(storable, filters.matter_refs)), filters.only_row_keys, filters.excluded_row_keys
        )
        return nearest(compartments, vector, asked, pool)

    def _compartments(self, acl_class_ids: frozenset[str]) -> list[VectorCompartment]:
        """The rows of these classes as of now, class by class."""
        with self._lock, self._damage_explained():
            state = self._state()
            if self._loaded is None or self._loaded[0] != state:
                self._loaded = (state, {})
            loaded = self._loaded[1]
            files = self._scan_files.manifest(state) if acl_class_ids - loaded.keys() else {}
            if files is not None:
                for each in sorted(acl_class_ids & files.keys() - loaded.keys()):
                    found = self._scan_files.read(files[each])
                    if found is None:
                        files = None
                        break
                    loaded[each] = found
            if files is None:
                table = self._table()
                self._loaded = (state, self._from_table(table))
                loaded = self._loaded[1]
            return [loaded[each] for each in sorted(acl_class_ids & loaded.keys())]

    def _from_table(self, table: Any) -> dict[str, VectorCompartment]:
        found = table.to_arrow().sort_by([("acl_class_id", "ascending"), ("row_key", "ascending")])
        classes = found["acl_class_id"].to_pylist()
        row_keys, matter_refs = found["row_key"].to_pylist(), found["matter_ref"].to_pylist()
        matrix = _matrix(found["vector"], self._dimensions)
        starts = [place for place in range(len(classes)) if place == 0 or classes[place] != classes[place - 1]]
        return {
            classes[start]: compartment_of(row_keys[start:end], matter_refs[start:end], matrix[start:end])
            for start, end in pairwise([*starts, len(classes)])
        }

    def _state(self) -> str:
        """What tells one version of the table from the next without the engine: each adds a manifest."""
        try:
            found = os.listdir(self._folder / f"{_TABLE_NAME}.lance" / "_versions")
        except FileNotFoundError:
            found = []
        names = sorted(each for each in found if each.endswith(".manifest"))
        return hashlib.sha256("\n".join(names).encode()).hexdigest()

    def _bring_to_disk(self) -> None:
        """The engine leaves its files to the operating system; a caller relies on them once a write has returned."""
        root = self._folder / f"{_TABLE_NAME}.lance"
        files = {each: each.stat().st_mtime_ns for each in root.rglob("*") if each.is_file()}
        new = [each for each, changed_at in files.items() if self._on_disk.get(each) != changed_at]
        for each in new:
            fsync_file(each)
        for folder in sorted({each.parent for each in new} | {root, self._folder}):
            fsync_folder(folder)
        self._on_disk = files

    def _check(self, what: str, vector: Vector) -> None:
        if np.shape(vector) != (self._dimensions,):
            raise UsageError(f"vector of {what!r}: has shape {np.shape(vector)}, the index holds ({self._dimensions},)")
        length = float(np.linalg.norm(np.asarray(vector, dtype=np.float64)))
        if not abs(length - 1.0) <= UNIT_TOLERANCE:
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
