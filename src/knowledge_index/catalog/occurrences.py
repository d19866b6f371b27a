"""Where passages stand: in which current objects, as far as a scope lets them be seen, and as which version of what."""

from collections.abc import Collection, Iterable
from typing import Any, TypeAlias

from sqlalchemy import Connection, select

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of
from knowledge_index.catalog.passage_records import PROFILE_ORDINAL, Occurrence
from knowledge_index.catalog.records import ObjectState
from knowledge_index.catalog.value_lists import lists_asked, values_asked
from knowledge_index.catalog.versions import Standing, Versions
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.versions import VersionStatus

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_CHUNK = schema.chunk.c
# A passage's part of an Occurrence.
_Place: TypeAlias = tuple[Any, ...]
_STATUS_OF = {str(status): status for status in VersionStatus}
_PASSAGE_FIELDS = Occurrence._fields.index("object_key")
# Statements that every search runs are built once. The columns are those of an Occurrence, its passage's first.
_OF_A_PASSAGE = [_CHUNK[name] for name in Occurrence._fields[:_PASSAGE_FIELDS]]
_COLUMN_OF = {
    **{name: _OBJECT[name] for name in ("object_key", "path", "document_key", "title", "version_status")},
    **{name: _OBJECT[name] for name in ("version_order", "matter_ref", "matter_title")},
    "source": schema.source.c.name,
    "text_sha256": _DOCUMENT.text_sha256,
    "converter": _DOCUMENT.converter_name + " " + _DOCUMENT.converter_version,
}
_OF_AN_OBJECT = Occurrence._fields[_PASSAGE_FIELDS:]
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


class Occurrences:
    """Reads where passages stand."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_rows(self, row_keys: Collection[str], scope: Scope) -> list[Occurrence]:
        """Where the rows stand now, in current objects whose ACL class of this moment lies in the scope; by row key."""
        return self._visible(self._places(row_keys), scope)

    def read_ahead(self, row_keys: Collection[str], scope: Scope) -> None:
        """Remember what :meth:`of_rows` reads of these rows, for a caller who will ask and has time now."""
        self._objects({place[1] for place in self._places(row_keys)}, scope)

    def _places(self, row_keys: Collection[str]) -> list[_Place]:
        """Where the rows stand, in objects of any state and class; by row key."""
        known: dict[str, list[_Place]] = memory_of(self._connection).facts("places of rows")
        asked = sorted(row_keys)
        absent: dict[str, list[_Place]] = {each: [] for each in asked if each not in known}
        if absent:
            for row in self._connection.execute(_PLACES_OF_ROWS, lists_asked(row_keys=absent)).all():
                absent[row.row_key].append(tuple(row))
            known.update(absent)
        return [place for each in asked for place in known[each]]

    def at_span(self, object_key: str, start_char: int, end_char: int, scope: Scope) -> Occurrence | None:
        """The passage at a span of a current object, if the scope lets it be seen."""
        statement = (
            select(*_OF_A_PASSAGE)
            .join(schema.source_object, _OBJECT.id == _CHUNK.object_id)
            .where(
                _OBJECT.object_key == object_key,
                _OBJECT.state == ObjectState.CURRENT,
                _CHUNK.start_char == start_char,
                _CHUNK.end_char == end_char,
                _CHUNK.ordinal > PROFILE_ORDINAL,
            )
            .order_by(*_IN_ORDER)
        )
        return next(iter(self._visible(map(tuple, self._connection.execute(statement).all()), scope)), None)

    def of_wordings(self, wordings: Collection[tuple[int, str]], scope: Scope) -> list[Occurrence]:
        """Where each (object id, wording key) stands, whatever the white space in it."""
        known: dict[tuple[int, str], list[_Place]] = memory_of(self._connection).facts("places of wordings")
        asked = sorted(wordings)
        absent = {each: list[_Place]() for each in asked if each not in known}
        if absent:
            objects, keys = (sorted(set(values)) for values in zip(*absent, strict=True))
            for row in self._connection.execute(
                _PLACES_OF_WORDINGS, lists_asked(object_ids=objects, wording_keys=keys)
            ).all():
                if (row.object_id, row.wording_key) in absent:
                    absent[row.object_id, row.wording_key].append(tuple(row))
            known.update(absent)
        return self._visible([place for each in asked for place in known[each]], scope)

    def around(self, object_id: int, place: int, scope: Scope) -> Occurrence | None:
        """The passage of a current object that holds a place of its text, or the last before it, if it may be seen."""
        statement = (
            select(*_OF_A_PASSAGE)
            .where(_CHUNK.object_id == object_id, _CHUNK.start_char <= place)
            .order_by(_CHUNK.start_char.desc())
            .limit(1)
        )
        return next(iter(self._visible(map(tuple, self._connection.execute(statement).all()), scope)), None)

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
                for row in self._connection.execute(_OBJECTS, lists_asked(object_ids=absent)).all()
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
