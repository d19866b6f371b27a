"""Bearer tokens: who comes in over the network, and until when.

A token reads ``ki_ID_SECRET``. The id is public and looked up; of the secret, 32 random bytes, the catalog has the
SHA-256 alone. A slow hash would add nothing: nobody can try that many secrets.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.access.scope import instant
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.status_records import AccessTokenRecord
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.principals import Principal, PrincipalKind

DEFAULT_AUDIENCE = "knowledge_index-mcp"
MAX_DAYS = 366
_ID_BYTES = 8
_SECRET_BYTES = 32
_FORM = re.compile(r"ki_(?P<id>[0-9a-f]{16})_(?P<secret>[A-Za-z0-9_-]{43})")
_AUDIENCE = re.compile(r"[!-~]{1,200}")


@dataclass(frozen=True)
class NewToken:
    """A token just made; ``text`` is shown once and kept nowhere."""

    record: AccessTokenRecord
    text: str = field(repr=False)


def create_token(
    catalog: Catalog, recorder: AccessRecorder, principal: Principal, audience: str, expires_at: datetime
) -> NewToken:
    """Issue a token for one user and one audience; it is in the audit log before it holds.

    Raises:
        UsageError: it is no user, the audience has blanks or is too long, or the time is over or more than
            ``MAX_DAYS`` days away.
        AuditLogError: it could not be recorded, and no token was made.
    """
    if principal.kind is not PrincipalKind.USER:
        raise UsageError(f"{principal}: a token is for one person; name a user:NAME")
    if not _AUDIENCE.fullmatch(audience):
        raise UsageError(f"--audience {audience!r}: write 1 to 200 visible ASCII characters")
    now = recorder.clock()
    if not now < expires_at <= now + timedelta(days=MAX_DAYS):
        raise UsageError(f"a token has to expire after now and within {MAX_DAYS} days, not at {instant(expires_at)}")
    token_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    record = AccessTokenRecord(
        token_id, _hash(secret), principal, audience, instant(now), instant(expires_at), revoked_at=None
    )
    with catalog.transaction() as session:
        session.access_tokens.add(record)
        _record(recorder, "created", record)
    return NewToken(record, f"ki_{token_id}_{secret}")


def revoke_token(catalog: Catalog, recorder: AccessRecorder, token_id: str) -> AccessTokenRecord:
    """End a token before its time; calls that come after this are refused.

    Raises:
        UsageError: no token has this id, or it was revoked already.
        AuditLogError: it could not be recorded; the token still holds.
    """
    with catalog.transaction() as session:
        is_ended = session.access_tokens.revoke(token_id, instant(recorder.clock()))
        record = session.access_tokens.get(token_id)
        if not is_ended or record is None:
            raise UsageError(f"no token that could be revoked has the id '{token_id}'; see 'ki tokens list'")
        _record(recorder, "revoked", record)
    return record


def verify_token(catalog: Catalog, text: str, audience: str, at: datetime) -> AccessTokenRecord | None:
    """The record of a token that is genuine, for this audience, not expired and not revoked at ``at``, else None.

    Secrets are compared in constant time, and one is compared even where the id is unknown.
    """
    parts = _FORM.fullmatch(text)
    if parts is None:
        return None
    with catalog.transaction() as session:
        record = session.access_tokens.get(parts["id"])
    expected = "0" * 64 if record is None else record.secret_sha256
    is_genuine = hmac.compare_digest(_hash(parts["secret"]), expected)
    if record is None or not is_genuine:
        return None
    is_for_us = hmac.compare_digest(record.audience.encode(), audience.encode())
    return record if is_for_us and record.revoked_at is None and instant(at) < record.expires_at else None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("ascii")).hexdigest()


def _record(recorder: AccessRecorder, what: str, token: AccessTokenRecord) -> None:
    recorder.record_operation(
        AuditAction.TOKEN,
        event=what,
        token=token.id,
        principal=token.principal,
        audience=token.audience,
        expires_at=token.expires_at,
    )
