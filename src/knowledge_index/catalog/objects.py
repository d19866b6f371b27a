"""Source objects as the sync engine observes them."""

from collections.abc import Sequence

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.meta import Meta
from knowledge_index.catalog.records import ObjectRecord, ObjectState, ObservedObject

_OBJECT = schema.source_object.c


class Objects:
    """Reads and writes the observed states of paths."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def current(self, source_id: int) -> list[ObjectRecord]:
        """The current files of a source, by path; those inside others are no concern of a scan."""
        statement = (
            select(*(_OBJECT[name] for name in ObjectRecord.__dataclass_fields__))
            .where(
                _OBJECT.source_id == source_id,
                _OBJECT.state == ObjectState.CURRENT,
                _OBJECT.container_object_id.is_(None),
            )
            .order_by(_OBJECT.path)
        )
        return [ObjectRecord(**row) for row in self._connection.execute(statement).mappings()]

    def add(self, source_id: int, observed: ObservedObject, at: str, moved_from_id: int | None = None) -> None:
        """Record a new current object.

        ``moved_from_id`` is the object that lay under another path with the same bytes: the two are one file. What
        quarantined it there stays true here. The link is the installation's own; no caller ever sees it.
        """
        carried: dict[str, str | None] = {}
        if moved_from_id is not None:
            origin = select(_OBJECT.quarantine_class, _OBJECT.quarantine_message, _OBJECT.quarantine_converter)
            carried = dict(self._connection.execute(origin.where(_OBJECT.id == moved_from_id)).mappings().one())
        self._connection.execute(
            insert(schema.source_object).values(
                source_id=source_id,
                state=ObjectState.CURRENT,
                observed_at=at,
                moved_from_id=moved_from_id,
                **carried,
                **{name: getattr(observed, name) for name in ObservedObject.__dataclass_fields__},
            )
        )

    def end(self, object_ids: Sequence[int], state: ObjectState, at: str) -> None:
        """Supersede or tombstone files, and with each all that is inside it; their rows stay."""
        if not object_ids:
            return
        Meta(self._connection).note_row_change()
        inside = and_(_OBJECT.outermost_object_id == bindparam("object_id"), _OBJECT.state == ObjectState.CURRENT)
        for ending in (_OBJECT.id == bindparam("object_id"), inside):
            self._connection.execute(
                update(schema.source_object).where(ending).values(state=state, ended_at=at),
                [{"object_id": object_id} for object_id in object_ids],
            )

    def end_all(self, source_id: int, at: str) -> int:
        """Tombstone every current object of a source, contained ones too; returns how many there were."""
        Meta(self._connection).note_row_change()
        statement = update(schema.source_object).where(
            _OBJECT.source_id == source_id, _OBJECT.state == ObjectState.CURRENT
        )
        return self._connection.execute(statement.values(state=ObjectState.TOMBSTONED, ended_at=at)).rowcount

    def update_hints(self, object_id: int, observed: ObservedObject) -> None:
        """Record a new size, time, inode, spelling or ACL class of unchanged bytes, also for what is inside them."""
        Meta(self._connection).note_row_change()
        self._connection.execute(
            update(schema.source_object)
            .where(_OBJECT.id == object_id)
            .values(
                disk_path=observed.disk_path,
                size_bytes=observed.size_bytes,
                mtime_ns=observed.mtime_ns,
                inode=observed.inode,
                acl_class_id=observed.acl_class_id,
            )
        )
        self._update_inside(object_id, disk_path=observed.disk_path, acl_class_id=observed.acl_class_id)

    def set_acl_class(self, object_id: int, acl_class_id: str) -> None:
        """Give a file the grants of another class, and with it all that is inside it."""
        Meta(self._connection).note_row_change()
        self._connection.execute(
            update(schema.source_object).where(_OBJECT.id == object_id).values(acl_class_id=acl_class_id)
        )
        self._update_inside(object_id, acl_class_id=acl_class_id)

    def _update_inside(self, object_id: int, **values: str) -> None:
        """What is inside a file lives and dies with it, under its grants: in the same transaction, or it would leak."""
        self._connection.execute(
            update(schema.source_object)
            .where(_OBJECT.outermost_object_id == object_id, _OBJECT.state == ObjectState.CURRENT)
            .values(**values)
        )
