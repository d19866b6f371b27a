"""Which mails state which message ids."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, insert, select

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import ObjectState, ThreadMail
from knowledge_index.domain.documents import MailThread
from knowledge_index.domain.grants import Scope

_OBJECT = schema.source_object.c
_ID = schema.mail_id.c

_MAILS = (
    select(
        _OBJECT.acl_class_id,
        _OBJECT.id,
        _OBJECT.object_key,
        schema.source.c.name,
        _OBJECT.path,
        _OBJECT.title,
        schema.mail.c.sent_at,
    )
    .join(schema.source, schema.source.c.id == _OBJECT.source_id)
    .join(schema.mail, schema.mail.c.converted_document_id == _OBJECT.converted_document_id)
    .where(_OBJECT.state == ObjectState.CURRENT)
    .order_by(_OBJECT.id)
)


class Mails:
    """Reads and writes the ids that tie mails together."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, document_id: int, thread: MailThread) -> None:
        """Record what a new conversion of a mail states of its thread."""
        self._connection.execute(insert(schema.mail).values(converted_document_id=document_id, sent_at=thread.sent_at))
        stated = {thread.message_id, thread.in_reply_to, *thread.references} - {None}
        if stated:
            self._connection.execute(
                insert(schema.mail_id),
                [{"converted_document_id": document_id, "message_id": each} for each in sorted(filter(None, stated))],
            )

    def mail_around(self, object_id: int) -> int | None:
        """The object itself if it is a mail, else the nearest mail that it lies in, or None."""
        current: int | None = object_id
        while current is not None:
            row = self._connection.execute(
                select(_OBJECT.container_object_id, schema.mail.c.converted_document_id)
                .outerjoin(schema.mail, schema.mail.c.converted_document_id == _OBJECT.converted_document_id)
                .where(_OBJECT.id == current)
            ).one()
            if row.converted_document_id is not None:
                return current
            current = row.container_object_id
        return None

    def ids_stated_by(self, object_ids: Collection[int]) -> set[str]:
        """Every message id that these mails state: their own, answered and referred to."""
        statement = select(_ID.message_id).join(
            schema.source_object, _OBJECT.converted_document_id == _ID.converted_document_id
        )
        return {
            message_id
            for object_id in object_ids
            for message_id in self._connection.execute(statement.where(_OBJECT.id == object_id)).scalars()
        }

    def visible_mail(self, object_id: int, scope: Scope) -> ThreadMail | None:
        """One current mail, if the scope lets it be seen."""
        return next(iter(self._visible(_MAILS.where(_OBJECT.id == object_id), scope)), None)

    def mails_that_state(self, message_ids: Collection[str], scope: Scope) -> list[ThreadMail]:
        """The current mails within the scope that state one of the ids, each once."""
        statement = _MAILS.join(schema.mail_id, _ID.converted_document_id == schema.mail.c.converted_document_id)
        return list(
            dict.fromkeys(
                each
                for message_id in sorted(message_ids)
                for each in self._visible(statement.where(_ID.message_id == message_id), scope)
            )
        )

    def _visible(self, statement: Select[Any], scope: Scope) -> list[ThreadMail]:
        return [
            ThreadMail(*values)
            for acl_class_id, *values in self._connection.execute(statement)
            if acl_class_id in scope.acl_class_ids
        ]
