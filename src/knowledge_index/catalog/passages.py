"""Index rows, the passages of objects, and what stands in them."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, text
from sqlalchemy.dialects.sqlite import insert as insert_or_ignore

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of
from knowledge_index.catalog.meta import Meta
from knowledge_index.catalog.passage_records import (
    PROFILE_ORDINAL,
    ChunkRecord,
    IndexRowRecord,
    ReadingNotes,
    ReadPassage,
    RowKind,
    window_keys,
)
from knowledge_index.catalog.properties import properties_of
from knowledge_index.catalog.records import ObjectState
from knowledge_index.catalog.status_records import UnreadObject
from knowledge_index.catalog.value_lists import lists_asked, values_asked
from knowledge_index.domain.grants import Scope

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_ROW = schema.index_row.c
_CHUNK = schema.chunk.c
_SQL_VARIABLES = 500
# A passage has some 1,000 characters.
_MOST_TEXTS = 5_000
_PASSAGES_OF_OBJECTS = select(_CHUNK.object_id, _CHUNK.row_key).where(
    _CHUNK.object_id.in_(values_asked("object_ids")), _CHUNK.ordinal > PROFILE_ORDINAL
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
                for ordinal, each in enumerate([profile, *chunks], start=PROFILE_ORDINAL)
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
            for object_id, key in self._connection.execute(_PASSAGES_OF_OBJECTS, lists_asked(object_ids=absent)).all():
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


def _parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """The keys, sorted, in lists that fit one statement."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), _SQL_VARIABLES):
        yield ordered[start : start + _SQL_VARIABLES]
