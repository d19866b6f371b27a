"""Merkle trees as RFC 9162 (Certificate Transparency 2.0), section 2.1, hashes them, with SHA-256."""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HASH_BYTES = 32
# A leaf and a node of the same bytes hash to different values, so that no inner node can be passed off as a leaf.
_LEAF_PREFIX = b"\x00"
_NODE_PREFIX = b"\x01"


def leaf_hash(data: bytes) -> bytes:
    """The hash of one leaf, 32 bytes."""
    return hashlib.sha256(_LEAF_PREFIX + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node over its two children, 32 bytes."""
    return hashlib.sha256(_NODE_PREFIX + left + right).digest()


def passage_leaf(document_sha256: str, start_char: int, end_char: int, text_sha256: str) -> bytes:
    """The leaf hash of a passage: of the canonical JSON that is spelled here, and of nothing else about it.

    It holds no path, class or moment, so that a tree depends on what was ingested and not on where, when and in which
    order.
    """
    return leaf_hash(
        f'{{"document_sha256":"{document_sha256}","end_char":{end_char},"start_char":{start_char},'
        f'"text_sha256":"{text_sha256}","type":"ki.leaf.v1"}}'.encode("ascii")
    )


def _level_sizes(size: int) -> list[int]:
    sizes = [size]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    return sizes


@dataclass(frozen=True)
class MerkleTree:
    """A tree over a sorted set of leaf hashes.

    ``nodes`` has the levels one after the other, the leaves first, 32 bytes a node: 64 bytes a leaf in all, in memory
    or mapped from a file. The last node of a level of odd length stands in the next one as it is, which is how RFC
    9162 splits a tree that is not full.
    """

    size: int
    nodes: bytes | memoryview

    @classmethod
    def over(cls, leaf_hashes: Iterable[bytes]) -> "MerkleTree":
        """The tree over these leaves, each counted once, in the order of their hashes."""
        level = sorted(set(leaf_hashes))
        size = len(level)
        levels = [b"".join(level)]
        while len(level) > 1:
            pairs = [node_hash(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
            level = [*pairs, level[-1]] if len(level) % 2 else pairs
            levels.append(b"".join(level))
        return cls(size, b"".join(levels))

    @staticmethod
    def size_bytes(size: int) -> int:
        """How long ``nodes`` is for so many leaves."""
        return sum(_level_sizes(size)) * HASH_BYTES

    @property
    def root(self) -> bytes:
        """The root's hash; SHA-256 of nothing for a tree without leaves."""
        return self._node(sum(_level_sizes(self.size)) - 1) if self.size else hashlib.sha256().digest()

    def index_of(self, leaf: bytes) -> int | None:
        """The place of a leaf among the sorted ones, or None where it is none of them."""
        place = bisect_left(range(self.size), leaf, key=self._node)
        return place if place < self.size and self._node(place) == leaf else None

    def inclusion_proof(self, index: int) -> tuple[bytes, ...]:
        """The audit path of a leaf, the lowest first: RFC 9162, section 2.1.3.1."""
        if not 0 <= index < self.size:
            raise IndexError(f"leaf {index} of {self.size}")
        path = []
        start = 0
        for level_size in _level_sizes(self.size)[:-1]:
            sibling = index ^ 1
            if sibling < level_size:
                path.append(self._node(start + sibling))
            start += level_size
            index //= 2
        return tuple(path)

    def _node(self, place: int) -> bytes:
        return bytes(self.nodes[place * HASH_BYTES : (place + 1) * HASH_BYTES])


def root_of_proof(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that an audit path leads to, or None where the path does not fit index and size.

    RFC 9162, section 2.1.3.2.
    """
    if not 0 <= index < size:
        return None
    place, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if place % 2 or place == last:
            found = node_hash(sibling, found)
            while place % 2 == 0 and place:
                place //= 2
                last //= 2
        else:
            found = node_hash(found, sibling)
        place //= 2
        last //= 2
    return found if last == 0 else None
