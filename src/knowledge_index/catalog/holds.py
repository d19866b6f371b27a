"""Disappearances that are not believed yet."""

from sqlalchemy import Connection, delete, insert, select

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import DeletionHold

_HOLD = schema.deletion_hold.c
_HELD = schema.held_object.c


class Holds:
    """Reads and writes the hold of each source, at most one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, source_id: int) -> DeletionHold | None:
        """The hold of a source, if there is one."""
        row = self._connection.execute(select(_HOLD.since, _HOLD.scans).where(_HOLD.source_id == source_id)).first()
        if row is None:
            return None
        held = self._connection.execute(select(_HELD.object_id).where(_HELD.source_id == source_id)).scalars()
        return DeletionHold(row.since, row.scans, frozenset(held))

    def set(self, source_id: int, hold: DeletionHold | None) -> None:
        """Replace the hold of a source; None lifts it."""
        if self.get(source_id) == hold:
            return
        self._connection.execute(delete(schema.held_object).where(_HELD.source_id == source_id))
        self._connection.execute(delete(schema.deletion_hold).where(_HOLD.source_id == source_id))
        if hold is None:
            return
        self._connection.execute(
            insert(schema.deletion_hold).values(source_id=source_id, since=hold.since, scans=hold.scans)
        )
        self._connection.execute(
            insert(schema.held_object),
            [{"object_id": object_id, "source_id": source_id} for object_id in sorted(hold.object_ids)],
        )
