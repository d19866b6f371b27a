"""The configured sources."""

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or_ignore

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import FindingKind, SourceRecord
from knowledge_index.domain.errors import UsageError

_SOURCE = schema.source.c


class Sources:
    """Reads and writes sources."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, name: str, kind: str, root: str, acl_map: str | None) -> None:
        """Add a source.

        Raises:
            UsageError: the name is taken.
        """
        if any(each.name == name for each in self.all()):
            raise UsageError(f"a source named '{name}' exists already; choose another --name")
        self._connection.execute(insert(schema.source).values(name=name, kind=kind, root=root, acl_map=acl_map))

    def all(self) -> list[SourceRecord]:
        """All sources that were not removed, by name."""
        columns = (_SOURCE[name] for name in SourceRecord.__dataclass_fields__)
        statement = select(*columns).where(_SOURCE.removed_at.is_(None)).order_by(_SOURCE.name)
        return [SourceRecord(**row) for row in self._connection.execute(statement).mappings()]

    def set_synced(self, source_id: int, at: str) -> None:
        """Record when a source was last synced."""
        self._connection.execute(update(schema.source).where(_SOURCE.id == source_id).values(last_synced_at=at))

    def remove(self, source_id: int, at: str) -> None:
        """Take a source out; its objects have to have ended. Its rows stay as history, its name is free."""
        self.set_findings(source_id, ())
        self._connection.execute(update(schema.source).where(_SOURCE.id == source_id).values(removed_at=at))

    def set_findings(self, source_id: int, findings: Iterable[tuple[FindingKind, str, str]]) -> None:
        """Replace what the last scan found for operators: (kind, path, reason)."""
        table = schema.scan_finding
        self._connection.execute(delete(table).where(table.c.source_id == source_id))
        rows = [
            {"source_id": source_id, "kind": kind, "path": path, "reason": reason} for kind, path, reason in findings
        ]
        if rows:
            self._connection.execute(insert_or_ignore(table).on_conflict_do_nothing(), rows)
