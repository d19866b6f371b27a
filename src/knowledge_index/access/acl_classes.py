"""Grants, normalised and named."""

import hashlib
from collections.abc import Iterable

import rfc8785

from knowledge_index.domain.grants import AclClass, Grant


def acl_class_of(grants: Iterable[Grant]) -> AclClass:
    """The class of these grants: order and repetition do not count.

    Its id is the SHA-256 of the sorted grants as canonical JSON (RFC 8785).
    """
    normalised = tuple(sorted(set(grants)))
    canonical = rfc8785.dumps([[str(grant.principal), str(grant.access)] for grant in normalised])
    return AclClass(hashlib.sha256(canonical).hexdigest(), normalised)
