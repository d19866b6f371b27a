"""The groups and roles that follow from what a caller states."""

from dataclasses import dataclass

from knowledge_index.catalog import CatalogSession
from knowledge_index.domain.principals import Principal, PrincipalKind


@dataclass(frozen=True)
class ActingPrincipal:
    """A principal that a caller acts under, and the memberships that lead to it.

    ``chain`` begins with what the caller stated and ends with ``principal``; it is one of the shortest.
    """

    principal: Principal
    chain: tuple[Principal, ...]


def expand(session: CatalogSession, stated: frozenset[Principal]) -> dict[Principal, ActingPrincipal]:
    """All that callers who state these principals act under: themselves, their groups, the groups of these, roles.

    A cycle of groups makes its members one another's and ends there.
    """
    acting = {each: ActingPrincipal(each, (each,)) for each in stated}
    frontier = stated
    while frontier:
        found: set[Principal] = set()
        for member, container in session.principals.memberships(frontier):
            if container not in acting:
                acting[container] = ActingPrincipal(container, (*acting[member].chain, container))
                found.add(container)
        frontier = frozenset(found)
    return acting


def caller_notes(session: CatalogSession, stated: frozenset[Principal]) -> tuple[str, ...]:
    """What has to be said of a caller who is not a person with all her groups from the store and no other."""
    users = frozenset(each for each in stated if each.kind is PrincipalKind.USER)
    unknown = users - session.principals.known(users)
    notes = [f"{each} is in no groups file and acts for herself alone" for each in sorted(unknown)]
    others = sorted(stated - users)
    if not users:
        kinds = " and ".join(f"a {kind}" for kind in PrincipalKind if any(each.kind is kind for each in others))
        notes.append(f"acting as {kinds}, not as a person")
    elif unsupported := [each for each in others if each not in expand(session, users)]:
        notes.append(f"{', '.join(map(str, unsupported))}: stated by the call, not known from the groups file")
    return tuple(notes)
