"""The bearer tokens that were issued; the secrets themselves are nowhere."""

from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.status_records import AccessTokenRecord
from knowledge_index.domain.principals import Principal

_TOKEN = schema.access_token.c
_TOKENS = select(*(_TOKEN[name] for name in AccessTokenRecord.__dataclass_fields__)).order_by(
    _TOKEN.created_at, _TOKEN.id
)


class AccessTokens:
    """Reads and writes tokens; all times are UTC, ISO 8601 with microseconds."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, token: AccessTokenRecord) -> None:
        """Keep a new token."""
        self._connection.execute(
            insert(schema.access_token).values(**{**vars(token), "principal": str(token.principal)})
        )

    def get(self, token_id: str) -> AccessTokenRecord | None:
        """The token of this id, whatever its state."""
        row = self._connection.execute(_TOKENS.where(_TOKEN.id == token_id)).one_or_none()
        return None if row is None else _record(row)

    def all(self) -> list[AccessTokenRecord]:
        """All tokens ever issued, oldest first."""
        return [_record(row) for row in self._connection.execute(_TOKENS)]

    def revoke(self, token_id: str, at: str) -> bool:
        """End a token; False where there is none of this id that is not revoked yet."""
        statement = (
            update(schema.access_token).where(_TOKEN.id == token_id, _TOKEN.revoked_at.is_(None)).values(revoked_at=at)
        )
        return self._connection.execute(statement.returning(_TOKEN.id)).one_or_none() is not None


def _record(row: Row[Any]) -> AccessTokenRecord:
    values = dict(zip(AccessTokenRecord.__dataclass_fields__, row, strict=True))
    return AccessTokenRecord(**{**values, "principal": Principal.parse(values["principal"])})
