"""Merkle trees against the definition in RFC 9162, section 2.1, written down as it stands there."""

import json
from hashlib import sha256

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.evidence.merkle import MerkleTree, leaf_hash, passage_leaf, root_of_proof

# The log of Google's certificate-transparency tests, after each of its entries.
CT_LEAVES = [
    bytes.fromhex(each)
    for each in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
CT_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def _split(count: int) -> int:
    """The largest power of two below ``count``."""
    split = 1
    while split * 2 < count:
        split *= 2
    return split


def tree_head(hashes: list[bytes]) -> bytes:
    """MTH of section 2.1.1, from the leaves' hashes on."""
    if not hashes:
        return sha256(b"").digest()
    if len(hashes) == 1:
        return hashes[0]
    split = _split(len(hashes))
    return sha256(b"\x01" + tree_head(hashes[:split]) + tree_head(hashes[split:])).digest()


def path(place: int, hashes: list[bytes]) -> list[bytes]:
    """PATH of section 2.1.3.1."""
    if len(hashes) == 1:
        return []
    split = _split(len(hashes))
    if place < split:
        return [*path(place, hashes[:split]), tree_head(hashes[split:])]
    return [*path(place - split, hashes[split:]), tree_head(hashes[:split])]


def test_published_trees() -> None:
    hashes = [leaf_hash(each) for each in CT_LEAVES]
    assert [tree_head(hashes[: count + 1]).hex() for count in range(8)] == CT_ROOTS
    for size in range(1, 9):
        for place in range(size):
            found = root_of_proof(hashes[place], place, size, path(place, hashes[:size]))
            assert found is not None
            assert found.hex() == CT_ROOTS[size - 1]


@given(count=st.integers(0, 70), draw=st.randoms(use_true_random=False))
def test_trees_of_all_sizes(count: int, draw) -> None:
    hashes = sorted(leaf_hash(b"%d" % each) for each in draw.sample(range(10_000), count))
    shuffled = [*hashes, *draw.choices(hashes, k=count // 3)] if hashes else []
    draw.shuffle(shuffled)
    tree = MerkleTree.over(shuffled)
    assert (tree.size, tree.root) == (count, tree_head(hashes))
    assert len(tree.nodes) == MerkleTree.size_bytes(count)
    for place, each in enumerate(hashes):
        proof = list(tree.inclusion_proof(place))
        assert (tree.index_of(each), proof) == (place, path(place, hashes))
        assert root_of_proof(each, place, count, proof) == tree.root
    assert tree.index_of(leaf_hash(b"foreign")) is None


@given(count=st.integers(1, 40), draw=st.randoms(use_true_random=False))
def test_a_proof_proves_one_leaf_at_one_place(count: int, draw) -> None:
    tree = MerkleTree.over(leaf_hash(b"%d" % each) for each in range(count))
    place = draw.randrange(count)
    leaf = bytes(tree.nodes[place * 32 : place * 32 + 32])
    proof = tree.inclusion_proof(place)
    for index, size, steps in (
        (place + 1, count, proof),
        (place, count, (*proof, leaf)),
        (place, count, proof[:-1] if proof else (leaf,)),
        (-1, count, proof),
        (count, count, proof),
    ):
        assert root_of_proof(leaf, index, size, steps) != tree.root
    assert root_of_proof(leaf_hash(leaf), place, count, proof) != tree.root


def test_a_leaf_is_the_canonical_json_of_document_offsets_and_text() -> None:
    parts = {"document_sha256": "ab" * 32, "start_char": 7, "end_char": 12, "text_sha256": "cd" * 32}
    data = rfc8785.dumps({**parts, "type": "ki.leaf.v1"})
    assert passage_leaf(**parts) == sha256(b"\x00" + data).digest()
    assert json.loads(data)["type"] == "ki.leaf.v1"
