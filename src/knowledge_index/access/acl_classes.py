"""Grants, normalised and named."""

import hashlib
from collections.abc import Iterable, Mapping

import rfc8785

from knowledge_index.domain.grants import AclClass, Grant


def acl_class_of(grants: Iterable[Grant]) -> AclClass:
    """The class of these grants: order and repetition do not count.

    Its id is the SHA-256 of the sorted grants as canonical JSON (RFC 8785).
    """
    normalised = tuple(sorted(set(grants)))
    canonical = rfc8785.dumps([[str(grant.principal), str(grant.access)] for grant in normalised])
    return AclClass(hashlib.sha256(canonical).hexdigest(), normalised)


def grants_sha256(grants: Mapping[str, tuple[Grant, ...]]) -> str:
    """The SHA-256 (hex) of all grants of a source: canonical JSON (RFC 8785) of path -> class id."""
    return hashlib.sha256(rfc8785.dumps({path: acl_class_of(each).id for path, each in grants.items()})).hexdigest()
