"""Compiles what a caller may see."""

from collections.abc import Collection
from datetime import UTC, datetime

from knowledge_index.access.expansion import expand
from knowledge_index.catalog import CatalogSession
from knowledge_index.domain.grants import Access, AclClass, Scope
from knowledge_index.domain.principals import Principal


def compile_scope(session: CatalogSession, principals: frozenset[Principal], at: datetime | None = None) -> Scope:
    """The scope of a caller who acts under all of ``principals`` and their groups, as the catalog has it now.

    Walls that are open for one of ``principals`` at the moment ``at`` are open; without a moment, none is.
    """
    acting = expand(session, principals)
    in_use = session.acl_classes.in_use()
    openings = [] if at is None else session.wall_openings.in_force(principals, instant(at))
    opened = {acl_class_id for opening in openings for acl_class_id in opening.acl_class_ids}
    # A break-glass grant stands above a denial: to get behind a wall is what it is for.
    visible = frozenset(each.id for each in in_use if each.id in opened or is_visible(each, acting.keys()))
    return Scope(principals, visible, session.meta.policy_epoch(), frozenset(opening.id for opening in openings))


def is_visible(acl_class: AclClass, principals: Collection[Principal]) -> bool:
    """Whether a grant allows one of the principals and none denies any of them; no grants means no."""
    named = [grant.access for grant in acl_class.grants if grant.principal in principals]
    return Access.ALLOW in named and Access.DENY not in named


def instant(at: datetime) -> str:
    """The moment as the catalog and the audit log keep it: UTC, ISO 8601 with microseconds, which sort as text."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
