"""Vectors that were paid for once: the content-addressed cache on disk, and a small one in memory."""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import IndexStateError
from knowledge_index.embed.base import Embedder, EmbeddingSignature, Matrix, ModelFile, Vector
from knowledge_index.embed.model_files import weights_root

_QUERY_BATCH = 500
_BUSY_TIMEOUT_S = 30.0
# A killed run loses at most this many vectors, a few seconds of work.
_STORE_BATCH = 64
_VECTOR_TYPE = np.dtype("<f4")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    signature_id TEXT NOT NULL,
    text_sha256 BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (signature_id, text_sha256)
);
CREATE TABLE IF NOT EXISTS origins (
    signature_id TEXT NOT NULL,
    weights_root TEXT NOT NULL,
    PRIMARY KEY (signature_id, weights_root)
);
"""


class VectorCache:
    """Vectors in an SQLite file, by embedding signature and by the SHA-256 of the embedded text.

    May be used from several threads and processes. Errors: IndexStateError where the file is no such cache.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get_many(self, signature: EmbeddingSignature, text_sha256s: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, by the text's hex SHA-256."""
        found: dict[str, Vector] = {}
        keys = [bytes.fromhex(each) for each in dict.fromkeys(text_sha256s)]
        with self._transaction() as connection:
            for start in range(0, len(keys), _QUERY_BATCH):
                batch = keys[start : start + _QUERY_BATCH]
                marks = ",".join("?" * len(batch))
                rows = connection.execute(
                    f"SELECT text_sha256, vector FROM vectors WHERE signature_id = ? AND text_sha256 IN ({marks})",
                    (signature.id, *batch),
                )
                found.update((key.hex(), np.frombuffer(blob, _VECTOR_TYPE).astype(np.float32)) for key, blob in rows)
        return found

    def put_many(self, signature: EmbeddingSignature, vectors: Mapping[str, Vector]) -> None:
        """Store vectors by the text's hex SHA-256, durably when the call returns; what is there stays."""
        rows = [
            (signature.id, bytes.fromhex(key), np.asarray(vector, _VECTOR_TYPE).tobytes())
            for key, vector in vectors.items()
        ]
        with self._transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)

    def origins(self, signature: EmbeddingSignature) -> frozenset[str]:
        """The weights roots of the models that made vectors of this signature.

        A signature names the weights alone; with another tokenizer or configuration the same weights make other
        vectors, and then there are two.
        """
        with self._transaction() as connection:
            rows = connection.execute("SELECT weights_root FROM origins WHERE signature_id = ?", (signature.id,))
            return frozenset(root for (root,) in rows)

    def note_origin(self, signature: EmbeddingSignature, root: str) -> None:
        """Record that a model with this weights root makes vectors of this signature."""
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO origins VALUES (?, ?)", (signature.id, root))

    def close(self) -> None:
        """Let go of the file; a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                with self._connection:
                    yield self._connection
            except sqlite3.Error as error:
                raise IndexStateError(
                    f"{self._file}: the vector cache cannot be used ({error}): where it is damaged, delete the file; "
                    "its vectors are computed anew"
                ) from error

    def _connect(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._file, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.executescript(_SCHEMA)
        return connection


class CachedEmbedder:
    """Keeps :class:`~knowledge_index.embed.base.Embedder` over another one, and embeds each distinct text once, ever.

    ``computed`` and ``reused`` count distinct texts over all calls.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self.computed = 0
        self.reused = 0
        self._is_origin_noted = False

    @property
    def signature(self) -> EmbeddingSignature:
        """The signature of the embedder beneath."""
        return self._embedder.signature

    def model_files(self) -> tuple[ModelFile, ...]:
        """The files of the embedder beneath."""
        return self._embedder.model_files()

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """See :meth:`Embedder.embed`; what is computed is stored batch by batch, so that a killed run keeps it."""
        keys = [sha256_text(text) for text in texts]
        positions: dict[str, list[int]] = {}
        for position, key in enumerate(keys):
            positions.setdefault(key, []).append(position)
        signature = self.signature
        result = np.empty((len(texts), signature.dimensions), dtype=np.float32)

        def fill(vectors: Mapping[str, Vector]) -> int:
            for key, vector in vectors.items():
                result[positions[key]] = vector
            return sum(len(positions[key]) for key in vectors)

        known = self._cache.get_many(signature, list(positions))
        filled = fill(known)
        self.reused += len(known)
        if on_done and filled:
            on_done(filled)
        missing = [key for key in positions if key not in known]
        if missing:
            self._note_origin(signature)
        for start in range(0, len(missing), _STORE_BATCH):
            batch = missing[start : start + _STORE_BATCH]
            matrix = self._embedder.embed([texts[positions[key][0]] for key in batch], on_done)
            fresh = dict(zip(batch, matrix, strict=True))
            self._cache.put_many(signature, fresh)
            self.computed += len(batch)
            repetitions = fill(fresh) - len(batch)
            if on_done and repetitions:
                on_done(repetitions)
        return result

    def _note_origin(self, signature: EmbeddingSignature) -> None:
        if not self._is_origin_noted:
            self._cache.note_origin(signature, weights_root(self.model_files()))
            self._is_origin_noted = True


class MemoisedEmbedder:
    """Keeps :class:`~knowledge_index.embed.base.Embedder` and remembers the last ``capacity`` texts in memory.

    For queries: an evaluation asks each of them of several presets.
    """

    def __init__(self, embedder: Embedder, capacity: int = 4096) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def signature(self) -> EmbeddingSignature:
        """The signature of the embedder beneath."""
        return self._embedder.signature

    def model_files(self) -> tuple[ModelFile, ...]:
        """The files of the embedder beneath."""
        return self._embedder.model_files()

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        """See :meth:`Embedder.embed`."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known |= dict(zip(missing, self._embedder.embed(missing), strict=True))
        with self._lock:
            for text in dict.fromkeys(texts):
                self._vectors[text] = known[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
        if on_done and texts:
            on_done(len(texts))
        if not texts:
            return np.empty((0, self.signature.dimensions), dtype=np.float32)
        return np.stack([known[text] for text in texts])
