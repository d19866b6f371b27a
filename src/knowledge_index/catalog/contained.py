"""Files inside others: what a conversion found, and the objects made of it."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, func, insert, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.meta import Meta
from knowledge_index.catalog.records import ContainedFileRecord, ContainedObject, ObjectError, ObjectState

_OBJECT = schema.source_object.c
_FILE = schema.contained_file.c


class Contained:
    """Reads and writes contained files."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put_files(self, document_id: int, files: Sequence[ContainedFileRecord]) -> None:
        """Record what a new conversion found, in its order."""
        if files:
            fields = ContainedFileRecord.__dataclass_fields__
            self._connection.execute(
                insert(schema.contained_file),
                [
                    {"converted_document_id": document_id, "position": position}
                    | {name: getattr(each, name) for name in fields}
                    for position, each in enumerate(files)
                ],
            )

    def files(self, document_id: int) -> list[ContainedFileRecord]:
        """What a conversion found, in its order."""
        statement = (
            select(*(_FILE[name] for name in ContainedFileRecord.__dataclass_fields__))
            .where(_FILE.converted_document_id == document_id)
            .order_by(_FILE.position)
        )
        return [ContainedFileRecord(**row) for row in self._connection.execute(statement).mappings()]

    def failed_file(self, container_object_id: int, name: str) -> ContainedFileRecord | None:
        """What the container's conversion says of the file of that name, if that has no text."""
        statement = (
            select(*(_FILE[field] for field in ContainedFileRecord.__dataclass_fields__))
            .join(schema.source_object, _OBJECT.converted_document_id == _FILE.converted_document_id)
            .where(_OBJECT.id == container_object_id, _FILE.name == name, _FILE.error_class.is_not(None))
        )
        row = self._connection.execute(statement).mappings().first()
        return None if row is None else ContainedFileRecord(**row)

    def set_error(self, container_object_id: int, name: str, error: ObjectError) -> None:
        """Record that a contained file has no text, so that the same container's is not tried again elsewhere.

        What the container itself says of the file stays.
        """
        document_id = select(_OBJECT.converted_document_id).where(_OBJECT.id == container_object_id).scalar_subquery()
        stated = _FILE.error_class.is_not(None) & _FILE.error_converter.is_(None)
        self._connection.execute(
            update(schema.contained_file)
            .where(_FILE.converted_document_id == document_id, _FILE.name == name, ~stated)
            .values(error_class=error.error_class, error_message=error.message, error_converter=error.converter)
        )

    def object_key_of(self, object_id: int) -> str:
        """The object key of a container, of which those of its files are made."""
        return str(self._connection.execute(select(_OBJECT.object_key).where(_OBJECT.id == object_id)).scalar_one())

    def size_around(self, outermost_object_id: int, container_object_id: int) -> tuple[int, int]:
        """Count and bytes of the current objects that lie in a file on disk, but not directly in that container."""
        statement = select(func.count(), func.coalesce(func.sum(_OBJECT.size_bytes), 0)).where(
            _OBJECT.outermost_object_id == outermost_object_id,
            _OBJECT.container_object_id != container_object_id,
            _OBJECT.state == ObjectState.CURRENT,
        )
        count, size_bytes = self._connection.execute(statement).one()
        return int(count), int(size_bytes)

    def renew(self, container_object_id: int, wanted: Sequence[ContainedObject]) -> set[str]:
        """Bring the objects inside a container to what its conversion found; returns the paths that are new.

        They have the grants, the source and the place on disk that the container has at this moment. One whose bytes
        are as before stays as it is; another state of a name supersedes the one before.
        """
        container = self._connection.execute(
            select(schema.source_object, schema.source.c.last_synced_at)
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .where(_OBJECT.id == container_object_id)
        ).one()
        at = container.last_synced_at or container.observed_at
        held = {
            row.path: row
            for row in self._connection.execute(
                select(_OBJECT.id, _OBJECT.path, _OBJECT.blob_sha256).where(
                    _OBJECT.container_object_id == container_object_id, _OBJECT.state == ObjectState.CURRENT
                )
            )
        }
        missing = []
        for each in wanted:
            before = held.pop(each.path, None)
            if before is not None and before.blob_sha256 == each.blob_sha256:
                continue
            if before is not None:
                self._end([before.id], ObjectState.SUPERSEDED, at)
            missing.append(each)
        self._end([row.id for row in held.values()], ObjectState.TOMBSTONED, at)
        if missing:
            self._connection.execute(
                insert(schema.source_object),
                [
                    {
                        "source_id": container.source_id,
                        "path": each.path,
                        "disk_path": container.disk_path,
                        "object_key": each.object_key,
                        "state": ObjectState.CURRENT,
                        "blob_sha256": each.blob_sha256,
                        "size_bytes": each.size_bytes,
                        "mtime_ns": container.mtime_ns,
                        "inode": container.inode,
                        "acl_class_id": container.acl_class_id,
                        "observed_at": at,
                        "container_object_id": container.id,
                        "outermost_object_id": container.outermost_object_id or container.id,
                        "contained_depth": container.contained_depth + 1,
                        "quarantine_class": each.error.error_class if each.error else None,
                        "quarantine_message": each.error.message if each.error else None,
                        "quarantine_converter": each.error.converter if each.error else None,
                    }
                    for each in missing
                ],
            )
        return {each.path for each in missing}

    def _end(self, object_ids: Iterable[int], state: ObjectState, at: str) -> None:
        """End objects, and all that lies in them."""
        for object_id in object_ids:
            Meta(self._connection).note_passage_write()
            self._connection.execute(
                update(schema.source_object).where(_OBJECT.id == object_id).values(state=state, ended_at=at)
            )
            inside = select(_OBJECT.id).where(
                _OBJECT.container_object_id == object_id, _OBJECT.state == ObjectState.CURRENT
            )
            self._end(list(self._connection.execute(inside).scalars()), state, at)
