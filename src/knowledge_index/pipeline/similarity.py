"""How much of one text stands in another: word shingles, their exact overlap, and MinHash to find who to compare."""

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from datasketch import MinHash

SHINGLE_WORDS = 4
# Another scheme of shingles or hashes makes stored signatures useless: it is part of their key.
SIGNATURE_SCHEME = f"w{SHINGLE_WORDS}-affine32-64-1"

Shingles = npt.NDArray[np.uint64]

_PERMUTATIONS = 64
_SEED = 1
# A pair whose shingles overlap by 0.5 is compared with probability 0.94, by 0.6 with 0.99; by 0.05 hardly ever.
_BANDS, _ROWS = 21, 3
_WORD = re.compile(r"\w+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Overlap:
    """Shared shingles over all of both (``jaccard``) and over those of the shorter (``containment``), 0 to 1."""

    jaccard: float
    containment: float


def words_of(text: str) -> list[str]:
    """The words of a text without their case: what is left when white space and punctuation say nothing."""
    return _WORD.findall(text.casefold())


def shingles_of(words: list[str]) -> Shingles:
    """The distinct hashes of every run of ``SHINGLE_WORDS`` words, sorted; a shorter text is one shingle."""
    if not words:
        return np.empty(0, dtype=np.uint64)
    hashes = {word: zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in set(words)}
    hashed = np.fromiter(map(hashes.__getitem__, words), np.uint64, len(words))
    count = max(1, len(hashed) - SHINGLE_WORDS + 1)
    with np.errstate(over="ignore"):
        total = np.zeros(count, dtype=np.uint64)
        for place in range(min(SHINGLE_WORDS, len(hashed))):
            total = (total ^ hashed[place : place + count]) * _MULTIPLIER
            total ^= total >> np.uint64(29)
    return np.unique(total)


def overlap_of(first: Shingles, second: Shingles) -> Overlap:
    """The exact overlap of two texts; nothing overlaps with an empty text."""
    if not (len(first) and len(second)):
        return Overlap(0.0, 0.0)
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return Overlap(shared / (len(first) + len(second) - shared), shared / min(len(first), len(second)))


@cache
def _empty_sketch() -> "MinHash":
    """Kept, since making its permutations costs as much as a short text's signature."""
    from datasketch import MinHash

    return MinHash(num_perm=_PERMUTATIONS, seed=_SEED, scheme="affine32", hashfunc=int)


def signature_of(shingles: Shingles) -> bytes:
    """The MinHash signature of a text: a function of its shingles alone, on any machine."""
    sketch = _empty_sketch().copy()
    sketch.update_batch((shingles >> np.uint64(32)).tolist())
    return bytes(sketch.hashvalues.astype("<u4").tobytes())


def pairs_to_compare(signatures: Mapping[int, Iterable[bytes]], wanted: Iterable[int]) -> set[tuple[int, int]]:
    """Pairs of keys (lower first) of which one signature resembles one of the other's, each with one of ``wanted``.

    A key may have several signatures: of a redline's text, and of its text with the changes rejected.
    """
    from datasketch import MinHash, MinHashLSH

    permutations = _empty_sketch().permutations
    index = MinHashLSH(num_perm=_PERMUTATIONS, params=(_BANDS, _ROWS))
    sketches = {
        (key, place): MinHash(
            num_perm=_PERMUTATIONS,
            seed=_SEED,
            scheme="affine32",
            permutations=permutations,
            hashvalues=np.frombuffer(signature, dtype="<u4").astype(np.uint32),
        )
        for key, several in sorted(signatures.items())
        for place, signature in enumerate(several)
    }
    for name, sketch in sketches.items():
        index.insert(name, sketch)
    chosen = set(wanted)
    return {
        (min(key, other), max(key, other))
        for (key, place), sketch in sketches.items()
        if key in chosen
        for other, _ in index.query(sketch)
        if other != key
    }
