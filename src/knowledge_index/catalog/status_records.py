"""What the catalog tells operators and callers of its state, and of who may see what."""

from dataclasses import dataclass

from knowledge_index.domain.principals import Principal


@dataclass(frozen=True)
class DegradedObject:
    """A source object whose text was repaired or is incomplete, and its pages that are pictures only, for operators."""

    source: str
    path: str
    degraded: tuple[str, ...]
    pages_without_text: int


@dataclass(frozen=True)
class QuarantinedObject:
    """A source object whose text could not be had, and why."""

    source: str
    path: str
    error_class: str
    message: str
    is_contained: bool = False


@dataclass(frozen=True)
class UnreadObject:
    """A source object that a caller may see and no search can find, and why."""

    source: str
    path: str
    reason: str


@dataclass(frozen=True)
class SourceStatus:
    """Counts of one source, for operators.

    ``contained`` of the ``current`` objects are files inside others; ``decorations`` (inline pictures, detached
    signatures) are no objects.
    """

    name: str
    kind: str
    root: str
    acl_map: str | None
    last_synced_at: str | None
    current: int
    indexed: int
    pending: int
    quarantined: int
    without_grants: int
    superseded: int
    tombstoned: int
    contained: int
    decorations: int


@dataclass(frozen=True)
class VisibleSource:
    """What one caller may know of a source: counts of current documents that the caller may see."""

    name: str
    documents: int
    searchable: int
    waiting: int
    unreadable: int


@dataclass(frozen=True)
class WallTwin:
    """Identical bytes that lie under more than one ACL class, for operators."""

    blob_sha256: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Unsearchable:
    """A path that a search cannot find now, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class NewOpening:
    """A wall to be opened for one principal: the ACL classes of what lies at ``path`` ("" for all) of ``source``.

    Times are UTC, ISO 8601 with microseconds, so that their texts sort as they do.
    """

    principal: Principal
    source: str
    path: str
    acl_class_ids: tuple[str, ...]
    reason: str
    opened_at: str
    expires_at: str


@dataclass(frozen=True)
class WallOpening(NewOpening):
    """A wall that was opened; ``revoked_at`` is set where it was closed before its time."""

    id: int
    revoked_at: str | None


@dataclass(frozen=True)
class PathGrants:
    """A current source object and the id of its ACL class."""

    source: str
    path: str
    acl_class_id: str


@dataclass(frozen=True)
class AccessTokenRecord:
    """A bearer token as the catalog keeps it: its public id and the SHA-256 of its secret.

    ``audience`` names the service that it is for. Times are UTC, ISO 8601 with microseconds; ``revoked_at`` is set
    where it was ended before its time.
    """

    id: str
    secret_sha256: str
    principal: Principal
    audience: str
    created_at: str
    expires_at: str
    revoked_at: str | None
