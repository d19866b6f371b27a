"""What a connection to the catalog remembers of it, for as long as nothing in it has changed."""

import sqlite3
from collections import OrderedDict
from typing import Any

from sqlalchemy import Connection

_MEMORY = "memory"
_MOST_KINDS = 48
_MOST_FACTS = 50_000


class Memory:
    """Facts that one connection has read, by kind and key.

    SQLite tells whether anything was committed since they were read: ``PRAGMA data_version`` is another one after a
    commit of any other connection, of this process or another, and ``total_changes`` after every change of this
    connection's own. They are compared once a transaction, inside it, so that what is remembered is what the
    transaction's own snapshot holds; after a write of its own a transaction remembers nothing.

    Facts are raw, or name in their kind the ACL classes that they were made for: who may see them is decided by whoever
    asks, at every call.
    """

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver
        self._state: tuple[int, int] | None = None
        self._changes_before = 0
        self._has_compared = False
        self._facts: OrderedDict[object, dict[Any, Any]] = OrderedDict()

    def begin(self) -> None:
        """A transaction begins; nothing is read for it, since one that writes first must not read before."""
        self._changes_before = self._driver.total_changes
        self._has_compared = False

    def facts(self, kind: object, most: int = _MOST_FACTS) -> dict[Any, Any]:
        """What is known of this kind, by key; what is added to it is remembered.

        Beyond ``most`` facts a kind begins anew, and beyond some kinds the one that was not asked for longest goes.
        """
        changes = self._driver.total_changes
        if changes != self._changes_before:
            return {}
        if not self._has_compared:
            state = (int(self._driver.execute("PRAGMA data_version").fetchone()[0]), changes)
            if state != self._state:
                self._facts.clear()
                self._state = state
            self._has_compared = True
        held = self._facts.get(kind)
        if held is None or len(held) > most:
            held = self._facts[kind] = {}
        self._facts.move_to_end(kind)
        if len(self._facts) > _MOST_KINDS:
            self._facts.popitem(last=False)
        return held


def attach_memory(info: dict[Any, Any], driver: sqlite3.Connection) -> None:
    """Give a new connection its memory."""
    info[_MEMORY] = Memory(driver)


def memory_of(connection: Connection) -> Memory:
    """The memory of the connection."""
    memory: Memory = connection.info[_MEMORY]
    return memory
