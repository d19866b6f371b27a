"""The configured sources."""

from sqlalchemy import Connection, insert, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import SourceRecord
from knowledge_index.domain.errors import UsageError


class Sources:
    """Reads and writes sources."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, name: str, kind: str, root: str, acl_map: str | None) -> None:
        """Add a source.

        Raises:
            UsageError: the name is taken.
        """
        if self._connection.execute(select(schema.source.c.id).where(schema.source.c.name == name)).first():
            raise UsageError(f"a source named '{name}' exists already; choose another --name")
        self._connection.execute(insert(schema.source).values(name=name, kind=kind, root=root, acl_map=acl_map))

    def all(self) -> list[SourceRecord]:
        """All sources, by name."""
        rows = self._connection.execute(select(schema.source).order_by(schema.source.c.name)).mappings()
        return [SourceRecord(**row) for row in rows]

    def set_synced(self, source_id: int, at: str) -> None:
        """Record when a source was last synced."""
        self._connection.execute(update(schema.source).where(schema.source.c.id == source_id).values(last_synced_at=at))
