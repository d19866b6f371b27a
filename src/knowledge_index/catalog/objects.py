"""Source objects as the sync engine observes them."""

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select, update

from knowledge_index.catalog import schema
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
        """Record a new current object."""
        self._connection.execute(
            insert(schema.source_object).values(
                source_id=source_id,
                state=ObjectState.CURRENT,
                observed_at=at,
                moved_from_id=moved_from_id,
                **{name: getattr(observed, name) for name in ObservedObject.__dataclass_fields__},
            )
        )

    def end(self, object_ids: Sequence[int], state: ObjectState, at: str) -> None:
        """Supersede or tombstone files, and with each all that is inside it; their rows stay."""
        for object_id in object_ids:
            self._connection.execute(
                update(schema.source_object).where(_OBJECT.id == object_id).values(state=state, ended_at=at)
            )
            self._update_inside(object_id, state=state, ended_at=at)

    def update_hints(self, object_id: int, observed: ObservedObject) -> None:
        """Record a new size, time, inode, spelling or ACL class of unchanged bytes, also for what is inside them."""
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
