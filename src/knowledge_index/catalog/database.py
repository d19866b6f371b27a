"""Opens the catalog and hands out transactions on it."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, select
from sqlalchemy.exc import DatabaseError, OperationalError

from knowledge_index.catalog import schema
from knowledge_index.catalog.access_tokens import AccessTokens
from knowledge_index.catalog.acl_classes import AclClasses
from knowledge_index.catalog.changes import Changes
from knowledge_index.catalog.contained import Contained
from knowledge_index.catalog.conversions import Conversions
from knowledge_index.catalog.documents import Documents
from knowledge_index.catalog.holds import Holds
from knowledge_index.catalog.leaves import Leaves
from knowledge_index.catalog.mails import Mails
from knowledge_index.catalog.memory import attach_memory, memory_of
from knowledge_index.catalog.meta import Meta
from knowledge_index.catalog.objects import Objects
from knowledge_index.catalog.occurrences import Occurrences
from knowledge_index.catalog.passages import Passages
from knowledge_index.catalog.pipeline_objects import PipelineObjects
from knowledge_index.catalog.principals import Principals
from knowledge_index.catalog.properties import Properties
from knowledge_index.catalog.sources import Sources
from knowledge_index.catalog.status import Status
from knowledge_index.catalog.versions import Versions
from knowledge_index.catalog.wall_openings import WallOpenings
from knowledge_index.domain.errors import BusyError, IndexStateError, KnowledgeIndexError, PreconditionError
from knowledge_index.domain.principals import CANONICAL_VERSION

_VERSION_KEY = "schema_version"
_CANONICAL_KEY = "canonical_version"
_PAGE_CACHE_KIB = 64 * 1024


class CatalogSession:
    """The repositories over one transaction."""

    def __init__(self, connection: Connection) -> None:
        self.meta = Meta(connection)
        self.sources = Sources(connection)
        self.acl_classes = AclClasses(connection)
        self.objects = Objects(connection)
        self.holds = Holds(connection)
        self.pipeline_objects = PipelineObjects(connection)
        self.conversions = Conversions(connection)
        self.contained = Contained(connection)
        self.mails = Mails(connection)
        self.changes = Changes(connection)
        self.passages = Passages(connection)
        self.occurrences = Occurrences(connection)
        self.documents = Documents(connection)
        self.leaves = Leaves(connection)
        self.properties = Properties(connection)
        self.principals = Principals(connection)
        self.access_tokens = AccessTokens(connection)
        self.wall_openings = WallOpenings(connection)
        self.status = Status(connection)
        self.versions = Versions(connection)


class Catalog:
    """The system of record of one installation."""

    def __init__(self, file: Path, engine: Engine) -> None:
        self._file = file
        self._engine = engine

    @contextmanager
    def transaction(self) -> Iterator[CatalogSession]:
        """A transaction that commits when the block ends and rolls back when it raises.

        Raises:
            IndexStateError: the file is damaged, or cannot be read or written, or its disk is full.
            BusyError: another process holds the file for longer than is waited for.
        """
        with _explained(self._file), self._engine.begin() as connection:
            yield CatalogSession(connection)

    def close(self) -> None:
        """Release the file."""
        self._engine.dispose()


def open_catalog(file: Path) -> Catalog:
    """Open the catalog, making it where it does not exist; what an existing one holds is left alone.

    Raises:
        IndexStateError: the file is no catalog of this version, is damaged, or cannot be opened.
        BusyError: another process holds the file for longer than is waited for.
    """
    if not file.exists():
        _create(file)
    engine = _engine_over(file)
    try:
        with _explained(file), engine.begin() as connection:
            _refuse_another_schema(file, connection)
    except KnowledgeIndexError:
        engine.dispose()
        raise
    return Catalog(file, engine)


def _create(file: Path) -> None:
    # Made aside and linked, so that two first runs at the same moment make one catalog, and neither sees half of one.
    with _explained(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    with _explained(file), TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as aside:
        new = Path(aside) / file.name
        engine = _engine_over(new)
        with engine.begin() as connection:
            schema.metadata.create_all(connection)
            versions = {_VERSION_KEY: schema.SCHEMA_VERSION, _CANONICAL_KEY: CANONICAL_VERSION}
            connection.execute(insert(schema.meta), [{"key": key, "value": value} for key, value in versions.items()])
        engine.dispose()
        with suppress(FileExistsError):
            os.link(new, file)


def _refuse_another_schema(file: Path, connection: Connection) -> None:
    if not inspect(connection).has_table(schema.meta.name):
        raise IndexStateError(f"{file}: is no catalog; restore it from a backup or choose another --home")
    version = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == _VERSION_KEY)).scalar()
    if version != schema.SCHEMA_VERSION:
        raise IndexStateError(
            f"{file}: the catalog has schema {version}, this program needs {schema.SCHEMA_VERSION}; "
            "sync and run again into another --home"
        )
    canonical = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == _CANONICAL_KEY)).scalar()
    if canonical != CANONICAL_VERSION:
        raise IndexStateError(
            f"{file}: its principals are spelled by canonical version {canonical}, this program spells them by "
            f"{CANONICAL_VERSION}, so that grants might meet nobody; sync and run again into another --home"
        )


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """What a person can act on, in place of the driver's errors about the file; errors of ours stay what they are."""
    try:
        yield
    except DatabaseError as error:
        if type(error) not in (DatabaseError, OperationalError):
            raise
        raise _told(file, error) from error
    except OSError as error:
        raise IndexStateError(
            f"{file}: cannot be made: {error.strerror or error}; make its folder writable for this user and free "
            "its disk if it is full, or choose another --home"
        ) from error


def _told(file: Path, error: DatabaseError) -> PreconditionError:
    # An extended code has the primary one in its low byte.
    match getattr(error.orig, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return IndexStateError(
                f"{file}: the disk is full ({error.orig}); free some space and run the same command again: "
                "what was finished is kept"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return BusyError(f"{file}: another process holds the catalog ({error.orig}); wait until it has ended")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_IOERR:
            return IndexStateError(
                f"{file}: the catalog cannot be read or written ({error.orig}); it needs this user's permission to "
                "write to the file and its folder, for searches too, and a disk that works"
            )
    return IndexStateError(
        f"{file}: cannot be used as a catalog: {error.orig}; restore it from a backup or choose another --home"
    )


def _engine_over(file: Path) -> Engine:
    # The connection that was used last remembers most.
    engine = create_engine(URL.create("sqlite", database=str(file)), connect_args={"timeout": 30}, pool_use_lifo=True)
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: Any, record: Any) -> None:
    # The driver's own transaction handling would commit before DDL and delay BEGIN; SQLAlchemy emits it instead.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"cache_size=-{_PAGE_CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}")
    attach_memory(record.info, connection)


def _begin(connection: Connection) -> None:
    memory_of(connection).begin()
    connection.exec_driver_sql("BEGIN")
