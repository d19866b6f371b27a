"""A small firm whose searches have receipts, under a clock that stands still."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.answers.receipts import ReceiptedAnswer, answer_with_receipt
from knowledge_index.config import AppConfig, RetrievalSettings
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters, SearchResult
from knowledge_index.evidence.issuing import open_issuer
from knowledge_index.evidence.keys import parse_trusted_keys
from knowledge_index.retrieval import RetrievalService
from knowledge_index.retrieval.receipts import search_with_receipt_as
from small_firm import SmallFirm

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
# A key that only tests have, so that what is changed can be signed again.
TEST_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TEST_PEM = TEST_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
OTHER_PEM = OTHER_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
TRUSTED = parse_trusted_keys(TEST_PEM, "the test's key")


@dataclass(frozen=True)
class ReceiptWorld:
    """A firm with its service open."""

    firm: SmallFirm
    service: RetrievalService
    clock: Callable[[], datetime] = lambda: NOON

    @property
    def recorder(self) -> AccessRecorder:
        return AccessRecorder(AuditLog(self.firm.home.audit_file), b"key", False, "tester", self.clock)

    def search(
        self,
        query: str,
        caller: str,
        limit: int = 5,
        settings: RetrievalSettings | None = None,
        matters: Sequence[str] = (),
    ) -> tuple[SearchResult, bytes]:
        recorder = self.recorder
        return search_with_receipt_as(
            self.service,
            recorder,
            open_issuer(self.firm.home, recorder),
            parse_principals(caller),
            query,
            settings or AppConfig().retrieval,
            SearchFilters(frozenset(matters)),
            limit,
        )

    def ask(self, question: str, caller: str, limit: int = 4) -> ReceiptedAnswer:
        recorder = self.recorder
        return answer_with_receipt(
            self.service,
            recorder,
            open_issuer(self.firm.home, recorder),
            parse_principals(caller),
            question,
            AppConfig().retrieval,
            SearchFilters(),
            limit,
            None,
        )

    def trusted_keys(self) -> dict[str, bytes]:
        keys = open_issuer(self.firm.home, self.recorder).keys.public_keys()
        return parse_trusted_keys(b"".join(each.pem for each in keys), "the firm's keys")


def signed(record: dict[str, Any], key: Ed25519PrivateKey = TEST_KEY) -> bytes:
    """A record as a receipt, signed with a test's key, whatever it says."""
    from hashlib import sha256

    body = {name: value for name, value in record.items() if name != "signature"}
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    signature = {
        "algorithm": "Ed25519",
        "key_id": sha256(raw).hexdigest(),
        "value": key.sign(rfc8785.dumps(body)).hex(),
    }
    return rfc8785.dumps({**body, "signature": signature})


def record_of(receipt: bytes) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(receipt)
    return record
