"""Compiles what a caller may see."""

from knowledge_index.catalog import CatalogSession
from knowledge_index.domain.grants import Access, AclClass, Scope
from knowledge_index.domain.principals import Principal


def compile_scope(session: CatalogSession, principals: frozenset[Principal]) -> Scope:
    """The scope of a caller who acts under all of ``principals`` at once, as the catalog has it at this moment."""
    visible = frozenset(each.id for each in session.acl_classes.in_use() if is_visible(each, principals))
    return Scope(principals, visible, session.meta.policy_epoch())


def is_visible(acl_class: AclClass, principals: frozenset[Principal]) -> bool:
    """Whether a grant allows one of the principals and none denies any of them; no grants means no."""
    named = [grant.access for grant in acl_class.grants if grant.principal in principals]
    return Access.ALLOW in named and Access.DENY not in named
