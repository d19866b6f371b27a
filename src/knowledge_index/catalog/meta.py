"""Counters and marks of the whole installation."""

import json
from collections.abc import Iterable

from sqlalchemy import Connection, Integer, String, bindparam, cast, select
from sqlalchemy.dialects.sqlite import insert

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of

_VALUE_OF = select(schema.meta.c.value).where(schema.meta.c.key == bindparam("key"))


class Meta:
    """Reads and writes the installation's marks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def policy_epoch(self) -> int:
        """The counter that any change of grants, groups or opened walls raises."""
        return int(self._get("policy_epoch") or 0)

    def raise_policy_epoch(self) -> None:
        """Count one change of grants, groups or opened walls.

        One statement that writes: as the first of a transaction it waits for another writer, where a read before it
        would make SQLite refuse the write.
        """
        statement = insert(schema.meta).values(key="policy_epoch", value="1")
        raised = cast(cast(schema.meta.c.value, Integer) + 1, String)
        self._connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": raised}))

    def index_write_open(self) -> bool:
        """Whether a run began to write to the indexes and did not say that it ended."""
        return self._get("index_write_open") == "yes"

    def set_index_write_open(self, is_open: bool) -> None:
        """Say that index writes begin or have all ended."""
        self._set("index_write_open", "yes" if is_open else "no")

    def row_changes(self) -> int:
        """The counter that every change raises which may take the support of an index row away."""
        return int(self._get("row_changes") or 0)

    def note_row_change(self) -> None:
        """Count one such change, in the transaction that makes it."""
        self._set("row_changes", str(self.row_changes() + 1))

    def rows_are_settled(self) -> bool:
        """Whether every index row is known to be supported by a current object of its own ACL class."""
        return self.row_changes() == int(self._get("row_changes_settled") or 0)

    def set_rows_settled(self) -> None:
        """Say that it is so at this moment."""
        self._set("row_changes_settled", str(self.row_changes()))

    def passage_state(self) -> str:
        """A mark that is another one after every change of what passages there are, and of who may see them.

        With a scope's digest it names a set of visible passages.
        """
        return f"{self.row_changes()}-{self._get('passage_writes') or 0}"

    def note_passage_write(self) -> None:
        """Count a write of passages that took no row's support away, in the transaction that makes it."""
        self._set("passage_writes", str(int(self._get("passage_writes") or 0) + 1))

    def index_intent(self) -> frozenset[str]:
        """Keys of rows that are being written or removed: an index may hold them, the catalog does not."""
        return frozenset(json.loads(self._get("index_intent") or "[]"))

    def set_index_intent(self, row_keys: Iterable[str]) -> None:
        """Record which rows the next index writes are about; none when they are done."""
        self._set("index_intent", json.dumps(sorted(row_keys)))

    def embedding_signature(self) -> str | None:
        """The signature of the vectors in the index, or None before the first."""
        return self._get("embedding_signature")

    def set_embedding_signature(self, signature: str) -> None:
        """Record the signature that the vector index was made with."""
        self._set("embedding_signature", signature)

    def index_makeup(self) -> tuple[str, str] | None:
        """The chunker's signature and the index format that all passages were made with.

        None while passages of two makeups stand side by side, and before the first.
        """
        makeup = json.loads(self._get("index_makeup") or "null")
        return None if makeup is None else (makeup[0], makeup[1])

    def set_index_makeup(self, makeup: tuple[str, str] | None) -> None:
        """Record it."""
        self._set("index_makeup", json.dumps(makeup))

    def _get(self, key: str) -> str | None:
        known: dict[str, str | None] = memory_of(self._connection).facts("marks")
        if key not in known:
            known[key] = self._connection.execute(_VALUE_OF, {"key": key}).scalar_one_or_none()
        return known[key]

    def _set(self, key: str, value: str) -> None:
        statement = insert(schema.meta).values(key=key, value=value)
        self._connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))
