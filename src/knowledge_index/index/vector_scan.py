"""What a search for vectors scans: one matrix an ACL class, in files that are derived from the table.

They lie beside the table, in ``scan/``, so that a search maps what its scope allows and neither reads other rows nor
imports the engine. ``CURRENT`` names the state of the table that they were made from; with another state they are not
used.
"""

import hashlib
import json
import shutil
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from knowledge_index.catalog.passage_records import window_key
from knowledge_index.embed.base import Matrix, Vector
from knowledge_index.index.arrays import (
    Bytes,
    Integers,
    decode_arrays,
    encode_arrays,
    pack_texts,
    read_checked,
    some_texts,
    unpack_texts,
)
from knowledge_index.index.durable import fsync_folder, write_durably

_FOLDER_NAME = "scan"
_MANIFEST_NAME = "CURRENT"


Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int8]]

_LARGEST_CODE = 127


def in_bytes(matrix: Matrix) -> tuple[Codes, Vector, Vector]:
    """Rows as whole numbers from -127 to 127, what one stands for, and the length of what is lost, row by row."""
    scales = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), np.finfo(np.float32).tiny) / np.float32(_LARGEST_CODE)
    codes = np.rint(matrix / scales[:, None]).astype(np.int8)
    errors = np.linalg.norm(matrix - codes * scales[:, None], axis=1)
    return codes, scales, errors


@dataclass(frozen=True)
class VectorCompartment:
    """The rows of one class, by key; ``matrix`` has shape (rows, dimensions), float32.

    ``codes`` times ``scales`` is the matrix in bytes, a quarter of it, and ``errors`` says by how much, at most, each
    row of it differs in length: that is what a search reads of every row.
    """

    matrix: Matrix
    codes: Codes
    scales: Vector
    errors: Vector
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

    def row_keys_of(self, rows: Integers) -> list[str]:
        """The keys of some rows."""
        return some_texts(self.keys, self.key_bounds, rows)

    def rows_of_matters(self, matter_refs: Iterable[str]) -> Integers:
        """The rows of these matters, ascending."""
        rows = [row for each in matter_refs for row in self._rows_of_matter.get(each, ())]
        return np.array(sorted(rows), dtype=np.int64)

    def rows_of_passages(self, row_keys: Iterable[str]) -> Integers:
        """The rows of these passages, with all of their windows, ascending."""
        rows = set()
        for each in row_keys:
            key, window = each, 0
            while key in self.row_of_key:
                rows.add(self.row_of_key[key])
                window += 1
                key = window_key(each, window)
        return np.array(sorted(rows), dtype=np.int64)

    @cached_property
    def _rows_of_matter(self) -> dict[str, list[int]]:
        rows_of: defaultdict[str, list[int]] = defaultdict(list)
        for row, each in enumerate(self.matter_refs):
            rows_of[each].append(row)
        return dict(rows_of)


@dataclass(frozen=True)
class _ScanFile:
    """One class's file: its name, size and CRC-32."""

    name: str
    size_bytes: int
    crc32: int


def compartment_of(row_keys: list[str], matter_refs: list[str], matrix: Matrix) -> VectorCompartment:
    """The compartment of some rows, which are sorted by key."""
    return VectorCompartment(matrix, *in_bytes(matrix), *pack_texts(row_keys), *pack_texts(matter_refs))


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
                    "codes": each.codes.reshape(-1),
                    "scales": each.scales,
                    "errors": each.errors,
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
            matrix, codes = (arrays.pop(name).reshape(-1, self._dimensions) for name in ("matrix", "codes"))
            return VectorCompartment(matrix, codes, **arrays)
        except (OSError, ValueError, KeyError):
            return None
