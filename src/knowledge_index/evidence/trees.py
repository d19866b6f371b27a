"""The Merkle tree of each scope, made once and kept: in memory, and in files that are mapped."""

import mmap
import os
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from knowledge_index.catalog import CatalogSession
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.grants import Scope
from knowledge_index.evidence.merkle import MerkleTree, passage_leaf

_MAGIC = b"ki.tree.v1\n"
_COUNT_BYTES = 8
_HEADER_BYTES = len(_MAGIC) + _COUNT_BYTES
_IN_MEMORY = 16
_ON_DISK = 64


def visible_tree(session: CatalogSession, scope: Scope) -> MerkleTree:
    """The tree over all passages that the scope lets be seen, read from the catalog.

    Each distinct passage of a document's bytes counts once, however many paths and classes hold it: which of them the
    caller sees changes neither root nor size.
    """
    return MerkleTree.over(
        passage_leaf(each.document_sha256, start, end, sha256_text(each.text[start:end]))
        for each in session.leaves.visible_spans(scope)
        for start, end in each.spans
    )


class VisibleTrees:
    """Trees by scope digest, policy epoch and state of the passages.

    ``folder`` holds one file a tree, named by those three; a tree of another epoch or state is of no use to anybody
    and goes when the next one is written. A home that this user cannot write to is left alone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._trees: OrderedDict[str, MerkleTree] = OrderedDict()

    def get(self, session: CatalogSession, scope: Scope) -> MerkleTree:
        """The tree of a scope that was compiled in this session's transaction."""
        moment = f"{scope.policy_epoch}-{session.meta.passage_state()}"
        name = f"{moment}-{scope.digest}.tree"
        with self._lock:
            tree = self._trees.get(name)
            if tree is None:
                tree = _read(self._folder / name)
            if tree is None:
                tree = visible_tree(session, scope)
                with suppress(OSError):
                    self._write(name, moment, tree)
            self._trees[name] = tree
            self._trees.move_to_end(name)
            while len(self._trees) > _IN_MEMORY:
                self._trees.popitem(last=False)
        return tree

    def _write(self, name: str, moment: str, tree: MerkleTree) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = self._folder / f".{name}.{os.getpid()}"
        try:
            with aside.open("xb") as stream:
                stream.write(_MAGIC + tree.size.to_bytes(_COUNT_BYTES, "big"))
                stream.write(tree.nodes)
            os.replace(aside, self._folder / name)
        finally:
            aside.unlink(missing_ok=True)
        kept = sorted(self._folder.glob("*.tree"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for place, file in enumerate(kept):
            if place >= _ON_DISK or not file.name.startswith(f"{moment}-"):
                file.unlink(missing_ok=True)


def _read(file: Path) -> MerkleTree | None:
    """The tree of a file, mapped, or None where there is none that is whole."""
    try:
        with file.open("rb") as stream:
            mapped = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return None
    header = bytes(mapped[:_HEADER_BYTES])
    size = int.from_bytes(header[len(_MAGIC) :], "big")
    if not header.startswith(_MAGIC) or len(mapped) != _HEADER_BYTES + MerkleTree.size_bytes(size):
        return None
    return MerkleTree(size, mapped[_HEADER_BYTES:])
