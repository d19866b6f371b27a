"""Which bytes and which words each passage is: what the leaves of a caller's Merkle tree are made from."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select, text

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import ObjectState
from knowledge_index.domain.grants import Scope

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_CHUNK = schema.chunk.c
_PROFILE_ORDINAL = -1
_SPANS = (
    select(_OBJECT.acl_class_id, _DOCUMENT.id, _DOCUMENT.blob_sha256, _CHUNK.start_char, _CHUNK.end_char)
    .join(schema.chunk, _OBJECT.id == _CHUNK.object_id)
    .join(schema.converted_document, _DOCUMENT.id == _OBJECT.converted_document_id)
    .where(_OBJECT.state == ObjectState.CURRENT, _CHUNK.ordinal > _PROFILE_ORDINAL)
    .order_by(_DOCUMENT.id)
)
# From the keys to the objects to their passages: as many rows as were asked for, whatever the size of the estate.
_PLACES = text(
    """
    SELECT source_object.acl_class_id, source_object.object_key, chunk.start_char, chunk.end_char,
           converted_document.blob_sha256,
           length(CAST(substr(text, 1, chunk.start_char) AS BLOB)) AS start_byte,
           length(CAST(substr(text, chunk.start_char + 1, chunk.end_char - chunk.start_char) AS BLOB)) AS length_bytes
    FROM json_each(:wanted) AS asked
    CROSS JOIN source_object ON source_object.object_key = asked.value ->> 0 AND source_object.state = 'current'
    CROSS JOIN chunk ON chunk.object_id = source_object.id AND chunk.ordinal >= 0
         AND chunk.start_char = asked.value ->> 1 AND chunk.end_char = asked.value ->> 2
    CROSS JOIN converted_document ON converted_document.id = source_object.converted_document_id
    """
)


@dataclass(frozen=True)
class DocumentSpans:
    """The passages of one converted document: the SHA-256 of its file, its text, and distinct spans of that."""

    document_sha256: str
    text: str
    spans: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class PassagePlace:
    """Where a passage stands: the SHA-256 of its file, and its span in UTF-8 bytes of the converted text."""

    document_sha256: str
    start_byte: int
    end_byte: int


class Leaves:
    """Reads what receipts state of passages."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def visible_spans(self, scope: Scope) -> Iterator[DocumentSpans]:
        """Every passage that the scope lets be seen now, document by document.

        Identical bytes under several paths are one document here; which of them the caller sees does not show.
        """
        held: int | None = None
        document_sha256 = ""
        spans: set[tuple[int, int]] = set()
        # Read whole: the texts are asked for in between, on the same connection.
        rows = self._connection.execute(_SPANS).all()
        for acl_class_id, document_id, blob_sha256, start_char, end_char in rows:
            if acl_class_id not in scope.acl_class_ids:
                continue
            if document_id != held:
                if held is not None:
                    yield DocumentSpans(document_sha256, self._text(held), frozenset(spans))
                held, document_sha256, spans = document_id, blob_sha256, set()
            spans.add((start_char, end_char))
        if held is not None:
            yield DocumentSpans(document_sha256, self._text(held), frozenset(spans))

    def places(
        self, wanted: Collection[tuple[str, int, int]], scope: Scope
    ) -> dict[tuple[str, int, int], PassagePlace]:
        """The places of passages, each asked for by its object's key and span; what may not be seen now is missing."""
        found = {}
        for row in self._connection.execute(_PLACES, {"wanted": json.dumps(sorted(wanted))}):
            if row.acl_class_id in scope.acl_class_ids:
                found[row.object_key, row.start_char, row.end_char] = PassagePlace(
                    row.blob_sha256, row.start_byte, row.start_byte + row.length_bytes
                )
        return found

    def _text(self, document_id: int) -> str:
        return str(self._connection.execute(select(_DOCUMENT.text).where(_DOCUMENT.id == document_id)).scalar_one())
