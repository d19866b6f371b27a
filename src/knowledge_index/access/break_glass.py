"""Opens one wall, for one person, for a time."""

import unicodedata
from dataclasses import dataclass
from datetime import timedelta

from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.access.scope import instant
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.status_records import NewOpening, PathGrants, WallOpening
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.principals import Principal, PrincipalKind

MAX_MINUTES = 24 * 60
_SHOWN_PATHS = 5


@dataclass(frozen=True)
class Opened:
    """A wall just opened, and how many current source objects lie behind it."""

    opening: WallOpening
    object_count: int


def open_wall(
    catalog: Catalog,
    recorder: AccessRecorder,
    principal: Principal,
    *,
    source: str | None,
    path: str,
    reason: str,
    minutes: int,
    with_others: bool,
) -> Opened:
    """Open the wall around what lies at ``path`` (a file or a folder; "" for the whole source) for one user.

    A wall is an ACL class: what the index keeps apart. All objects with exactly the grants of those named are opened,
    also such as come while it is open; if that takes in objects that were not named, it is refused unless
    ``with_others``. An object whose grants change leaves the wall and is closed again. The opening stands above every
    denial, raises the policy epoch, and is in the audit log before it holds.

    Raises:
        UsageError: it is no user, nothing lies there, several sources have the path, others would be opened too, the
            reason is empty, or the time is not 1 to ``MAX_MINUTES``.
        AuditLogError: it could not be recorded, and nothing was opened.
    """
    if principal.kind is not PrincipalKind.USER:
        raise UsageError(f"{principal}: a wall is opened for one person; name a user:NAME")
    if not reason.strip():
        raise UsageError("--reason is empty; say why the wall has to be opened")
    if not 1 <= minutes <= MAX_MINUTES:
        raise UsageError(f"--minutes {minutes}: give 1 to {MAX_MINUTES}")
    record_expired(catalog, recorder)
    opened_at = recorder.clock()
    with catalog.transaction() as session:
        # First, so that nobody else writes between the look at the objects and the opening.
        session.meta.raise_policy_epoch()
        every = session.acl_classes.by_path()
        named = _named(every, source, unicodedata.normalize("NFC", path).strip("/"))
        class_ids = {each.acl_class_id for each in named}
        behind = [each for each in every if each.acl_class_id in class_ids]
        if len(behind) > len(named) and not with_others:
            raise UsageError(_others_message(named, behind))
        new = NewOpening(
            principal=principal,
            source=named[0].source,
            path=unicodedata.normalize("NFC", path).strip("/"),
            acl_class_ids=tuple(sorted(class_ids)),
            reason=reason.strip(),
            opened_at=instant(opened_at),
            expires_at=instant(opened_at + timedelta(minutes=minutes)),
        )
        opening_id = session.wall_openings.add(new)
        opening = WallOpening(**vars(new), id=opening_id, revoked_at=None)
        _record(recorder, "opened", opening, objects=len(behind), reason=opening.reason)
    return Opened(opening, len(behind))


def revoke_opening(catalog: Catalog, recorder: AccessRecorder, opening_id: int) -> WallOpening:
    """Close an open wall before its time.

    Raises:
        UsageError: no open wall has this number.
        AuditLogError: it could not be recorded; the wall is still open.
    """
    record_expired(catalog, recorder)
    at = instant(recorder.clock())
    with catalog.transaction() as session:
        session.meta.raise_policy_epoch()
        opening = session.wall_openings.revoke(opening_id, at)
        if opening is None:
            raise UsageError(f"no open wall has the number {opening_id}; see 'ki break-glass list'")
        _record(recorder, "revoked", opening)
    return opening


def record_expired(catalog: Catalog, recorder: AccessRecorder) -> None:
    """Record the end of openings whose time is over; each search does it first, as no clock runs between commands.

    A crash between log and catalog makes an end stand in the log twice, never not at all.
    """
    at = instant(recorder.clock())
    with catalog.transaction() as session:
        if not session.wall_openings.expired_unrecorded(at):
            return
    with catalog.transaction() as session:
        session.meta.raise_policy_epoch()
        for opening in session.wall_openings.claim_expired(at):
            _record(recorder, "expired", opening)


def _record(recorder: AccessRecorder, what: str, opening: WallOpening, **details: object) -> None:
    recorder.record_operation(
        AuditAction.BREAK_GLASS,
        event=what,
        opening=opening.id,
        principal=opening.principal,
        source=opening.source,
        path=opening.path,
        opened_at=opening.opened_at,
        expires_at=opening.expires_at,
        **details,
    )


def _named(every: list[PathGrants], source: str | None, path: str) -> list[PathGrants]:
    if source is None and not path:
        raise UsageError("name what the wall stands around: --path PATH, --source NAME, or both")
    named = [
        each
        for each in every
        if source in (None, each.source) and (not path or each.path == path or each.path.startswith(f"{path}/"))
    ]
    if not named:
        where = f"source '{source}'" if source else "no source"
        raise UsageError(f"nothing lies at '{path}' in {where}" if source else f"{where} has anything at '{path}'")
    if sources := sorted({each.source for each in named} - {named[0].source}):
        raise UsageError(f"'{path}' lies in {named[0].source} and {', '.join(sources)}; say which with --source")
    return named


def _others_message(named: list[PathGrants], behind: list[PathGrants]) -> str:
    known = {(each.source, each.path) for each in named}
    others = [f"{each.source}:{each.path}" for each in behind if (each.source, each.path) not in known]
    shown = ", ".join(others[:_SHOWN_PATHS]) + (", …" if len(others) > _SHOWN_PATHS else "")
    return (
        f"{len(others)} other objects have exactly the grants of the {len(named)} named, and would be opened with "
        f"them: {shown}. Give --with-others to open them too, or give the named ones grants of their own, "
        "then 'ki sync' and 'ki run'"
    )
