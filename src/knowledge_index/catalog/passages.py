"""Index rows, and where their passages stand in source objects."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, or_, select
from sqlalchemy.dialects.sqlite import insert as insert_or_ignore

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import ChunkRecord, IndexRowRecord, ObjectState, Occurrence, UnreadObject
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.versions import VersionStatus

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_ROW = schema.index_row.c
_CHUNK = schema.chunk.c
_SQL_VARIABLES = 500
_OCCURRENCE_COLUMNS = {
    **{name: _CHUNK[name] for name in ("row_key", "object_id", "heading", "start_char", "end_char")},
    **{name: _OBJECT[name] for name in ("object_key", "path", "document_key", "title", "version_status")},
    **{name: _OBJECT[name] for name in ("version_order", "matter_ref", "matter_title")},
    "source": schema.source.c.name,
    "text_sha256": _DOCUMENT.text_sha256,
    "converter": _DOCUMENT.converter_name + " " + _DOCUMENT.converter_version,
}
_STATUS_PLACE = list(Occurrence.__dataclass_fields__).index("version_status")
_STATUS_OF = {str(status): status for status in VersionStatus}
_OCCURRENCES = (
    select(_OBJECT.acl_class_id, *(_OCCURRENCE_COLUMNS[name] for name in Occurrence.__dataclass_fields__))
    .join(schema.chunk, _OBJECT.id == _CHUNK.object_id)
    .join(schema.source, schema.source.c.id == _OBJECT.source_id)
    .join(schema.converted_document, _DOCUMENT.id == _OBJECT.converted_document_id)
    .where(_OBJECT.state == ObjectState.CURRENT)
    .order_by(_CHUNK.row_key, _CHUNK.object_id, _CHUNK.ordinal)
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
                        "acl_class_id": row.acl_class_id,
                        "matter_ref": row.matter_ref,
                        "header": row.header,
                        "terms": json.dumps(row.terms, ensure_ascii=False),
                    }
                    for row in rows
                ],
            )

    def replace_chunks(self, object_id: int, chunks: Sequence[ChunkRecord]) -> None:
        """Set where the passages of an object stand."""
        self._connection.execute(delete(schema.chunk).where(_CHUNK.object_id == object_id))
        if chunks:
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
                    }
                    for ordinal, each in enumerate(chunks)
                ],
            )

    def unused_row_keys(self) -> list[str]:
        """Rows that stand in no object any more, by key."""
        statement = select(_ROW.row_key).where(~select(_CHUNK.row_key).where(_CHUNK.row_key == _ROW.row_key).exists())
        return list(self._connection.execute(statement.order_by(_ROW.row_key)).scalars())

    def delete_rows(self, row_keys: Collection[str]) -> None:
        """Forget rows."""
        for part in _parts(row_keys):
            self._connection.execute(delete(schema.index_row).where(_ROW.row_key.in_(part)))

    def all_row_keys(self) -> set[str]:
        """The keys of all rows."""
        return set(self._connection.execute(select(_ROW.row_key)).scalars())

    def rows_with_text(self) -> Iterator[tuple[IndexRowRecord, str]]:
        """Every row with the text of its passage, by key."""
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
            .order_by(_ROW.row_key)
        )
        for row in self._connection.execute(statement):
            terms = tuple(json.loads(row.terms))
            yield IndexRowRecord(row.row_key, row.acl_class_id, row.matter_ref, row.header, terms), row.passage

    def occurrences(self, row_keys: Collection[str], scope: Scope) -> list[Occurrence]:
        """Where the rows stand now, in current objects whose ACL class of this moment lies in the scope; by row key."""
        return [
            occurrence
            for part in _parts(row_keys)
            for occurrence in self._visible(_OCCURRENCES.where(_CHUNK.row_key.in_(part)), scope)
        ]

    def occurrence_of_span(self, object_key: str, start_char: int, end_char: int, scope: Scope) -> Occurrence | None:
        """The passage at a span of a current object, if the scope lets it be seen."""
        statement = _OCCURRENCES.where(
            _OBJECT.object_key == object_key, _CHUNK.start_char == start_char, _CHUNK.end_char == end_char
        )
        return next(self._visible(statement, scope), None)

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

    def _visible(self, statement: Select[Any], scope: Scope) -> Iterator[Occurrence]:
        # Checked here and not in SQL: a scope may hold more classes than a statement takes variables.
        for acl_class_id, *values in self._connection.execute(statement):
            if acl_class_id in scope.acl_class_ids:
                values[_STATUS_PLACE] = _STATUS_OF[values[_STATUS_PLACE]]
                yield Occurrence(*values)

    def text_between(self, object_id: int, start_char: int, end_char: int) -> str:
        """The characters of an object's text from ``start_char`` to ``end_char``, as far as there are any."""
        parameters = {"object_id": object_id, "from_place": start_char + 1, "length": end_char - start_char}
        return str(self._connection.execute(_TEXT_BETWEEN, parameters).scalar_one())


def _parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """The keys, sorted, in lists that fit one statement."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), _SQL_VARIABLES):
        yield ordered[start : start + _SQL_VARIABLES]
