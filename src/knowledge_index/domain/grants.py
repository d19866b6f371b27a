"""Grants as a source states them, and the scope that they compile to."""

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

    ``acl_class_ids`` may be empty, which means nothing, never everything. ``policy_epoch`` is the catalog's counter at
    the time of compiling; a later change of grants raises it.
    """

    principals: frozenset[Principal]
    acl_class_ids: frozenset[str]
    policy_epoch: int
