"""Arrays and texts in one file, read back without a copy."""

import json
import mmap
import struct
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
ShortIntegers: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]
Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_ALIGNMENT_BYTES = 64
_LENGTH = struct.Struct("<Q")
# Smaller files are read into memory: an open map holds a file descriptor, and there may be thousands of compartments.
_MIN_MAPPED_BYTES = 1 << 20


def encode_arrays(arrays: Mapping[str, "np.ndarray[Any, Any]"]) -> bytes:
    """One-dimensional arrays as the length of a JSON header, the header, and their bytes, each part aligned."""
    flat = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = json.dumps([[name, array.dtype.str, len(array)] for name, array in flat.items()]).encode()
    return b"".join([_padded(_LENGTH.pack(len(header)) + header), *(_padded(each.tobytes()) for each in flat.values())])


def decode_arrays(content: bytes | memoryview) -> dict[str, Any]:
    """The arrays that :func:`encode_arrays` was given, over ``content``; that it is whole was checked before."""
    view = memoryview(content)
    header_end = _LENGTH.size + _LENGTH.unpack(view[: _LENGTH.size])[0]
    place = _aligned(header_end)
    arrays = {}
    for name, dtype, length in json.loads(bytes(view[_LENGTH.size : header_end])):
        arrays[name] = np.frombuffer(view, dtype=dtype, count=length, offset=place)
        place = _aligned(place + arrays[name].nbytes)
    return arrays


def read_checked(file: Path, size_bytes: int, crc32: int) -> bytes | memoryview:
    """The content of a file, mapped into memory where it is large.

    Raises:
        ValueError: its size or its CRC-32 is another one.
        FileNotFoundError: there is no such file.
    """
    with file.open("rb") as stream:
        if size_bytes < _MIN_MAPPED_BYTES:
            content: bytes | memoryview = stream.read()
        else:
            content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    if (len(content), zlib.crc32(content)) != (size_bytes, crc32):
        raise ValueError(f"{file.name}: is not the file that was written")
    return content


def lengths_to_bounds(lengths: Sequence[int] | Integers) -> Integers:
    """Where each of some adjacent pieces begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)


def pack_texts(texts: Sequence[str]) -> tuple[Bytes, Integers]:
    """Texts as UTF-8 one after the other, and their bounds."""
    parts = [text.encode("utf-8") for text in texts]
    return np.frombuffer(b"".join(parts), dtype=np.uint8), lengths_to_bounds([len(part) for part in parts])


def unpack_texts(content: Bytes, bounds: Integers) -> list[str]:
    """The texts that :func:`pack_texts` was given."""
    raw = content.tobytes()
    return [raw[start:end].decode("utf-8") for start, end in pairwise(bounds.tolist())]


def some_texts(content: Bytes, bounds: Integers, places: Integers | ShortIntegers) -> list[str]:
    """The texts of some places of :func:`pack_texts`, in the order given, without reading the others."""
    raw = content.data
    starts, ends = bounds[places].tolist(), bounds[places + 1].tolist()
    return [str(raw[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES


def _padded(content: bytes) -> bytes:
    return content.ljust(_aligned(len(content)), b"\0")
