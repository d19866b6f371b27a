"""The signing key: made once, its owner's alone, and its public half never forgotten."""

import os
import re
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from receipt_world import TEST_KEY, TEST_PEM

from knowledge_index.domain.errors import ConfigurationError, InputError
from knowledge_index.evidence.keys import KeyStore, is_signed, parse_trusted_keys


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "keys", Clock())


def trusted(store: KeyStore) -> dict[str, bytes]:
    return parse_trusted_keys(b"".join(each.pem for each in store.public_keys()), "keys")


def test_the_private_key_is_made_on_first_use_for_its_owner_alone(store: KeyStore, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        signature = store.sign(b"data")
    finally:
        os.umask(old)
    file = tmp_path / "keys" / "signing-key.pem"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert is_signed(trusted(store)[signature.key_id], b"data", signature.value)
    assert not is_signed(trusted(store)[signature.key_id], b"datum", signature.value)
    assert KeyStore(tmp_path / "keys", Clock()).sign(b"data") == signature
    assert sorted(each.name for each in file.parent.iterdir()) == ["public", "signing-key.pem"]


def test_a_rotation_keeps_every_public_key_and_destroys_the_private_one(store: KeyStore, tmp_path: Path) -> None:
    signatures = [store.sign(b"data")]
    private = [(tmp_path / "keys" / "signing-key.pem").read_bytes()]
    for _ in range(3):
        new = store.rotate()
        signatures.append(store.sign(b"data"))
        private.append((tmp_path / "keys" / "signing-key.pem").read_bytes())
        assert signatures[-1].key_id == new.key_id
    keys = store.public_keys()
    assert [each.key_id for each in keys] == [each.key_id for each in signatures]
    assert [each.is_current for each in keys] == [False, False, False, True]
    assert sorted(each.made_at for each in keys) == [each.made_at for each in keys]
    assert all(is_signed(trusted(store)[each.key_id], b"data", each.value) for each in signatures)
    assert len(set(private)) == 4
    left = [file.read_bytes() for file in (tmp_path / "keys").rglob("*") if file.is_file()]
    assert sum(b"PRIVATE" in each for each in left) == 1


def test_two_first_uses_at_one_moment_agree_on_one_key(tmp_path: Path) -> None:
    program = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path\n"
        "from knowledge_index.evidence.keys import KeyStore\n"
        "print(KeyStore(Path(sys.argv[1]), lambda: datetime.now(UTC)).sign(b'data').key_id)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "k")], stdout=subprocess.PIPE, env=environment)
        for _ in range(4)
    ]
    assert len({each.communicate(timeout=60)[0] for each in running}) == 1
    stores = [KeyStore(tmp_path / "threads", Clock()) for _ in range(8)]
    ids: list[str] = []
    threads = [threading.Thread(target=lambda each=each: ids.append(each.sign(b"data").key_id)) for each in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ids), len(set(ids))) == (8, 1)


def test_a_key_that_others_can_read_is_refused_and_no_message_shows_it(store: KeyStore, tmp_path: Path) -> None:
    store.sign(b"data")
    file = tmp_path / "keys" / "signing-key.pem"
    secret = re.sub(rb"-----[^-]+-----|\s", b"", file.read_bytes()).decode()
    file.chmod(0o640)
    with pytest.raises(ConfigurationError, match="chmod 600") as readable:
        KeyStore(tmp_path / "keys", Clock()).sign(b"data")
    file.chmod(0o600)
    for content in (b"", b"nonsense", TEST_PEM):
        file.write_bytes(content)
        with pytest.raises(ConfigurationError, match="damaged") as damaged:
            KeyStore(tmp_path / "keys", Clock()).sign(b"data")
        assert secret[:8] not in str(damaged.value)
    assert secret not in str(readable.value) + repr(store)


def test_what_is_no_public_key_is_refused() -> None:
    private = TEST_KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    other_kind = generate_private_key(65537, 2048).public_key()
    rsa = other_kind.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for data, message in (
        (b"", "no public key"),
        (b"\x00" * 32, "no public key"),
        (private, "private key"),
        (TEST_PEM + private, "private key"),
        (rsa, "another kind"),
        (TEST_PEM.replace(b"MCow", b"MMMM"), "cannot be read"),
    ):
        with pytest.raises(InputError, match=message):
            parse_trusted_keys(data, "keys.pem")
    assert len(parse_trusted_keys(b"Two keys of ours\n" + TEST_PEM + TEST_PEM.replace(b"\n", b"\r\n"), "keys")) == 1
