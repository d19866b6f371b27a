"""Where one installation keeps what it owns."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from knowledge_index.domain.errors import BusyError, ConfigurationError

_KEY_BYTES = 32


@dataclass(frozen=True)
class Home:
    """The folder of one installation (``--home``) and the places in it."""

    folder: Path

    @property
    def catalog_file(self) -> Path:
        """The SQLite file of the catalog."""
        return self.folder / "catalog.sqlite"

    @property
    def lexical_folder(self) -> Path:
        """The lexical index."""
        return self.folder / "index" / "lexical"

    @property
    def profile_folder(self) -> Path:
        """The profiles of documents."""
        return self.folder / "index" / "profiles"

    @property
    def vector_folder(self) -> Path:
        """The vector index."""
        return self.folder / "index" / "vector"

    @property
    def vector_cache_file(self) -> Path:
        """Vectors by model and text, which outlive any index."""
        return self.folder / "cache" / "vectors.sqlite"

    @property
    def score_cache_file(self) -> Path:
        """Rerankers' scores by model, query and passage, and what computing them cost."""
        return self.folder / "cache" / "scores.sqlite"

    @property
    def models_ledger_file(self) -> Path:
        """Which choices of models were frozen, and each look at a test split."""
        return self.folder / "models" / "ledger.jsonl"

    @property
    def trees_folder(self) -> Path:
        """Merkle trees of what callers may see, made anew where they are missing."""
        return self.folder / "cache" / "trees"

    @property
    def keys_folder(self) -> Path:
        """The key that signs receipts, and all public keys that there ever were."""
        return self.folder / "keys"

    @property
    def writer_lock_file(self) -> Path:
        """Held by the one process that writes."""
        return self.folder / "writer.lock"

    @property
    def audit_file(self) -> Path:
        """The log of searches and of changes of walls."""
        return self.folder / "audit" / "audit.jsonl"

    @property
    def key_file(self) -> Path:
        """The installation's key, from which public ids and tie keys are derived."""
        return self.folder / "installation.key"

    def create(self) -> None:
        """Make the folder, readable by its owner alone, and the installation's key, once.

        Raises:
            ConfigurationError: the folder cannot be made or written, or its catalog has lost its key.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Looked for before the key: a first run at the same moment writes the key first, then the catalog.
            in_use = self.catalog_file.exists()
            if not self.key_file.exists():
                if in_use:
                    raise ConfigurationError(
                        f"{self.key_file}: the installation's key is missing, and another one would change every id; "
                        "restore it from a backup, or sync and run again into another --home"
                    )
                self._write_key(secrets.token_bytes(_KEY_BYTES))
        except OSError as error:
            raise ConfigurationError(
                f"{self.folder}: cannot be used as home: {error.strerror or error}; "
                "choose another with --home or KI_HOME"
            ) from error

    def installation_key(self) -> bytes:
        """The key; 32 bytes.

        Raises:
            ConfigurationError: the key file is missing or damaged.
        """
        try:
            key = bytes.fromhex(self.key_file.read_text(encoding="ascii").strip())
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{self.key_file}: the installation's key cannot be read: {error}") from error
        if len(key) != _KEY_BYTES:
            raise ConfigurationError(f"{self.key_file}: the installation's key has to be {_KEY_BYTES} bytes in hex")
        return key

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one process that writes to this home, for the length of the block.

        Raises:
            BusyError: another process is.
            ConfigurationError: the lock cannot be taken, as the home cannot be written to.
        """
        # Only writers need it, and it brings asyncio.
        from filelock import FileLock, Timeout

        lock = FileLock(self.writer_lock_file)
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise BusyError(
                f"{self.folder}: another ki process is syncing or running here; wait until it has ended"
            ) from error
        except (OSError, NotImplementedError) as error:
            # The latter comes from a file system that knows no locks.
            cause = (error.strerror if isinstance(error, OSError) else None) or error
            raise ConfigurationError(
                f"{self.writer_lock_file}: cannot be locked for writing: {cause}; make the home writable for "
                "this user and free its disk if it is full, or choose another with --home or KI_HOME"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _write_key(self, key: bytes) -> None:
        # Written aside and linked, so that two first runs at the same moment agree on one key.
        aside = self.key_file.with_name(f"{self.key_file.name}.{os.getpid()}")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(key.hex() + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(aside, self.key_file)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
