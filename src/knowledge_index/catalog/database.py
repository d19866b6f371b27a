"""Opens the catalog and hands out transactions on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DatabaseError

from knowledge_index.catalog import schema
from knowledge_index.catalog.acl_classes import AclClasses
from knowledge_index.catalog.conversions import Conversions
from knowledge_index.catalog.meta import Meta
from knowledge_index.catalog.objects import Objects
from knowledge_index.catalog.passages import Passages
from knowledge_index.catalog.pipeline_objects import PipelineObjects
from knowledge_index.catalog.sources import Sources
from knowledge_index.catalog.status import Status
from knowledge_index.domain.errors import IndexStateError


class CatalogSession:
    """The repositories over one transaction."""

    def __init__(self, connection: Connection) -> None:
        self.meta = Meta(connection)
        self.sources = Sources(connection)
        self.acl_classes = AclClasses(connection)
        self.objects = Objects(connection)
        self.pipeline_objects = PipelineObjects(connection)
        self.conversions = Conversions(connection)
        self.passages = Passages(connection)
        self.status = Status(connection)


class Catalog:
    """The system of record of one installation."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def transaction(self) -> Iterator[CatalogSession]:
        """A transaction that commits when the block ends and rolls back when it raises."""
        with self._engine.begin() as connection:
            yield CatalogSession(connection)

    def close(self) -> None:
        """Release the file."""
        self._engine.dispose()


def open_catalog(file: Path) -> Catalog:
    """Open the catalog, making it where it does not exist.

    Raises:
        IndexStateError: the file is no catalog of this version.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": 30})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    try:
        with engine.begin() as connection:
            schema.metadata.create_all(connection)
            connection.execute(
                insert(schema.meta).values(key="schema_version", value=schema.SCHEMA_VERSION).on_conflict_do_nothing()
            )
            version = connection.execute(
                select(schema.meta.c.value).where(schema.meta.c.key == "schema_version")
            ).scalar_one()
    except DatabaseError as error:
        raise IndexStateError(
            f"{file}: cannot be opened as a catalog: {error.orig}; restore it from a backup or choose another --home"
        ) from error
    if version != schema.SCHEMA_VERSION:
        raise IndexStateError(
            f"{file}: the catalog has schema {version}, this program needs {schema.SCHEMA_VERSION}; "
            "sync and run again into another --home"
        )
    return Catalog(engine)


def _configure(connection: Any, _record: Any) -> None:
    # The driver's own transaction handling would commit before DDL and delay BEGIN; SQLAlchemy emits it instead.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
