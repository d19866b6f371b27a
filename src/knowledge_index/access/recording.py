"""Turns what people and operators do into audit entries."""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction, AuditEvent
from knowledge_index.access.scope import instant
from knowledge_index.config import AuditSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import format_principals

OPERATOR = "operator"
_FINGERPRINT_PURPOSE = b"knowledge_index audit query fingerprint 1"


@dataclass(frozen=True)
class AccessRecorder:
    """Writes the audit log of one installation.

    ``fingerprint_key`` is the installation's own: without it nobody can test guessed queries against the log.
    ``account`` is the account of the operating system that runs the command, since whoever is asked as is believed.
    ``through`` are details that each entry about a caller has besides: the door that the caller came through.
    Every method raises AuditLogError where the entry cannot be written; what was to be recorded must then not happen.
    """

    log: AuditLog
    fingerprint_key: bytes
    keeps_query_text: bool
    account: str
    clock: Callable[[], datetime]
    through: tuple[tuple[str, str], ...] = ()

    def record_search(self, scope: Scope, query: str, hit_ids: Iterable[str]) -> None:
        """A search is about to be answered with these hits."""
        self._record_asked(AuditAction.SEARCH, scope, query, hit_ids)

    def record_show(self, scope: Scope, hit_id: str, *, is_shown: bool) -> None:
        """A hit is about to be shown, or refused."""
        self._record_asked(AuditAction.SHOW, scope, hit_id, (hit_id,) if is_shown else ())

    def record_listing(self, action: AuditAction, scope: Scope, asked: str, returned: Iterable[str]) -> None:
        """A document, the versions of one or the matters are about to be shown; ``returned`` names what."""
        self._record_asked(action, scope, asked, returned)

    def record_operation(self, action: AuditAction, **details: object) -> None:
        """An operator's act is about to take effect."""
        given = tuple((name, str(value)) for name, value in sorted(details.items()))
        self.log.append(AuditEvent(instant(self.clock()), self.account, action, OPERATOR, details=given))

    def fingerprint(self, query: str) -> str:
        """The keyed hash (HMAC-SHA256, hex) under which a query stands in the log."""
        return hmac.new(self.fingerprint_key, query.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def _record_asked(self, action: AuditAction, scope: Scope, asked: str, returned: Iterable[str]) -> None:
        self.log.append(
            AuditEvent(
                at=instant(self.clock()),
                account=self.account,
                action=action,
                who=format_principals(scope.principals),
                scope=scope.digest,
                query_fingerprint=self.fingerprint(asked),
                query_text=asked if self.keeps_query_text else None,
                returned=tuple(returned),
                openings=tuple(sorted(scope.opening_ids)),
                details=self.through,
            )
        )


def open_recorder(home: Home, settings: AuditSettings, account: str, clock: Callable[[], datetime]) -> AccessRecorder:
    """The recorder of an installation.

    Raises:
        ConfigurationError: the installation's key is missing or damaged.
    """
    # A key of its own, so that a fingerprint is never also a hit's id.
    key = hmac.new(home.installation_key(), _FINGERPRINT_PURPOSE, hashlib.sha256).digest()
    return AccessRecorder(AuditLog(home.audit_file), key, settings.query_text, account, clock)
