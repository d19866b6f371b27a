"""From principals and grants to ACL classes to the scope of a caller, and the log of who used it."""

from knowledge_index.access.acl_classes import acl_class_of, grants_sha256
from knowledge_index.access.expansion import caller_notes, expand
from knowledge_index.access.scope import compile_scope, is_visible

__all__ = ["acl_class_of", "caller_notes", "compile_scope", "expand", "grants_sha256", "is_visible"]
