"""What operators want to know of the estate, and the little of it that is meant for callers."""

import json
from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from knowledge_index.catalog import schema
from knowledge_index.catalog.passage_records import RowKind
from knowledge_index.catalog.records import FindingKind, HeldDeletion, ObjectState, ScanFinding, SourcePath
from knowledge_index.catalog.status_records import (
    DegradedObject,
    QuarantinedObject,
    SourceStatus,
    Unsearchable,
    VisibleSource,
    WallTwin,
)
from knowledge_index.domain.grants import Scope

_OBJECT = schema.source_object.c
_CURRENT = _OBJECT.state == ObjectState.CURRENT
# Grants changed since the run that indexed the object: its rows still name the class that it had then.
_UNDER_ANOTHER_CLASS = (
    select(schema.chunk.c.object_id)
    .join(schema.index_row, schema.index_row.c.row_key == schema.chunk.c.row_key)
    .where(
        schema.chunk.c.object_id == _OBJECT.id,
        schema.chunk.c.ordinal == 0,
        schema.index_row.c.acl_class_id != _OBJECT.acl_class_id,
    )
    .correlate(schema.source_object)
    .exists()
)
_INDEXED = and_(_OBJECT.index_fingerprint.is_not(None), ~_UNDER_ANOTHER_CLASS)
_NO_GRANTS = _OBJECT.acl_class_id.in_(select(schema.acl_class.c.id).where(schema.acl_class.c.grants == "[]"))
_DECORATIONS = (
    select(func.count())
    .select_from(schema.contained_file)
    .where(
        schema.contained_file.c.converted_document_id == _OBJECT.converted_document_id,
        schema.contained_file.c.is_decoration,
    )
    .correlate(schema.source_object)
    .scalar_subquery()
)


class Status:
    """Reads counts and lists for operators."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def sources(self) -> list[SourceStatus]:
        """Counts for every source, by name."""
        quarantined = and_(_CURRENT, _OBJECT.quarantine_class.is_not(None))
        indexed = and_(_CURRENT, _INDEXED, _OBJECT.quarantine_class.is_(None))
        waiting = and_(_CURRENT, ~_INDEXED, _OBJECT.quarantine_class.is_(None))
        statement = (
            select(
                *(schema.source.c[name] for name in ("name", "kind", "root", "acl_map", "last_synced_at")),
                _count(_CURRENT, "current"),
                _count(indexed, "indexed"),
                _count(waiting, "pending"),
                _count(quarantined, "quarantined"),
                _count(and_(_CURRENT, _NO_GRANTS), "without_grants"),
                _count(_OBJECT.state == ObjectState.SUPERSEDED, "superseded"),
                _count(_OBJECT.state == ObjectState.TOMBSTONED, "tombstoned"),
                _count(and_(_CURRENT, _OBJECT.container_object_id.is_not(None)), "contained"),
                func.coalesce(func.sum(case((_CURRENT, _DECORATIONS), else_=0)), 0).label("decorations"),
            )
            .outerjoin(schema.source_object, _OBJECT.source_id == schema.source.c.id)
            .where(schema.source.c.removed_at.is_(None))
            .group_by(schema.source.c.id)
            .order_by(schema.source.c.name)
        )
        return [SourceStatus(**row) for row in self._connection.execute(statement).mappings()]

    def visible(self, scope: Scope) -> list[VisibleSource]:
        """For a caller: counts of every source that holds a document which the scope lets be seen, by name.

        Unlike the rest of this class it is made for callers, and a function of what they may see.
        """
        readable = _OBJECT.quarantine_class.is_(None)
        statement = (
            select(
                schema.source.c.name,
                _OBJECT.acl_class_id,
                func.count().label("documents"),
                _count(and_(_INDEXED, readable), "searchable"),
                _count(and_(~_INDEXED, readable), "waiting"),
                _count(~readable, "unreadable"),
            )
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .where(_CURRENT)
            .group_by(schema.source.c.name, _OBJECT.acl_class_id)
        )
        totals: dict[str, list[int]] = {}
        for name, acl_class_id, *counts in self._connection.execute(statement):
            if acl_class_id in scope.acl_class_ids:
                totals[name] = [sum(pair) for pair in zip(totals.get(name, [0] * 4), counts, strict=True)]
        return [VisibleSource(name, *counts) for name, counts in sorted(totals.items())]

    def quarantined(self) -> list[QuarantinedObject]:
        """Every quarantined current object, by source and path."""
        statement = (
            select(
                schema.source.c.name.label("source"),
                _OBJECT.path,
                _OBJECT.quarantine_class.label("error_class"),
                _OBJECT.quarantine_message.label("message"),
                _OBJECT.container_object_id.is_not(None).label("is_contained"),
            )
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .where(_CURRENT, _OBJECT.quarantine_class.is_not(None))
            .order_by(schema.source.c.name, _OBJECT.path)
        )
        return [QuarantinedObject(**row) for row in self._connection.execute(statement).mappings()]

    def degraded(self) -> list[DegradedObject]:
        """Every current object whose text was repaired or is incomplete, by source and path."""
        document = schema.converted_document.c
        statement = (
            select(schema.source.c.name, _OBJECT.path, document.degraded, document.pages_without_text)
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .join(schema.converted_document, document.id == _OBJECT.converted_document_id)
            .where(_CURRENT, or_(document.degraded != "[]", document.pages_without_text > 0))
            .order_by(schema.source.c.name, _OBJECT.path)
        )
        return [
            DegradedObject(row.name, row.path, tuple(json.loads(row.degraded)), row.pages_without_text)
            for row in self._connection.execute(statement)
        ]

    def without_grants(self) -> list[SourcePath]:
        """Every current file that nobody may see, by source and path; what is inside it goes with it."""
        statement = (
            select(schema.source.c.name.label("source"), _OBJECT.path)
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .where(_CURRENT, _NO_GRANTS, _OBJECT.container_object_id.is_(None))
            .order_by(schema.source.c.name, _OBJECT.path)
        )
        return [SourcePath(**row) for row in self._connection.execute(statement).mappings()]

    def held_deletions(self) -> list[HeldDeletion]:
        """The disappearances that are not believed yet, by source."""
        hold, held = schema.deletion_hold.c, schema.held_object.c
        objects = select(func.count()).where(held.source_id == hold.source_id).correlate(schema.deletion_hold)
        statement = (
            select(
                schema.source.c.name.label("source"),
                objects.scalar_subquery().label("objects"),
                hold.since,
                hold.scans,
            )
            .join(schema.source, schema.source.c.id == hold.source_id)
            .order_by(schema.source.c.name)
        )
        return [HeldDeletion(**row) for row in self._connection.execute(statement).mappings()]

    def findings(self) -> list[ScanFinding]:
        """What the last scan of each source found that needs an operator's eye, by source, kind and path."""
        finding = schema.scan_finding.c
        statement = (
            select(schema.source.c.name, finding.kind, finding.path, finding.reason)
            .join(schema.source, schema.source.c.id == finding.source_id)
            .order_by(schema.source.c.name, finding.kind, finding.path)
        )
        return [
            ScanFinding(row.name, FindingKind(row.kind), row.path, row.reason)
            for row in self._connection.execute(statement)
        ]

    def wall_twins(self) -> list[WallTwin]:
        """Identical bytes under more than one ACL class, by hash."""
        twins = (
            select(_OBJECT.blob_sha256)
            .where(_CURRENT)
            .group_by(_OBJECT.blob_sha256)
            .having(func.count(_OBJECT.acl_class_id.distinct()) > 1)
        )
        statement = (
            select(_OBJECT.blob_sha256, schema.source.c.name, _OBJECT.path)
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .where(_CURRENT, _OBJECT.blob_sha256.in_(twins))
            .order_by(_OBJECT.blob_sha256, schema.source.c.name, _OBJECT.path)
        )
        paths: dict[str, list[str]] = {}
        for row in self._connection.execute(statement):
            paths.setdefault(row.blob_sha256, []).append(f"{row.name}:{row.path}")
        return [WallTwin(sha256, tuple(each)) for sha256, each in paths.items()]

    def index_counts(self) -> tuple[int, int]:
        """Passages in source objects, and the distinct index rows that hold them."""
        is_passage = schema.index_row.c.kind == RowKind.PASSAGE
        in_rows = schema.chunk.join(schema.index_row, schema.index_row.c.row_key == schema.chunk.c.row_key)
        chunks = self._connection.execute(select(func.count()).select_from(in_rows).where(is_passage)).scalar_one()
        rows = self._connection.execute(
            select(func.count()).select_from(schema.index_row).where(is_passage)
        ).scalar_one()
        return int(chunks), int(rows)

    def unsearchable(self, paths: Collection[str]) -> list[Unsearchable]:
        """Those of the paths that no search can find now, each with the reason, by path.

        A path that two sources hold is among them: a path alone does not say which of the two files is meant.
        """
        statement = select(
            _OBJECT.source_id,
            _OBJECT.path,
            _OBJECT.state,
            _OBJECT.quarantine_class,
            _INDEXED.label("is_indexed"),
            _NO_GRANTS.label("without_grants"),
        ).order_by(_OBJECT.id)
        reasons: dict[str, str | None] = {}
        holders: dict[str, int] = {}
        for row in self._connection.execute(statement):
            if row.state != ObjectState.CURRENT:
                reasons.setdefault(row.path, "no longer in its source")
            elif holders.setdefault(row.path, row.source_id) != row.source_id:
                reasons[row.path] = "in two sources: evaluate in a home that has one of them"
            elif row.quarantine_class is not None:
                reasons[row.path] = f"quarantined: {row.quarantine_class}"
            elif row.without_grants:
                reasons[row.path] = "no grants: visible to nobody"
            elif not row.is_indexed:
                reasons[row.path] = "not indexed yet: ki run"
            else:
                reasons[row.path] = None
        missing = "in no source: ki add-source, ki sync"
        found = ((path, reasons.get(path, missing)) for path in sorted(paths))
        return [Unsearchable(path, reason) for path, reason in found if reason is not None]


def _count(condition: ColumnElement[bool], name: str) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0).label(name)
