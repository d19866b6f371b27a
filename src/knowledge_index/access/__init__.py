"""From grants to ACL classes to the scope of a caller."""

from knowledge_index.access.acl_classes import acl_class_of
from knowledge_index.access.scope import compile_scope, is_visible

__all__ = ["acl_class_of", "compile_scope", "is_visible"]
