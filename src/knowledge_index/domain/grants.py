"""Grants as a source states them, and the scope that they compile to."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.domain.principals import Principal


class Access(StrEnum):
    """What a grant says; anything else a source states is refused."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, order=True)
class Grant:
    """One principal allowed or denied."""

    principal: Principal
    access: Access


@dataclass(frozen=True)
class AclClass:
    """The normalised grants of a source object; many objects share one.

    ``id`` is the SHA-256 of the grants' canonical JSON; ``grants`` are sorted and distinct. A class without grants is
    visible to nobody.
    """

    id: str
    grants: tuple[Grant, ...]


@dataclass(frozen=True)
class Scope:
    """What one caller may see, compiled before any ranking.

    ``principals`` are those that the caller stated; the groups and roles that follow from them are expanded anew
    whenever a scope is compiled. ``acl_class_ids`` may be empty, which means nothing, never everything.
    ``policy_epoch`` is the catalog's counter at the time of compiling; a later change of grants, groups or opened walls
    raises it. ``opening_ids`` name the walls that are open for this caller by break-glass; their classes are among
    ``acl_class_ids``.
    """

    principals: frozenset[Principal]
    acl_class_ids: frozenset[str]
    policy_epoch: int
    opening_ids: frozenset[int] = frozenset()

    @property
    def digest(self) -> str:
        """What a cache key has of the scope: SHA-256 (hex) over epoch, sorted principals and sorted class ids.

        One item a line; no principal holds a line feed, and no class id a colon, which every principal has.
        """
        lines = [str(self.policy_epoch), *map(str, sorted(self.principals)), *sorted(self.acl_class_ids)]
        return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()
