"""Converted documents and the identifiers found in them."""

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, insert, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.changes import Changes
from knowledge_index.catalog.passage_records import StoredIdentifier
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.documents import ConvertedDocument, sha256_text
from knowledge_index.domain.languages import Language

_DOCUMENT = schema.converted_document.c


class Conversions:
    """Reads and writes converted documents."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, blob_sha256: str, converter_name: str, converter_version: str) -> int | None:
        """The id of a conversion of these bytes by this converter, if there is one."""
        statement = select(_DOCUMENT.id).where(
            _DOCUMENT.blob_sha256 == blob_sha256,
            _DOCUMENT.converter_name == converter_name,
            _DOCUMENT.converter_version == converter_version,
        )
        return self._connection.execute(statement).scalar_one_or_none()

    def add(self, blob_sha256: str, document: ConvertedDocument) -> int:
        """Store a conversion with its states and tracked changes; returns its id."""
        statement = (
            insert(schema.converted_document)
            .values(
                blob_sha256=blob_sha256,
                converter_name=document.converter_name,
                converter_version=document.converter_version,
                text=document.text,
                text_sha256=document.text_sha256,
                original_text=document.original_text,
                original_text_sha256=None if document.original_text is None else sha256_text(document.original_text),
                title=document.title,
                pages_without_text=document.pages_without_text,
                degraded=json.dumps(document.degraded, ensure_ascii=False),
                marked_text=document.marked_text,
            )
            .returning(_DOCUMENT.id)
        )
        document_id = int(self._connection.execute(statement).scalar_one())
        pages = [
            {
                "converted_document_id": document_id,
                "start_char": page.start_char,
                "end_char": page.end_char,
                "number": page.number,
            }
            for page in document.pages
            if page.end_char > page.start_char
        ]
        if pages:
            self._connection.execute(insert(schema.page_span), pages)
        Changes(self._connection).add(document_id, document.changes)
        return document_id

    def text(self, document_id: int) -> str:
        """The whole text of a converted document."""
        return str(self._connection.execute(select(_DOCUMENT.text).where(_DOCUMENT.id == document_id)).scalar_one())

    def texts(self, document_id: int) -> tuple[str, str | None]:
        """The text of a converted document, and the one with tracked changes rejected where there are changes."""
        statement = select(_DOCUMENT.text, _DOCUMENT.original_text).where(_DOCUMENT.id == document_id)
        text, original = self._connection.execute(statement).one()
        return str(text), None if original is None else str(original)

    def set_enriched(
        self,
        document_id: int,
        enricher_version: str,
        identifiers: Iterable[StoredIdentifier],
        language: Language = Language.UNKNOWN,
        opening_type: DocumentType = DocumentType.UNKNOWN,
    ) -> None:
        """Replace what was found in the text of a converted document."""
        table = schema.identifier
        self._connection.execute(delete(table).where(table.c.converted_document_id == document_id))
        rows = [
            {
                "converted_document_id": document_id,
                "kind": each.kind,
                "raw": each.raw,
                "normalised": each.normalised,
                "start_char": each.start_char,
                "end_char": each.end_char,
            }
            for each in identifiers
        ]
        if rows:
            self._connection.execute(insert(table), rows)
        self._connection.execute(
            update(schema.converted_document)
            .where(_DOCUMENT.id == document_id)
            .values(enricher_version=enricher_version, language=language, opening_type=opening_type)
        )

    def identifiers(self, document_id: int) -> Sequence[StoredIdentifier]:
        """The identifiers of a converted document, by place."""
        table = schema.identifier.c
        statement = (
            select(table.kind, table.raw, table.normalised, table.start_char, table.end_char)
            .where(table.converted_document_id == document_id)
            .order_by(table.start_char, table.end_char, table.kind, table.normalised)
        )
        return [StoredIdentifier(**row) for row in self._connection.execute(statement).mappings()]
