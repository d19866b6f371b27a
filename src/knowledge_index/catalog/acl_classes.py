"""The ACL classes that source objects share."""

import json
from functools import lru_cache

from sqlalchemy import Connection, exists, select
from sqlalchemy.dialects.sqlite import insert

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of
from knowledge_index.catalog.status_records import PathGrants
from knowledge_index.domain.grants import Access, AclClass, Grant
from knowledge_index.domain.principals import Principal

_HAS_OBJECTS = exists().where(
    schema.source_object.c.acl_class_id == schema.acl_class.c.id, schema.source_object.c.state == "current"
)
_HAS_ROWS = exists().where(schema.index_row.c.acl_class_id == schema.acl_class.c.id)
# Built once, as every search asks it.
_IN_USE = (
    select(schema.acl_class.c.id, schema.acl_class.c.grants)
    .where(_HAS_OBJECTS | _HAS_ROWS)
    .order_by(schema.acl_class.c.id)
)


class AclClasses:
    """Reads and writes ACL classes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, acl_class: AclClass) -> None:
        """Store a class; its id names its content, so a known one is left alone."""
        grants = [[str(grant.principal), str(grant.access)] for grant in acl_class.grants]
        statement = insert(schema.acl_class).values(id=acl_class.id, grants=json.dumps(grants, ensure_ascii=False))
        self._connection.execute(statement.on_conflict_do_nothing())

    def in_use(self) -> list[AclClass]:
        """The classes of current source objects and of index rows, by id.

        Those of rows too: between a change of grants and the next run a row still carries the old class, and whoever is
        in both must go on finding it. Who is not is stopped by the object's own class, which decides at the end.
        """
        known: dict[str, list[AclClass]] = memory_of(self._connection).facts("ACL classes")
        if "in use" not in known:
            rows = self._connection.execute(_IN_USE).all()
            known["in use"] = [AclClass(acl_class_id, _grants(grants)) for acl_class_id, grants in rows]
        return list(known["in use"])

    def get(self, acl_class_id: str) -> AclClass:
        """The class of this id, which a source object has."""
        statement = select(schema.acl_class.c.grants).where(schema.acl_class.c.id == acl_class_id)
        return AclClass(acl_class_id, _grants(self._connection.execute(statement).scalar_one()))

    def by_path(self) -> list[PathGrants]:
        """Every current source object with its class, by source and path."""
        statement = (
            select(schema.source.c.name, schema.source_object.c.path, schema.source_object.c.acl_class_id)
            .join(schema.source, schema.source.c.id == schema.source_object.c.source_id)
            .where(schema.source_object.c.state == "current")
            .order_by(schema.source.c.name, schema.source_object.c.path)
        )
        return [PathGrants(*row) for row in self._connection.execute(statement)]

    def grants_by_path(self) -> dict[tuple[str, str], tuple[Grant, ...]]:
        """The grants of every current source object, by (source name, path)."""
        classes = {each.id: each.grants for each in self.in_use()}
        return {(each.source, each.path): classes[each.acl_class_id] for each in self.by_path()}


# A class's grants never change, and every search reads those of all classes.
@lru_cache(maxsize=100_000)
def _grants(text: str) -> tuple[Grant, ...]:
    return tuple(Grant(Principal.parse(principal), Access(access)) for principal, access in json.loads(text))
