"""Tracked changes of converted documents, and the states of the text that they make."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, insert, select

from knowledge_index.catalog import schema
from knowledge_index.catalog.passage_records import DeletedWords
from knowledge_index.catalog.records import ObjectState
from knowledge_index.domain.documents import ChangeKind, TextState, TrackedChange
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.versions import VersionStatus

_CHANGE = schema.tracked_change.c
_DOCUMENT = schema.converted_document.c
_OBJECT = schema.source_object.c
_CHANGE_COLUMNS = tuple(_CHANGE[name] for name in TrackedChange.__dataclass_fields__)
_TAKEN_AWAY = (ChangeKind.DELETION, ChangeKind.MOVED_FROM)


class Changes:
    """Reads and writes tracked changes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, document_id: int, changes: Sequence[TrackedChange]) -> None:
        """Store the changes of a new conversion, in their order."""
        if changes:
            self._connection.execute(
                insert(schema.tracked_change),
                [
                    {"converted_document_id": document_id, "ordinal": ordinal}
                    | {name: getattr(each, name) for name in TrackedChange.__dataclass_fields__}
                    for ordinal, each in enumerate(changes)
                ],
            )

    def of_object(self, object_id: int) -> list[TrackedChange]:
        """The changes in an object's document, by place; whether the caller may see it was asked before."""
        statement = (
            select(*_CHANGE_COLUMNS)
            .join(schema.source_object, _OBJECT.converted_document_id == _CHANGE.converted_document_id)
            .where(_OBJECT.id == object_id)
            .order_by(_CHANGE.ordinal)
        )
        return [_change(*row) for row in self._connection.execute(statement)]

    def text(self, object_id: int, state: TextState) -> str:
        """A state of an object's text, which without changes is the text itself; visibility was asked before."""
        columns = {
            TextState.CURRENT: _DOCUMENT.text,
            TextState.ORIGINAL: _DOCUMENT.original_text,
            TextState.MARKED: _DOCUMENT.marked_text,
        }
        statement = (
            select(columns[state], _DOCUMENT.text)
            .join(schema.source_object, _OBJECT.converted_document_id == _DOCUMENT.id)
            .where(_OBJECT.id == object_id)
        )
        wanted, current = self._connection.execute(statement).one()
        return str(current if wanted is None else wanted)

    def deleted_words(self, scope: Scope) -> Iterator[DeletedWords]:
        """All that was deleted or moved away in the current objects that the scope lets be seen."""
        statement = (
            select(
                _OBJECT.acl_class_id,
                *(_OBJECT[name] for name in ("id", "object_key")),
                schema.source.c.name,
                *(_OBJECT[name] for name in ("path", "title", "version_status", "matter_ref", "matter_title")),
                _CHANGE.ordinal,
                *_CHANGE_COLUMNS,
            )
            .join(schema.source, schema.source.c.id == _OBJECT.source_id)
            .join(schema.tracked_change, _CHANGE.converted_document_id == _OBJECT.converted_document_id)
            .where(_OBJECT.state == ObjectState.CURRENT, _OBJECT.title.is_not(None), _CHANGE.kind.in_(_TAKEN_AWAY))
            .order_by(_OBJECT.object_key, _CHANGE.ordinal)
        )
        # Checked here and not in SQL: a scope may hold more classes than a statement takes variables.
        for (
            acl_class_id,
            object_id,
            key,
            source,
            path,
            title,
            status,
            matter,
            matter_title,
            ordinal,
            *change,
        ) in self._connection.execute(statement):
            if acl_class_id in scope.acl_class_ids:
                yield DeletedWords(
                    object_id,
                    key,
                    source,
                    path,
                    title,
                    VersionStatus(status),
                    matter,
                    matter_title,
                    ordinal,
                    _change(*change),
                )


def _change(
    kind: str, author: str | None, date: str | None, start_char: int, end_char: int, text: str
) -> TrackedChange:
    return TrackedChange(ChangeKind(kind), author, date, start_char, end_char, text)
