"""Bearer tokens: kept as hashes, for one user, one audience and a time; every issue and end is in the log."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.access.tokens import create_token, revoke_token, verify_token
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.domain.errors import AuditLogError, UsageError
from knowledge_index.domain.principals import Principal

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
ANNA = Principal.parse("user:Anna")


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return open_catalog(tmp_path / "catalog.sqlite")


@pytest.fixture
def recorder(tmp_path: Path) -> AccessRecorder:
    return AccessRecorder(AuditLog(tmp_path / "audit.jsonl"), b"key", False, "tester", lambda: NOW)


def test_a_token_holds_for_its_user_its_audience_and_its_time(catalog: Catalog, recorder: AccessRecorder) -> None:
    text = create_token(catalog, recorder, ANNA, "door", NOW + HOUR).text
    found = verify_token(catalog, text, "door", NOW + HOUR - timedelta(microseconds=1))
    assert found is not None
    assert found.principal == ANNA
    assert verify_token(catalog, text, "door", NOW + HOUR) is None
    assert verify_token(catalog, text, "other", NOW) is None


def test_no_changed_character_of_a_token_is_taken(catalog: Catalog, recorder: AccessRecorder) -> None:
    text = create_token(catalog, recorder, ANNA, "door", NOW + HOUR).text
    for place, character in enumerate(text):
        changed = f"{text[:place]}{'b' if character == 'a' else 'a'}{text[place + 1 :]}"
        assert verify_token(catalog, changed, "door", NOW) is None, place
    for other in ("", text[:-1], text + "a", text + "\n", " " + text, text.upper(), "ki_é"):
        assert verify_token(catalog, other, "door", NOW) is None


def test_the_secret_is_kept_nowhere(catalog: Catalog, recorder: AccessRecorder, tmp_path: Path) -> None:
    new = create_token(catalog, recorder, ANNA, "door", NOW + HOUR)
    secret = new.text.split("_", 2)[2]
    catalog.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert new.record.id.encode() in kept
    assert secret.encode() not in kept
    assert secret not in repr(new)


def test_a_revoked_token_holds_no_longer_and_is_revoked_once(catalog: Catalog, recorder: AccessRecorder) -> None:
    kept, ended = (create_token(catalog, recorder, ANNA, "door", NOW + HOUR) for _ in range(2))
    revoke_token(catalog, recorder, ended.record.id)
    assert verify_token(catalog, ended.text, "door", NOW) is None
    assert verify_token(catalog, kept.text, "door", NOW) == kept.record
    for token_id in (ended.record.id, "0" * 16):
        with pytest.raises(UsageError, match="ki tokens list"):
            revoke_token(catalog, recorder, token_id)
    events = [(each.event.action, dict(each.event.details)["event"]) for each in recorder.log.entries()]
    assert events == [
        (AuditAction.TOKEN, "created"),
        (AuditAction.TOKEN, "created"),
        (AuditAction.TOKEN, "revoked"),
    ]


@pytest.mark.parametrize(
    ("principal", "audience", "expires_at"),
    [
        ("group:corporate", "door", NOW + HOUR),
        ("role:partner", "door", NOW + HOUR),
        ("user:anna", "", NOW + HOUR),
        ("user:anna", "a door", NOW + HOUR),
        ("user:anna", "door", NOW),
        ("user:anna", "door", NOW + timedelta(days=366, microseconds=1)),
    ],
)
def test_what_should_not_be_issued_is_refused(
    catalog: Catalog, recorder: AccessRecorder, principal: str, audience: str, expires_at: datetime
) -> None:
    with pytest.raises(UsageError):
        create_token(catalog, recorder, Principal.parse(principal), audience, expires_at)
    with catalog.transaction() as session:
        assert session.access_tokens.all() == []


def test_what_cannot_be_recorded_is_neither_issued_nor_ended(
    catalog: Catalog, recorder: AccessRecorder, tmp_path: Path
) -> None:
    token = create_token(catalog, recorder, ANNA, "door", NOW + HOUR)
    (tmp_path / "no log").mkdir()
    broken = replace(recorder, log=AuditLog(tmp_path / "no log"))
    with pytest.raises(AuditLogError):
        create_token(catalog, broken, ANNA, "door", NOW + HOUR)
    with pytest.raises(AuditLogError):
        revoke_token(catalog, broken, token.record.id)
    with catalog.transaction() as session:
        assert session.access_tokens.all() == [token.record]
