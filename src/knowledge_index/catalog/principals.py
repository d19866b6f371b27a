"""The known principals and what they belong to."""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, delete, insert, select

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of
from knowledge_index.domain.principals import Declaration, Principal

_NAME = schema.principal.c.name
_MEMBERSHIP = schema.principal_membership.c
_SQL_VARIABLES = 500
# Built once: a search follows memberships level by level, and making a statement takes longer than running it.
_MEMBERSHIPS_OF = select(_MEMBERSHIP.member, _MEMBERSHIP.container).where(
    _MEMBERSHIP.member.in_(bindparam("members", expanding=True))
)


class Principals:
    """Reads and replaces the store of groups."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def replace(self, declarations: Collection[Declaration]) -> None:
        """Forget all declarations and keep these, one for each principal."""
        self._connection.execute(delete(schema.principal_membership))
        self._connection.execute(delete(schema.principal))
        names = [{"name": str(each.principal)} for each in declarations]
        memberships = [
            {"member": str(each.principal), "container": str(container)}
            for each in declarations
            for container in sorted(each.member_of)
        ]
        if names:
            self._connection.execute(insert(schema.principal), names)
        if memberships:
            self._connection.execute(insert(schema.principal_membership), memberships)

    def known(self, principals: Collection[Principal]) -> frozenset[Principal]:
        """Those of the principals that are declared."""
        found: set[Principal] = set()
        for part in _parts(principals):
            rows = self._connection.execute(select(_NAME).where(_NAME.in_(part)))
            found.update(Principal.parse(name) for name in rows.scalars())
        return frozenset(found)

    def memberships(self, members: Collection[Principal]) -> list[tuple[Principal, Principal]]:
        """Each (member, group or role) that is declared for these members, sorted."""
        known: dict[frozenset[Principal], list[tuple[Principal, Principal]]] = memory_of(self._connection).facts(
            "memberships"
        )
        asked = frozenset(members)
        if asked not in known:
            found = []
            for part in _parts(asked):
                rows = self._connection.execute(_MEMBERSHIPS_OF, {"members": part}).all()
                found += [(Principal.parse(member), Principal.parse(container)) for member, container in rows]
            known[asked] = sorted(found)
        return list(known[asked])

    def all(self) -> list[Declaration]:
        """All declarations, by principal."""
        member_of: dict[str, set[Principal]] = {name: set() for name in self._connection.scalars(select(_NAME))}
        for member, container in self._connection.execute(select(_MEMBERSHIP.member, _MEMBERSHIP.container)):
            member_of[member].add(Principal.parse(container))
        declared = (Declaration(Principal.parse(name), frozenset(groups)) for name, groups in member_of.items())
        return sorted(declared, key=lambda each: each.principal)


def _parts(principals: Collection[Principal]) -> list[list[str]]:
    """The principals as texts, sorted, in lists that fit one statement."""
    names = sorted(map(str, principals))
    return [names[start : start + _SQL_VARIABLES] for start in range(0, len(names), _SQL_VARIABLES)]
