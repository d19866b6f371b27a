"""Principals: who may see, and who asks."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from knowledge_index.domain.errors import PermissionMapError

# Names one way of making names canonical. A catalog keeps it: names that were made canonical in another way would not
# meet those of a caller, and a denial that meets nobody reads as if it held.
CANONICAL_VERSION = "1"


class PrincipalKind(StrEnum):
    """The closed set of principal kinds."""

    USER = "user"
    GROUP = "group"
    ROLE = "role"


_KINDS = {kind.value: kind for kind in PrincipalKind}


@dataclass(frozen=True, order=True)
class Principal:
    """A canonical principal: compared after NFC, casefold and trimming, so two spellings of one are equal.

    Build it with :meth:`parse`; ``name`` is canonical already.
    """

    kind: PrincipalKind
    name: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``user:…``, ``group:…`` or ``role:…``.

        Raises:
            PermissionMapError: the text has no known kind, an empty name, or a name that no caller could be told by:
                one with a comma, which parts principals in ``--as``, or with an invisible character.
        """
        kind_text, separator, name_text = text.partition(":")
        name = canonical_name(name_text)
        kind = _KINDS.get(canonical_name(kind_text))
        if kind is None or not separator or not name:
            raise PermissionMapError(f"'{text}' is not a principal: write user:NAME, group:NAME or role:NAME")
        if "," in name or not name.isprintable():
            # Such a denial would read as meant and match nobody.
            raise PermissionMapError(
                f"{text!r} holds a comma or an invisible character, which no name may; write it anew"
            )
        return cls(kind, name)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True)
class Declaration:
    """What a principal is stated to belong to: ``principal`` is a user or a group, ``member_of`` groups and roles."""

    principal: Principal
    member_of: frozenset[Principal]


def canonical_name(text: str) -> str:
    """NFC, casefold, NFC again (casefolding can decompose), outer white space trimmed; idempotent.

    The one canonicaliser of names; whoever changes what it returns raises ``CANONICAL_VERSION``.
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", folded).strip()


def parse_principals(text: str) -> frozenset[Principal]:
    """Read a comma-separated list of principals, as ``--as`` takes it.

    Raises:
        PermissionMapError: the list is empty or one entry is malformed.
    """
    principals = frozenset(Principal.parse(part) for part in text.split(",") if part.strip())
    if not principals:
        raise PermissionMapError("no principal given: write for example --as user:jdoe,group:corporate-ma")
    return principals


def format_principals(principals: Iterable[Principal]) -> str:
    """The principals, sorted, as ``--as`` reads them."""
    return ",".join(str(principal) for principal in sorted(principals))
