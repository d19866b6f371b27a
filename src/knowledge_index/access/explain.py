"""Which grant decides whether a caller sees a path, for operators."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from knowledge_index.access.expansion import ActingPrincipal, expand
from knowledge_index.access.scope import instant
from knowledge_index.catalog import CatalogSession
from knowledge_index.catalog.status_records import PathGrants, WallOpening
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal


class Verdict(StrEnum):
    """Why a caller sees an object or does not."""

    ALLOWED = "allowed"
    DENIED = "denied"
    OPENED = "opened by break-glass"
    NOT_NAMED = "no grant names the caller"
    NO_GRANTS = "no grants"
    UNKNOWN_PATH = "unknown path"


@dataclass(frozen=True)
class Deciding:
    """A grant that concerns the caller, and the memberships through which it does."""

    grant: Grant
    chain: tuple[Principal, ...]


@dataclass(frozen=True)
class Explanation:
    """The answer for one source object.

    ``source`` is empty where no source has the path. ``openings`` are the walls opened for the caller that cover the
    object; where there is one, it decides. Else ``deciding`` are the denials if there are any, and the allowing grants
    if not. ``overruled`` are the other grants that concern the caller.
    """

    source: str
    path: str
    is_visible: bool
    verdict: Verdict
    deciding: tuple[Deciding, ...]
    overruled: tuple[Deciding, ...]
    openings: tuple[WallOpening, ...]


def explain_access(
    session: CatalogSession, path: str, source: str | None, stated: frozenset[Principal], at: datetime
) -> tuple[Explanation, ...]:
    """Why the caller sees ``path`` or not, for each source that has it, by source; never empty."""
    normal = unicodedata.normalize("NFC", path)
    found = [each for each in session.acl_classes.by_path() if each.path == normal and source in (None, each.source)]
    if not found:
        return (Explanation("", normal, False, Verdict.UNKNOWN_PATH, (), (), ()),)
    acting = expand(session, stated)
    openings = session.wall_openings.in_force(stated, instant(at))
    return tuple(
        _explain(
            each,
            session.acl_classes.get(each.acl_class_id).grants,
            acting,
            tuple(opening for opening in openings if each.acl_class_id in opening.acl_class_ids),
        )
        for each in found
    )


def _explain(
    place: PathGrants,
    grants: tuple[Grant, ...],
    acting: Mapping[Principal, ActingPrincipal],
    openings: tuple[WallOpening, ...],
) -> Explanation:
    concerning = [Deciding(each, acting[each.principal].chain) for each in grants if each.principal in acting]
    denying = tuple(each for each in concerning if each.grant.access is Access.DENY)
    allowing = tuple(each for each in concerning if each.grant.access is Access.ALLOW)
    deciding: tuple[Deciding, ...] = ()
    overruled: tuple[Deciding, ...] = ()
    if openings:
        verdict, overruled = Verdict.OPENED, (*denying, *allowing)
    elif denying:
        verdict, deciding, overruled = Verdict.DENIED, denying, allowing
    elif allowing:
        verdict, deciding = Verdict.ALLOWED, allowing
    else:
        verdict = Verdict.NOT_NAMED if grants else Verdict.NO_GRANTS
    return Explanation(
        source=place.source,
        path=place.path,
        is_visible=verdict in (Verdict.OPENED, Verdict.ALLOWED),
        verdict=verdict,
        deciding=deciding,
        overruled=overruled,
        openings=openings,
    )
