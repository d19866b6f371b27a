"""Walls that were opened for a time."""

import json
from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, insert, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import NewOpening, WallOpening
from knowledge_index.domain.principals import Principal

_OPENING = schema.wall_opening.c
_FIELDS = tuple(WallOpening.__dataclass_fields__)


class WallOpenings:
    """Reads and writes openings; all times are UTC, ISO 8601 with microseconds."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, opening: NewOpening) -> int:
        """Keep a new opening; returns its id, which no other will ever have."""
        statement = insert(schema.wall_opening).values(
            principal=str(opening.principal),
            acl_class_ids=json.dumps(opening.acl_class_ids),
            **{name: getattr(opening, name) for name in ("source", "path", "reason", "opened_at", "expires_at")},
        )
        return int(self._connection.execute(statement.returning(_OPENING.id)).scalar_one())

    def in_force(self, principals: Collection[Principal], at: str) -> list[WallOpening]:
        """The openings for one of these principals that have begun, are not over and were not revoked, by id."""
        return [each for each in self._where(*_in_force_at(at)) if each.principal in principals]

    def all(self) -> list[WallOpening]:
        """All openings ever, by id."""
        return self._where()

    def expired_unrecorded(self, at: str) -> list[WallOpening]:
        """The openings whose time is over and whose end nobody has recorded, by id."""
        return self._where(_OPENING.end_recorded == 0, _OPENING.expires_at <= at)

    def claim_expired(self, at: str) -> list[WallOpening]:
        """Mark the end of those openings as recorded, and return them; nobody else gets one of them again."""
        statement = (
            update(schema.wall_opening)
            .where(_OPENING.end_recorded == 0, _OPENING.expires_at <= at)
            .values(end_recorded=1)
            .returning(*(_OPENING[name] for name in _FIELDS))
        )
        return sorted((_opening(row) for row in self._connection.execute(statement)), key=lambda each: each.id)

    def revoke(self, opening_id: int, at: str) -> WallOpening | None:
        """Close an opening that is in force; None where there is none of this id in force."""
        statement = (
            update(schema.wall_opening)
            .where(_OPENING.id == opening_id, *_in_force_at(at))
            .values(revoked_at=at, end_recorded=1)
            .returning(*(_OPENING[name] for name in _FIELDS))
        )
        row = self._connection.execute(statement).one_or_none()
        return None if row is None else _opening(row)

    def _where(self, *conditions: ColumnElement[bool]) -> list[WallOpening]:
        statement = select(*(_OPENING[name] for name in _FIELDS)).where(*conditions).order_by(_OPENING.id)
        return [_opening(row) for row in self._connection.execute(statement)]


def _in_force_at(at: str) -> tuple[ColumnElement[bool], ...]:
    return _OPENING.revoked_at.is_(None), _OPENING.opened_at <= at, _OPENING.expires_at > at


def _opening(row: object) -> WallOpening:
    values = dict(zip(_FIELDS, row, strict=True))  # type: ignore[call-overload]
    values["principal"] = Principal.parse(values["principal"])
    values["acl_class_ids"] = tuple(json.loads(values["acl_class_ids"]))
    return WallOpening(**values)
