"""What filters ask of documents, and the documents and index rows that fit."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping
from datetime import date

from sqlalchemy import ColumnElement, Connection, bindparam, func, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import DescribedObject, ObjectProperties, ObjectState
from knowledge_index.catalog.value_lists import values_of
from knowledge_index.domain.document_dates import DateEvidence, DocumentDate
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.languages import Language
from knowledge_index.domain.search import SearchFilters
from knowledge_index.domain.versions import VersionStatus

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_CHUNK = schema.chunk.c
_NAMES = ("document_type", "language", "document_date", "date_evidence")
_PROPERTIES = [_OBJECT[name] for name in _NAMES]
_DESCRIBED = (
    select(
        *(_OBJECT[name] for name in ("id", "path", "mtime_ns", "container_object_id", "converted_document_id")),
        *_PROPERTIES,
        _DOCUMENT.language.label("text_language"),
        _DOCUMENT.opening_type,
        schema.mail.c.converted_document_id.label("mail_id"),
        schema.mail.c.sent_at,
    )
    .outerjoin(schema.converted_document, _DOCUMENT.id == _OBJECT.converted_document_id)
    .outerjoin(schema.mail, schema.mail.c.converted_document_id == _OBJECT.converted_document_id)
    .where(_OBJECT.state == ObjectState.CURRENT)
    .order_by(_OBJECT.id)
)


class Properties:
    """Reads and writes the properties of objects, and finds objects and index rows by them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def described(self) -> Iterator[DescribedObject]:
        """Every current object that has a text, by id."""
        rows = {row.id: row for row in self._connection.execute(_DESCRIBED)}
        for row in rows.values():
            if row.converted_document_id is None:
                continue
            around, sent_around_at = rows.get(row.container_object_id), None
            while around is not None and sent_around_at is None:
                sent_around_at, around = around.sent_at, rows.get(around.container_object_id)
            yield DescribedObject(
                id=row.id,
                path=row.path,
                mtime_ns=row.mtime_ns,
                is_mail=row.mail_id is not None,
                sent_at=row.sent_at,
                sent_around_at=sent_around_at,
                language=Language(row.text_language or Language.UNKNOWN),
                opening_type=DocumentType(row.opening_type or DocumentType.UNKNOWN),
                properties=properties_of(*(getattr(row, name) for name in _NAMES)),
            )

    def put(self, properties: Mapping[int, ObjectProperties]) -> None:
        """Record the properties of objects, by object id."""
        if properties:
            self._connection.execute(
                update(schema.source_object)
                .where(_OBJECT.id == bindparam("object_id"))
                .values({name: bindparam(f"new_{name}") for name in _NAMES}),
                [
                    {
                        "object_id": object_id,
                        "new_document_type": each.document_type,
                        "new_language": each.language,
                        "new_document_date": each.date.day.isoformat(),
                        "new_date_evidence": each.date.evidence,
                    }
                    for object_id, each in properties.items()
                ],
            )

    def fitting(
        self,
        filters: SearchFilters,
        scope: Scope,
        among: Collection[int] | None = None,
        own_statuses: Collection[VersionStatus] | None = None,
    ) -> set[int]:
        """The current objects in the scope (``among`` these, if given) that have what the filters ask of one object.

        That is type, language, date range and path. Version status and ``as_of`` depend on other objects, and are left
        to the caller, who may ask for what objects say of their own status; so are matters, which index rows have.
        """
        wanted = [
            _OBJECT.state == ObjectState.CURRENT,
            _OBJECT.acl_class_id.in_(values_of(scope.acl_class_ids)),
            *_conditions(filters),
        ]
        if among is not None:
            wanted.append(_OBJECT.id.in_(values_of(among)))
        if own_statuses is not None:
            wanted.append(_OBJECT.version_status.in_(sorted(own_statuses)))
        return set(self._connection.execute(select(_OBJECT.id).where(*wanted)).scalars())

    def days(self, object_ids: Collection[int]) -> dict[int, date]:
        """The days of those of the objects that have one, by object id."""
        statement = select(_OBJECT.id, _OBJECT.document_date).where(_OBJECT.id.in_(values_of(object_ids)))
        return {
            row.id: date.fromisoformat(row.document_date)
            for row in self._connection.execute(statement)
            if row.document_date is not None
        }

    def document_keys(self, object_ids: Collection[int]) -> set[str]:
        """The stored keys of the papers that the objects are versions of by name."""
        statement = select(_OBJECT.document_key).distinct().where(_OBJECT.id.in_(values_of(object_ids)))
        return {key for key in self._connection.execute(statement).scalars() if key is not None}

    def row_keys(self, object_ids: Collection[int]) -> frozenset[str]:
        """The index rows, passages and profiles alike, that stand in one of the objects."""
        statement = select(_CHUNK.row_key).where(_CHUNK.object_id.in_(values_of(object_ids)))
        return frozenset(self._connection.execute(statement).scalars())


def _conditions(filters: SearchFilters) -> Iterator[ColumnElement[bool]]:
    if filters.document_types:
        yield _OBJECT.document_type.in_(sorted(filters.document_types))
    if filters.languages:
        yield _OBJECT.language.in_(sorted(filters.languages))
    if filters.date_from is not None:
        yield _OBJECT.document_date >= filters.date_from.isoformat()
    if filters.date_to is not None:
        yield _OBJECT.document_date <= filters.date_to.isoformat()
    if filters.path_prefix:
        prefix = unicodedata.normalize("NFC", filters.path_prefix)
        # The bound is for the index; the other end of a prefix is no text of its own.
        yield _OBJECT.path >= prefix
        yield func.substr(_OBJECT.path, 1, len(prefix)) == prefix


def properties_of(
    document_type: str, language: str, document_date: str | None, date_evidence: str
) -> ObjectProperties | None:
    """The properties from the columns that keep them; None before a run has filled them."""
    if document_date is None:
        return None
    return ObjectProperties(
        DocumentType(document_type),
        Language(language),
        DocumentDate(date.fromisoformat(document_date), DateEvidence(date_evidence)),
    )
