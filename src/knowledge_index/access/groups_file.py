"""The file that tells what users and groups belong to."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from knowledge_index.catalog import CatalogSession
from knowledge_index.domain.errors import PermissionMapError
from knowledge_index.domain.principals import Declaration, Principal, PrincipalKind


@dataclass(frozen=True)
class GroupsFile:
    """What a groups file states, by principal, and the SHA-256 of its bytes."""

    declarations: tuple[Declaration, ...]
    sha256: str


def load_groups_file(file: Path) -> GroupsFile:
    """Read ``{"user:anna": ["group:corporate", "role:partner"], "group:corporate": ["group:firm"]}``.

    Keys are users and groups, values the groups and roles that they belong to; groups may nest and form cycles.

    Raises:
        PermissionMapError: the file cannot be read, one entry is malformed, or two keys are one principal and belong
            to different groups. A file is taken whole or not at all.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise PermissionMapError(f"{file}: the groups file cannot be read: {error.strerror or error}") from error
    try:
        # A list of pairs and not a dictionary, in which a repeated key would replace the one before.
        entries = json.loads(content, object_pairs_hook=_Entries)
        if not isinstance(entries, _Entries):
            raise ValueError("it has to be an object of principals")
        declared: dict[Principal, frozenset[Principal]] = {}
        for key, listed in entries:
            principal, member_of = _principal_of(key), _groups_of(key, listed)
            if declared.setdefault(principal, member_of) != member_of:
                raise ValueError(f"'{principal}' is declared twice, in one spelling or two, with different groups")
    except PermissionMapError as error:
        raise PermissionMapError(f"{file}: {error}; nothing of the file was applied") from error
    except (ValueError, RecursionError) as error:
        raise PermissionMapError(
            f"{file}: is no valid groups file: {error}; nothing of the file was applied"
        ) from error
    declarations = tuple(Declaration(each, declared[each]) for each in sorted(declared))
    return GroupsFile(declarations, hashlib.sha256(content).hexdigest())


def replace_groups(session: CatalogSession, groups: GroupsFile) -> int:
    """Make the file's declarations the only ones; returns the policy epoch that this began."""
    session.meta.raise_policy_epoch()
    session.principals.replace(groups.declarations)
    return session.meta.policy_epoch()


class _Entries(list[tuple[str, object]]):
    """A JSON object with all its pairs."""


def _principal_of(key: str) -> Principal:
    principal = Principal.parse(key)
    if principal.kind is PrincipalKind.ROLE:
        raise ValueError(f"'{key}' belongs to nothing: only users and groups do; list the role under those who have it")
    return principal


def _groups_of(key: str, listed: object) -> frozenset[Principal]:
    if (
        not isinstance(listed, list)
        or isinstance(listed, _Entries)
        or not all(isinstance(each, str) for each in listed)
    ):
        raise ValueError(f"'{key}' needs a list of the groups and roles that it belongs to")
    member_of = frozenset(Principal.parse(each) for each in listed)
    for each in sorted(member_of):
        if each.kind is PrincipalKind.USER:
            raise ValueError(f"'{key}' cannot belong to '{each}': list groups and roles")
    return member_of
