"""Walls that were opened for a time."""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, insert, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of
from knowledge_index.catalog.status_records import NewOpening, WallOpening
from knowledge_index.domain.principals import Principal

_OPENING = schema.wall_opening.c
_FIELDS = tuple(WallOpening.__dataclass_fields__)
_OPENINGS = select(*(_OPENING[name] for name in _FIELDS)).order_by(_OPENING.id)
_IS_IN_FORCE = (
    _OPENING.revoked_at.is_(None),
    _OPENING.opened_at <= bindparam("at"),
    _OPENING.expires_at > bindparam("at"),
)
_IS_EXPIRED = (_OPENING.end_recorded == 0, _OPENING.expires_at <= bindparam("at"))
# Built once, as every search asks both.
_NOT_REVOKED = _OPENINGS.where(_OPENING.revoked_at.is_(None))
_UNRECORDED = _OPENINGS.where(_OPENING.end_recorded == 0)


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
        return [
            each
            for each in self._remembered("not revoked", _NOT_REVOKED)
            if each.opened_at <= at < each.expires_at and each.principal in principals
        ]

    def all(self) -> list[WallOpening]:
        """All openings ever, by id."""
        return self._read(_OPENINGS)

    def expired_unrecorded(self, at: str) -> list[WallOpening]:
        """The openings whose time is over and whose end nobody has recorded, by id."""
        return [each for each in self._remembered("unrecorded", _UNRECORDED) if each.expires_at <= at]

    def claim_expired(self, at: str) -> list[WallOpening]:
        """Mark the end of those openings as recorded, and return them; nobody else gets one of them again."""
        statement = (
            update(schema.wall_opening)
            .where(*_IS_EXPIRED)
            .values(end_recorded=1)
            .returning(*(_OPENING[name] for name in _FIELDS))
        )
        return sorted(
            (_opening(row) for row in self._connection.execute(statement, {"at": at})), key=lambda each: each.id
        )

    def revoke(self, opening_id: int, at: str) -> WallOpening | None:
        """Close an opening that is in force; None where there is none of this id in force."""
        statement = (
            update(schema.wall_opening)
            .where(_OPENING.id == opening_id, *_IS_IN_FORCE)
            .values(revoked_at=at, end_recorded=1)
            .returning(*(_OPENING[name] for name in _FIELDS))
        )
        row = self._connection.execute(statement, {"at": at}).one_or_none()
        return None if row is None else _opening(row)

    def _remembered(self, name: str, statement: Select[Any]) -> list[WallOpening]:
        known: dict[str, list[WallOpening]] = memory_of(self._connection).facts("wall openings")
        if name not in known:
            known[name] = self._read(statement)
        return known[name]

    def _read(self, statement: Select[Any]) -> list[WallOpening]:
        return [_opening(row) for row in self._connection.execute(statement).all()]


def _opening(row: Row[Any]) -> WallOpening:
    values = dict(zip(_FIELDS, row, strict=True))
    values["principal"] = Principal.parse(values["principal"])
    values["acl_class_ids"] = tuple(json.loads(values["acl_class_ids"]))
    return WallOpening(**values)
