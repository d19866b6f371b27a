"""Index rows, and where their passages stand in source objects."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, text
from sqlalchemy.dialects.sqlite import insert as insert_or_ignore

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of
from knowledge_index.catalog.meta import Meta
from knowledge_index.catalog.passage_records import (
    ChunkRecord,
    IndexRowRecord,
    Occurrence,
    ReadingNotes,
    ReadPassage,
    RowKind,
    window_keys,
)
from knowledge_index.catalog.properties import properties_of
from knowledge_index.catalog.records import ObjectState
from knowledge_index.catalog.status_records import UnreadObject
from knowledge_index.catalog.value_lists import values_asked
from knowledge_index.catalog.versions import Standing, Versions
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.versions import VersionStatus

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_ROW = schema.index_row.c
_CHUNK = schema.chunk.c
_SQL_VARIABLES = 500
_PROFILE_ORDINAL = -1
# A passage has some 1,000 characters.
_MOST_TEXTS = 5_000
# A passage's part of an Occurrence.
_Place: TypeAlias = tuple[Any, ...]
_STATUS_OF = {str(status): status for status in VersionStatus}
# Statements that every search runs are built once. The columns are those of an Occurrence, its passage's first.
_OF_A_PASSAGE = [_CHUNK[name] for name in Occurrence._fields[:6]]
_COLUMN_OF = {
    **{name: _OBJECT[name] for name in ("object_key", "path", "document_key", "title", "version_status")},
    **{name: _OBJECT[name] for name in ("version_order", "matter_ref", "matter_title")},
    "source": schema.source.c.name,
    "text_sha256": _DOCUMENT.text_sha256,
    "converter": _DOCUMENT.converter_name + " " + _DOCUMENT.converter_version,
}
_OF_AN_OBJECT = Occurrence._fields[6:]
_OBJECTS = (
    select(_OBJECT.id, _OBJECT.acl_class_id, *(_COLUMN_OF[name] for name in _OF_AN_OBJECT))
    .join(schema.source, schema.source.c.id == _OBJECT.source_id)
    .join(schema.converted_document, _DOCUMENT.id == _OBJECT.converted_document_id)
    .where(_OBJECT.state == ObjectState.CURRENT, _OBJECT.id.in_(values_asked("object_ids")))
)
_IN_ORDER = (_CHUNK.row_key, _CHUNK.object_id, _CHUNK.ordinal)
_PLACES_OF_ROWS = select(*_OF_A_PASSAGE).where(_CHUNK.row_key.in_(values_asked("row_keys"))).order_by(*_IN_ORDER)
_PLACES_OF_WORDINGS = (
    select(*_OF_A_PASSAGE)
    .where(_CHUNK.object_id.in_(values_asked("object_ids")), _CHUNK.wording_key.in_(values_asked("wording_keys")))
    .order_by(*_IN_ORDER)
)
_PASSAGES_OF_OBJECTS = select(_CHUNK.object_id, _CHUNK.row_key).where(
    _CHUNK.object_id.in_(values_asked("object_ids")), _CHUNK.ordinal > _PROFILE_ORDINAL
)
# CROSS JOIN keeps SQLite to this order: one look-up a place, whatever the catalog holds.
_PASSAGES_AT = text(
    """
    WITH place(number, object_id, start_char, end_char) AS (
        SELECT key, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')
        FROM json_each(:places)
    )
    SELECT substr(d.text, start_char + 1, end_char - start_char), d.degraded,
           (SELECT page.number FROM page_span AS page
            WHERE page.converted_document_id = d.id AND page.start_char <= place.start_char
            ORDER BY page.start_char DESC LIMIT 1),
           o.document_type, o.language, o.document_date, o.date_evidence
    FROM place
    CROSS JOIN source_object AS o ON o.id = object_id
    CROSS JOIN converted_document AS d ON d.id = o.converted_document_id
    ORDER BY place.number
    """
)
_TEXT_BETWEEN = (
    select(func.substr(_DOCUMENT.text, bindparam("from_place"), bindparam("length")))
    .join(schema.source_object, _OBJECT.converted_document_id == _DOCUMENT.id)
    .where(_OBJECT.id == bindparam("object_id"))
)


class Passages:
    """Reads and writes passages."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def known_row_keys(self, row_keys: Collection[str]) -> set[str]:
        """Those of the keys that the catalog holds."""
        return {
            key
            for part in _parts(row_keys)
            for key in self._connection.execute(select(_ROW.row_key).where(_ROW.row_key.in_(part))).scalars()
        }

    def put_rows(self, rows: Sequence[IndexRowRecord]) -> None:
        """Store rows; a key names its content, so a known one is left alone."""
        if rows:
            self._connection.execute(
                insert_or_ignore(schema.index_row).on_conflict_do_nothing(),
                [
                    {
                        "row_key": row.row_key,
                        "kind": row.kind,
                        "acl_class_id": row.acl_class_id,
                        "matter_ref": row.matter_ref,
                        "header": row.header,
                        "windows": row.windows,
                        "terms": json.dumps(row.terms, ensure_ascii=False),
                    }
                    for row in rows
                ],
            )

    def replace_chunks(self, object_id: int, chunks: Sequence[ChunkRecord], profile: ChunkRecord) -> None:
        """Set where the passages of an object stand, and which profile it has."""
        replaced = self._connection.execute(delete(schema.chunk).where(_CHUNK.object_id == object_id)).rowcount
        meta = Meta(self._connection)
        meta.note_passage_write()
        if replaced:
            meta.note_row_change()
        self._connection.execute(
            insert(schema.chunk),
            [
                {
                    "object_id": object_id,
                    "ordinal": ordinal,
                    "row_key": each.row_key,
                    "start_char": each.start_char,
                    "end_char": each.end_char,
                    "heading": each.heading,
                    "wording_key": each.wording_key,
                }
                for ordinal, each in enumerate([profile, *chunks], start=_PROFILE_ORDINAL)
            ],
        )

    def unused_rows(self) -> dict[str, int]:
        """Rows that stand in no object any more: the windows of each, by key."""
        used = select(_CHUNK.row_key).where(_CHUNK.row_key == _ROW.row_key)
        statement = select(_ROW.row_key, _ROW.windows).where(~used.exists()).order_by(_ROW.row_key)
        return {row.row_key: row.windows for row in self._connection.execute(statement)}

    def settle(self) -> None:
        """Note that every row is supported, if it is so: searches then need not look."""
        if next(self._without_support(), None) is None:
            Meta(self._connection).set_rows_settled()

    def unsupported_row_keys(self, scope: Scope) -> frozenset[str]:
        """Rows of the scope's classes that stand in no current object that the scope lets be seen.

        Between a change and the run that follows it the indexes still hold them; a search neither ranks nor counts
        them. Rows that are just being written or removed are among them.
        """
        meta = Meta(self._connection)
        intended = meta.index_intent()
        if meta.rows_are_settled():
            return intended
        windows_of = {
            key: windows
            for key, acl_class_id, windows in self._without_support()
            if acl_class_id in scope.acl_class_ids
        }
        found = suspects = set(windows_of)
        for part in _parts(suspects):
            elsewhere = (
                select(_CHUNK.row_key, _OBJECT.acl_class_id)
                .join(schema.source_object, _OBJECT.id == _CHUNK.object_id)
                .where(_CHUNK.row_key.in_(part), _OBJECT.state == ObjectState.CURRENT)
            )
            rows = self._connection.execute(elsewhere)
            found = found - {row.row_key for row in rows if row.acl_class_id in scope.acl_class_ids}
        return intended.union(found, *(window_keys(key, windows_of[key]) for key in found))

    def _without_support(self) -> Iterator[tuple[str, str, int]]:
        """The key, the class and the windows of rows that no current object of the same class supports."""
        supported = (
            select(_CHUNK.row_key)
            .join(schema.source_object, _OBJECT.id == _CHUNK.object_id)
            .where(
                _CHUNK.row_key == _ROW.row_key,
                _OBJECT.state == ObjectState.CURRENT,
                _OBJECT.acl_class_id == _ROW.acl_class_id,
            )
        )
        statement = select(_ROW.row_key, _ROW.acl_class_id, _ROW.windows).where(~supported.exists())
        for row in self._connection.execute(statement):
            yield row.row_key, row.acl_class_id, row.windows

    def delete_rows(self, row_keys: Collection[str]) -> None:
        """Forget rows."""
        for part in _parts(row_keys):
            self._connection.execute(delete(schema.index_row).where(_ROW.row_key.in_(part)))

    def row_keys(self, kind: RowKind) -> set[str]:
        """The keys of all rows of a kind."""
        return set(self._connection.execute(select(_ROW.row_key).where(_ROW.kind == kind)).scalars())

    def vector_keys(self) -> set[str]:
        """The keys of all vectors that the rows have."""
        rows = self._connection.execute(select(_ROW.row_key, _ROW.windows))
        return {key for row in rows for key in window_keys(row.row_key, row.windows)}

    def header(self, row_key: str) -> str:
        """What is indexed with a row's text: a passage's heading, a profile's names."""
        known: dict[str, str] = memory_of(self._connection).facts("headers")
        if row_key not in known:
            statement = select(_ROW.header).where(_ROW.row_key == row_key)
            known[row_key] = str(self._connection.execute(statement).scalar_one())
        return known[row_key]

    def row_keys_of_objects(self, object_ids: Collection[int]) -> frozenset[str]:
        """The passages of these objects."""
        known: dict[int, list[str]] = memory_of(self._connection).facts("passages of objects", _MOST_TEXTS)
        absent: dict[int, list[str]] = {each: [] for each in sorted(object_ids) if each not in known}
        if absent:
            for object_id, key in self._connection.execute(_PASSAGES_OF_OBJECTS, _asked(object_ids=absent)).all():
                absent[object_id].append(key)
            known.update(absent)
        return frozenset(chain.from_iterable(known[each] for each in object_ids))

    def rows_with_text(self, kind: RowKind) -> Iterator[tuple[IndexRowRecord, str]]:
        """Every row of a kind with its text, which is the whole document's for a profile, by key."""
        first = (
            select(_CHUNK.row_key, func.min(_CHUNK.object_id).label("object_id"), _CHUNK.start_char, _CHUNK.end_char)
            .group_by(_CHUNK.row_key)
            .subquery()
        )
        statement = (
            select(
                schema.index_row,
                func.substr(_DOCUMENT.text, first.c.start_char + 1, first.c.end_char - first.c.start_char).label(
                    "passage"
                ),
            )
            .join(first, first.c.row_key == _ROW.row_key)
            .join(schema.source_object, _OBJECT.id == first.c.object_id)
            .join(schema.converted_document, _DOCUMENT.id == _OBJECT.converted_document_id)
            .where(_ROW.kind == kind)
            .order_by(_ROW.row_key)
        )
        for row in self._connection.execute(statement):
            record = IndexRowRecord(
                row_key=row.row_key,
                kind=kind,
                acl_class_id=row.acl_class_id,
                matter_ref=row.matter_ref,
                header=row.header,
                windows=row.windows,
                terms=tuple(json.loads(row.terms)),
            )
            yield record, row.passage

    def occurrences(self, row_keys: Collection[str], scope: Scope) -> list[Occurrence]:
        """Where the rows stand now, in current objects whose ACL class of this moment lies in the scope; by row key."""
        return self._visible(self._places(row_keys), scope)

    def read_ahead(self, row_keys: Collection[str], scope: Scope) -> None:
        """Remember what :meth:`occurrences` reads of these rows, for a caller who will ask and has time now."""
        self._objects({place[1] for place in self._places(row_keys)}, scope)

    def _places(self, row_keys: Collection[str]) -> list[_Place]:
        """Where the rows stand, in objects of any state and class; by row key."""
        known: dict[str, list[_Place]] = memory_of(self._connection).facts("places of rows")
        asked = sorted(row_keys)
        absent: dict[str, list[_Place]] = {each: [] for each in asked if each not in known}
        if absent:
            for row in self._connection.execute(_PLACES_OF_ROWS, _asked(row_keys=absent)).all():
                absent[row.row_key].append(tuple(row))
            known.update(absent)
        return [place for each in asked for place in known[each]]

    def occurrence_of_span(self, object_key: str, start_char: int, end_char: int, scope: Scope) -> Occurrence | None:
        """The passage at a span of a current object, if the scope lets it be seen."""
        statement = (
            select(*_OF_A_PASSAGE)
            .join(schema.source_object, _OBJECT.id == _CHUNK.object_id)
            .where(
                _OBJECT.object_key == object_key,
                _OBJECT.state == ObjectState.CURRENT,
                _CHUNK.start_char == start_char,
                _CHUNK.end_char == end_char,
                _CHUNK.ordinal > _PROFILE_ORDINAL,
            )
            .order_by(*_IN_ORDER)
        )
        return next(iter(self._visible(map(tuple, self._connection.execute(statement).all()), scope)), None)

    def occurrences_of_wordings(self, wordings: Collection[tuple[int, str]], scope: Scope) -> list[Occurrence]:
        """Where each (object id, wording key) stands, whatever the white space in it."""
        known: dict[tuple[int, str], list[_Place]] = memory_of(self._connection).facts("places of wordings")
        asked = sorted(wordings)
        absent = {each: list[_Place]() for each in asked if each not in known}
        if absent:
            objects, keys = (sorted(set(values)) for values in zip(*absent, strict=True))
            for row in self._connection.execute(
                _PLACES_OF_WORDINGS, _asked(object_ids=objects, wording_keys=keys)
            ).all():
                if (row.object_id, row.wording_key) in absent:
                    absent[row.object_id, row.wording_key].append(tuple(row))
            known.update(absent)
        return self._visible([place for each in asked for place in known[each]], scope)

    def occurrence_around(self, object_id: int, place: int, scope: Scope) -> Occurrence | None:
        """The passage of a current object that holds a place of its text, or the last before it, if it may be seen."""
        statement = (
            select(*_OF_A_PASSAGE)
            .where(_CHUNK.object_id == object_id, _CHUNK.start_char <= place)
            .order_by(_CHUNK.start_char.desc())
            .limit(1)
        )
        return next(iter(self._visible(map(tuple, self._connection.execute(statement).all()), scope)), None)

    def unread(self, scope: Scope) -> list[UnreadObject]:
        """Current objects in the scope that no search can find as they are now, by source and path.

        Their conversion failed, or they wait for the next run. The reason is the error class alone: a converter's
        message is meant for operators.
        """
        statement = (
            select(schema.source.c.name, _OBJECT.path, _OBJECT.acl_class_id, _OBJECT.quarantine_class)
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .where(
                _OBJECT.state == ObjectState.CURRENT,
                or_(_OBJECT.quarantine_class.is_not(None), _OBJECT.index_fingerprint.is_(None)),
            )
            .order_by(schema.source.c.name, _OBJECT.path)
        )
        return [
            UnreadObject(source, path, quarantine_class or "not indexed yet")
            for source, path, acl_class_id, quarantine_class in self._connection.execute(statement)
            if acl_class_id in scope.acl_class_ids
        ]

    def at(self, places: Iterable[tuple[int, int, int]]) -> list[ReadPassage]:
        """What stands at each (object id, start, end), in the order given; the page is that of the start."""
        known: dict[tuple[int, int, int], ReadPassage] = memory_of(self._connection).facts("passages", _MOST_TEXTS)
        asked = list(places)
        absent = [each for each in dict.fromkeys(asked) if each not in known]
        if absent:
            rows = self._connection.execute(_PASSAGES_AT, {"places": json.dumps(absent)}).all()
            for each, (passage, degraded, page, *properties) in zip(absent, rows, strict=True):
                notes = ReadingNotes(page, tuple(json.loads(degraded)))
                known[each] = ReadPassage(passage, notes, properties_of(*properties))
        return [known[each] for each in asked]

    def text_between(self, object_id: int, start_char: int, end_char: int) -> str:
        """The characters of an object's text from ``start_char`` to ``end_char``, as far as there are any."""
        known: dict[tuple[int, int, int], str] = memory_of(self._connection).facts("texts", _MOST_TEXTS)
        place = object_id, start_char, end_char
        if place not in known:
            parameters = {"object_id": object_id, "from_place": start_char + 1, "length": end_char - start_char}
            known[place] = str(self._connection.execute(_TEXT_BETWEEN, parameters).scalar_one())
        return known[place]

    def _visible(self, places: Iterable[_Place], scope: Scope) -> list[Occurrence]:
        """The passages at these places whose object may be seen, with what is to be said of it."""
        found = list(places)
        of_object = self._objects({each[1] for each in found}, scope)
        return [Occurrence._make(place + said) for place in found if (said := of_object[place[1]]) is not None]

    def _objects(self, object_ids: Iterable[int], scope: Scope) -> dict[int, tuple[Any, ...] | None]:
        """What is to be said of each object, None where it may not be seen.

        The paper's name, status and order are as the scope has them, in place of what each object says alone.
        """
        known: dict[int, tuple[Any, ...] | None] = memory_of(self._connection).facts(("objects", scope.acl_class_ids))
        absent: dict[int, tuple[Any, ...] | None] = dict.fromkeys(sorted(set(object_ids) - known.keys()))
        if absent:
            # Checked here and not in SQL: a scope may hold more classes than a statement takes variables.
            visible = [
                row
                for row in self._connection.execute(_OBJECTS, _asked(object_ids=absent)).all()
                if row.acl_class_id in scope.acl_class_ids
            ]
            papers = Versions(self._connection).papers({row.document_key for row in visible}, scope)
            for row in visible:
                own = Standing(_STATUS_OF[row.version_status], row.version_order, "", "")
                standing = papers.standing(row.id, own)
                said = dict(zip(_OF_AN_OBJECT, row[2:], strict=True)) | {
                    "document_key": papers.name_of[row.document_key],
                    "version_status": standing.version_status,
                    "version_order": standing.version_order,
                }
                absent[row.id] = tuple(said.values())
            known.update(absent)
        return known


def _asked(**values: Iterable[Any]) -> dict[str, str]:
    """The parameters of a statement that asks for lists of values."""
    return {name: json.dumps(list(each)) for name, each in values.items()}


def _parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """The keys, sorted, in lists that fit one statement."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), _SQL_VARIABLES):
        yield ordered[start : start + _SQL_VARIABLES]
