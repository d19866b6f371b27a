"""The installation's signing key, and the public keys of all that it ever had."""

import hashlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge_index.domain.errors import BusyError, ConfigurationError, InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_PRIVATE_NAME = "signing-key.pem"
_PUBLIC_FOLDER = "public"
# Stands before the key in its file, where PEM allows words.
_MADE = re.compile(rb"Receipts were signed with this key from (\S+) on\.\n")
_PEM_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\r?\n.*?-----END \1-----", re.DOTALL)
_LOCK_TIMEOUT_S = 30


@dataclass(frozen=True)
class PublicKey:
    """A public key of this installation; ``key_id`` is the hex SHA-256 of its 32 raw bytes."""

    key_id: str
    made_at: str
    is_current: bool
    pem: bytes


@dataclass(frozen=True)
class Signature:
    """64 bytes, and the id of the key that made them."""

    key_id: str
    value: bytes


class KeyStore:
    """Keys in ``folder``: the private one, which is made on first use, and the public ones, which are never removed.

    The private key is readable by its owner alone, is refused where it is readable by others, and leaves this class
    through no method. A rotation destroys the old one and keeps its public half.
    """

    def __init__(self, folder: Path, clock: Callable[[], datetime]) -> None:
        self._folder = folder
        self._clock = clock
        self._loaded: tuple[tuple[int, int, int], Ed25519PrivateKey, str] | None = None

    def sign(self, data: bytes) -> Signature:
        """Sign with the current key, making one where there is none.

        Raises:
            ConfigurationError: the key cannot be made or read, is damaged, or is readable by others.
        """
        key, key_id = self._current()
        return Signature(key_id, key.sign(data))

    def rotate(self) -> PublicKey:
        """Put a new key in the place of the current one, which is gone for good; returns the new public key.

        Raises:
            BusyError: another process is rotating.
            ConfigurationError: as :meth:`sign`.
        """
        from filelock import FileLock, Timeout

        with _explained(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with FileLock(self._folder / ".rotation.lock", timeout=_LOCK_TIMEOUT_S):
                    # The old public key is known before its private half goes, whoever made it.
                    self._current()
                    self._put(replace=True)
            except Timeout as error:
                raise BusyError(f"{self._folder}: another process is rotating the key; try again") from error
        key_id = self._current()[1]
        return next(each for each in self.public_keys() if each.key_id == key_id)

    def public_keys(self) -> tuple[PublicKey, ...]:
        """All public keys that this installation ever had, the oldest first; makes the first one where there is none.

        Raises:
            ConfigurationError: as :meth:`sign`.
        """
        current_id = self._current()[1]
        found = []
        with _explained(self._folder):
            for file in (self._folder / _PUBLIC_FOLDER).glob("*.pem"):
                content = file.read_bytes()
                made = _MADE.match(content)
                if made is None or set(parse_trusted_keys(content, str(file))) != {file.stem}:
                    raise ConfigurationError(f"{file}: is not the public key that its name says; restore a backup")
                pem = content[made.end() :]
                found.append(PublicKey(file.stem, made[1].decode(), file.stem == current_id, pem))
        return tuple(sorted(found, key=lambda each: (each.made_at, each.key_id)))

    def _current(self) -> "tuple[Ed25519PrivateKey, str]":
        file = self._folder / _PRIVATE_NAME
        with _explained(file):
            if not file.exists():
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._put(replace=False)
            status = file.stat()
            mark = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._loaded is None or self._loaded[0] != mark:
                if status.st_mode & 0o077:
                    raise ConfigurationError(
                        f"{file}: the private key can be read by others; if nobody did, run 'chmod 600' on it, else "
                        "also 'ki keys rotate'"
                    )
                key = _private_key(file)
                key_id = key_id_of(_raw(key.public_key()))
                self._keep_public(key, key_id)
                self._loaded = (mark, key, key_id)
        return self._loaded[1], self._loaded[2]

    def _put(self, *, replace: bool) -> None:
        """Make a private key, aside first, so that two first uses at one moment agree on one."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        key = Ed25519PrivateKey.generate()
        aside = _aside(self._folder / _PRIVATE_NAME)
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            if replace:
                self._keep_public(key, key_id_of(_raw(key.public_key())))
                os.replace(aside, self._folder / _PRIVATE_NAME)
            else:
                with suppress(FileExistsError):
                    os.link(aside, self._folder / _PRIVATE_NAME)
        finally:
            aside.unlink(missing_ok=True)
        _fsync(self._folder)

    def _keep_public(self, key: "Ed25519PrivateKey", key_id: str) -> None:
        folder = self._folder / _PUBLIC_FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        file = folder / f"{key_id}.pem"
        if file.exists():
            return
        made = self._clock().astimezone(UTC).isoformat(timespec="microseconds")
        aside = _aside(file)
        with aside.open("xb") as stream:
            stream.write(f"Receipts were signed with this key from {made} on.\n".encode())
            stream.write(_pem(key.public_key()))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, file)
        _fsync(folder)


def key_id_of(raw_public_key: bytes) -> str:
    """Hex SHA-256 of a public key's 32 bytes."""
    return hashlib.sha256(raw_public_key).hexdigest()


def parse_trusted_keys(data: bytes, where: str) -> dict[str, bytes]:
    """The Ed25519 public keys of a PEM file, raw, by their ids.

    Raises:
        InputError: the file holds no such key, or anything else between PEM marks, a private key above all.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    found = {}
    for block in _PEM_BLOCK.finditer(data):
        if block[1] != b"PUBLIC KEY":
            raise InputError(
                f"{where}: holds a {block[1].decode('ascii').lower()}, where public keys alone belong: "
                "give the file that 'ki keys export' wrote"
            )
        try:
            key = load_pem_public_key(block[0])
        except ValueError as error:
            raise InputError(f"{where}: holds a public key that cannot be read: {error}") from error
        if not isinstance(key, Ed25519PublicKey):
            raise InputError(f"{where}: holds a public key of another kind than Ed25519")
        raw = _raw(key)
        found[key_id_of(raw)] = raw
    if not found:
        raise InputError(f"{where}: holds no public key; give the file that 'ki keys export' wrote")
    return found


def is_signed(raw_public_key: bytes, data: bytes, signature: bytes) -> bool:
    """Whether the key made the signature over the data."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw_public_key).verify(signature, data)
    except InvalidSignature:
        return False
    return True


@contextmanager
def _explained(place: Path) -> Iterator[None]:
    """What a person can act on, in place of the system's errors about a place."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            f"{place}: the signing key cannot be used: {error.strerror or error}; make the home readable and writable "
            "for this user"
        ) from error


def _private_key(file: Path) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        # Without the cause: a library's message may quote what it could not read.
        raise ConfigurationError(
            f"{file}: is damaged; restore it from a backup, or move it away: a new key is made then, and the old "
            "public ones stay known"
        ) from None
    return key


def _aside(file: Path) -> Path:
    """A name beside a file that no other process or thread writes to."""
    return file.with_name(f".{file.name}.{os.getpid()}.{threading.get_ident()}.{secrets.token_hex(8)}")


def _raw(key: "Ed25519PublicKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _pem(key: "Ed25519PublicKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _fsync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
