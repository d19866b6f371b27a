"""A catalog and an audit log with a clock of their own, and ways to change groups, grants and walls in them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from knowledge_index.access import acl_class_of, compile_scope
from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditEvent, Checkpoint
from knowledge_index.access.groups_file import load_groups_file, replace_groups
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.records import ObservedObject
from knowledge_index.domain.grants import Access, Grant, Scope
from knowledge_index.domain.principals import Principal

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SOURCE = "dms"


class RollBackError(Exception):
    """Ends a transaction that is to leave no trace."""


@dataclass(frozen=True)
class RememberingLog(AuditLog):
    """Keeps what would be written."""

    events: list[AuditEvent] = field(default_factory=list)

    def append(self, event: AuditEvent) -> Checkpoint:
        self.events.append(event)
        return Checkpoint(len(self.events), "0" * 64)


class OneTransaction(Catalog):
    """A catalog whose transactions are all parts of one that is under way."""

    def __init__(self, session: CatalogSession) -> None:
        self._session = session

    @contextmanager
    def transaction(self) -> Iterator[CatalogSession]:
        yield self._session


@dataclass
class World:
    """``grants`` are written as ``allow group:a``."""

    session: CatalogSession
    folder: Path
    minute: int = 0

    def __post_init__(self) -> None:
        self.catalog = OneTransaction(self.session)
        self.log = RememberingLog(self.folder / "audit.jsonl")
        self.recorder = AccessRecorder(self.log, b"key", False, "tester", self.now)

    def now(self) -> datetime:
        return START + timedelta(minutes=self.minute)

    def set_groups(self, groups: Mapping[str, Sequence[str]]) -> int:
        file = self.folder / "groups.json"
        file.write_text(json.dumps(groups), encoding="utf-8")
        return replace_groups(self.session, load_groups_file(file))

    def grant(self, path: str, grants: Sequence[tuple[str, str]]) -> None:
        """Give a path these (principal, access) as its only grants, as a sync would."""
        acl_class = acl_class_of(Grant(Principal.parse(each), Access(access)) for each, access in grants)
        self.session.acl_classes.put(acl_class)
        (source,) = self.session.sources.all()
        known = {each.path: each.id for each in self.session.objects.current(source.id)}
        if path in known:
            self.session.objects.set_acl_class(known[path], acl_class.id)
        else:
            observed = ObservedObject(path, path, path, "0" * 64, 1, 1, 1, acl_class.id)
            self.session.objects.add(source.id, observed, START.isoformat())
        self.session.meta.raise_policy_epoch()

    def scope(self, *stated: str) -> Scope:
        return compile_scope(self.session, frozenset(map(Principal.parse, stated)), self.now())

    def visible(self, *stated: str) -> set[str]:
        return self.visible_to([stated])[0]

    def visible_to(self, callers: Sequence[Sequence[str]]) -> list[set[str]]:
        placed = self.session.acl_classes.by_path()
        scopes = [self.scope(*stated) for stated in callers]
        return [{each.path for each in placed if each.acl_class_id in scope.acl_class_ids} for scope in scopes]
