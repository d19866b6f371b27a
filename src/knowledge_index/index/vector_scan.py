"""What a search for vectors scans: one matrix an ACL class, in files that are derived from the table.

They lie beside the table, in ``scan/``, so that a search maps what its scope allows and neither reads other rows nor
imports the engine. ``CURRENT`` names the state of the table that they were made from; with another state they are not
used.
"""

import hashlib
import json
import shutil
import zlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from knowledge_index.catalog.records import window_key
from knowledge_index.embed.base import Matrix, Vector
from knowledge_index.index.arrays import (
    Bytes,
    Integers,
    decode_arrays,
    encode_arrays,
    pack_texts,
    read_checked,
    unpack_texts,
)
from knowledge_index.index.durable import fsync_folder, write_durably

_FOLDER_NAME = "scan"
_MANIFEST_NAME = "CURRENT"


@dataclass(frozen=True)
class VectorCompartment:
    """The rows of one class, by key; ``matrix`` has shape (rows, dimensions), float32."""

    matrix: Matrix
    keys: Bytes
    key_bounds: Integers
    matters: Bytes
    matter_bounds: Integers

    @cached_property
    def row_keys(self) -> list[str]:
        """The keys of the rows."""
        return unpack_texts(self.keys, self.key_bounds)

    @cached_property
    def row_of_key(self) -> dict[str, int]:
        """The row of each key."""
        return {key: row for row, key in enumerate(self.row_keys)}

    @cached_property
    def matter_refs(self) -> list[str]:
        """The matter of each row."""
        return unpack_texts(self.matters, self.matter_bounds)

    def rough_scores(
        self, query: Vector, matter_refs: Collection[str], only: Collection[str] | None, excluded: Collection[str]
    ) -> Vector:
        """The dot products with ``query``, in float32; -inf for a row that is not asked for.

        ``only`` are keys of passages, with all of their windows.
        """
        if only is None:
            scores = self.matrix @ query
        else:
            rows = self._rows_of_passages(only)
            scores = np.full(len(self.matrix), -np.inf, dtype=np.float32)
            scores[rows] = self.matrix[rows] @ query
        if matter_refs:
            scores[[each not in matter_refs for each in self.matter_refs]] = -np.inf
        if excluded:
            scores[[self.row_of_key[key] for key in excluded if key in self.row_of_key]] = -np.inf
        return scores

    def _rows_of_passages(self, row_keys: Collection[str]) -> list[int]:
        rows = []
        for each in sorted(row_keys):
            key, window = each, 0
            while key in self.row_of_key:
                rows.append(self.row_of_key[key])
                window += 1
                key = window_key(each, window)
        return rows


@dataclass(frozen=True)
class _ScanFile:
    """One class's file: its name, size and CRC-32."""

    name: str
    size_bytes: int
    crc32: int


def compartment_of(row_keys: list[str], matter_refs: list[str], matrix: Matrix) -> VectorCompartment:
    """The compartment of some rows, which are sorted by key."""
    return VectorCompartment(matrix, *pack_texts(row_keys), *pack_texts(matter_refs))


class ScanFiles:
    """The files of one vector index, for tables of ``dimensions``."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder / _FOLDER_NAME
        self._dimensions = dimensions

    def write(self, state: str, compartments: Mapping[str, VectorCompartment]) -> None:
        """Replace what is there; files of classes that did not change stay as they are."""
        self._folder.mkdir(parents=True, exist_ok=True)
        files: dict[str, _ScanFile] = {}
        for acl_class_id, each in sorted(compartments.items()):
            content = encode_arrays(
                {
                    "matrix": each.matrix.reshape(-1),
                    "keys": each.keys,
                    "key_bounds": each.key_bounds,
                    "matters": each.matters,
                    "matter_bounds": each.matter_bounds,
                }
            )
            crc32 = zlib.crc32(content)
            name = f"{hashlib.sha256(acl_class_id.encode()).hexdigest()[:32]}-{crc32:08x}.vectors"
            files[acl_class_id] = _ScanFile(name, len(content), crc32)
            target = self._folder / name
            if not target.exists() or target.stat().st_size != len(content):
                write_durably(target, content)
        manifest = {"state": state, "compartments": {each: asdict(file) for each, file in files.items()}}
        write_durably(self._folder / _MANIFEST_NAME, json.dumps(manifest).encode())
        fsync_folder(self._folder.parent)
        named = {_MANIFEST_NAME, *(each.name for each in files.values())}
        for file in self._folder.iterdir():
            if file.name not in named:
                file.unlink(missing_ok=True)

    def manifest(self, state: str) -> dict[str, _ScanFile] | None:
        """The file of each class, or None where they were not made from this state of the table."""
        try:
            content = json.loads((self._folder / _MANIFEST_NAME).read_text(encoding="utf-8"))
            if content["state"] != state:
                return None
            return {each: _ScanFile(**file) for each, file in content["compartments"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # Derived: whatever cannot be read is made again from the table.
            return None

    def damaged(self, state: str) -> list[str]:
        """What of the files in force cannot be read, in words for an operator."""
        files = (self.manifest(state) or {}).values()
        return [f"{self._folder / each.name}: is gone or damaged" for each in files if self.read(each) is None]

    def discard(self) -> None:
        """Throw all files away."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def read(self, file: _ScanFile) -> VectorCompartment | None:
        """A class's rows, or None where the file is gone or damaged."""
        try:
            arrays = decode_arrays(read_checked(self._folder / file.name, file.size_bytes, file.crc32))
        except (OSError, ValueError):
            return None
        return VectorCompartment(arrays.pop("matrix").reshape(-1, self._dimensions), **arrays)
