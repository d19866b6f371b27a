"""Whole documents and the matters, as far as a scope lets them be seen."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, func, select

from knowledge_index.catalog import schema
from knowledge_index.catalog.records import DocumentRecord, MatterRecord, ObjectState
from knowledge_index.catalog.value_lists import values_of
from knowledge_index.catalog.versions import Versions
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.versions import VersionStatus

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_COLUMNS = {
    **{name: _OBJECT[name] for name in ("object_key", "path", "document_key", "title", "version_status")},
    **{name: _OBJECT[name] for name in ("version_order", "matter_ref", "matter_title")},
    "object_id": _OBJECT.id,
    "source": schema.source.c.name,
    "text_sha256": _DOCUMENT.text_sha256,
    "converter": _DOCUMENT.converter_name + " " + _DOCUMENT.converter_version,
    "length_chars": func.length(_DOCUMENT.text),
}
# What has no passage is not searchable now, and is not read as a whole either: a title or a text that is about to be
# made anew is out of both ways at once.
_HAS_PASSAGES = (schema.chunk.c.object_id == _OBJECT.id) & (schema.chunk.c.ordinal == 0)
_DOCUMENTS = (
    select(_OBJECT.acl_class_id, *(_COLUMNS[name] for name in DocumentRecord.__dataclass_fields__))
    .join(schema.source, schema.source.c.id == _OBJECT.source_id)
    .join(schema.converted_document, _DOCUMENT.id == _OBJECT.converted_document_id)
    .join(schema.chunk, _HAS_PASSAGES)
    .where(_OBJECT.state == ObjectState.CURRENT)
    .order_by(schema.source.c.name, _OBJECT.path)
)
_MATTERS = (
    select(_OBJECT.acl_class_id, _OBJECT.matter_ref, func.min(_OBJECT.matter_title), func.count())
    .join(schema.chunk, _HAS_PASSAGES)
    .where(_OBJECT.state == ObjectState.CURRENT)
    .group_by(_OBJECT.acl_class_id, _OBJECT.matter_ref)
)
_STATUS_PLACE = list(DocumentRecord.__dataclass_fields__).index("version_status")


class Documents:
    """Reads documents."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def with_key(self, object_key: str, scope: Scope) -> DocumentRecord | None:
        """The searchable current object of this key, if the scope lets it be seen."""
        return next(iter(self._visible(_DOCUMENTS.where(_OBJECT.object_key == object_key), scope)), None)

    def with_ids(self, object_ids: Collection[int], scope: Scope) -> dict[int, DocumentRecord]:
        """Those of these objects that are searchable, current and in the scope, by id."""
        statement = _DOCUMENTS.where(_OBJECT.id.in_(values_of(object_ids)))
        return {each.object_id: each for each in self._visible(statement, scope)}

    def matters(self, scope: Scope) -> list[MatterRecord]:
        """The matters of all visible searchable documents, by reference; counts are of visible documents alone."""
        found: dict[str, MatterRecord] = {}
        for acl_class_id, ref, title, count in self._connection.execute(_MATTERS):
            if acl_class_id in scope.acl_class_ids:
                known = found.get(ref, MatterRecord(ref, title, 0))
                found[ref] = MatterRecord(ref, min(title, known.title), known.document_count + count)
        return [found[ref] for ref in sorted(found)]

    def _visible(self, statement: Select[Any], scope: Scope) -> list[DocumentRecord]:
        """With the paper's name, status and order as the scope has them, in place of what each object says alone."""
        # Checked here and not in SQL: a scope may hold more classes than a statement takes variables.
        found = []
        for acl_class_id, *values in self._connection.execute(statement):
            if acl_class_id in scope.acl_class_ids:
                values[_STATUS_PLACE] = VersionStatus(values[_STATUS_PLACE])
                found.append(DocumentRecord(*values))
        papers = Versions(self._connection).papers({each.document_key for each in found}, scope)
        return [papers.placed(each) for each in found]
