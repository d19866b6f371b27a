"""Source objects as the pipeline takes them through its stages."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.meta import Meta
from knowledge_index.catalog.records import ObjectState, PipelineObject, Relation
from knowledge_index.domain.languages import Language
from knowledge_index.domain.versions import VersionStatus

_OBJECT = schema.source_object.c
_DOCUMENT = schema.converted_document.c
_SQL_VARIABLES = 500
_OUTERMOST = schema.source_object.alias("outermost")
_CURRENT = (
    select(
        *(_OBJECT[name] for name in ("id", "path", "disk_path", "blob_sha256", "acl_class_id")),
        *(_OBJECT[name] for name in ("container_object_id", "outermost_object_id", "contained_depth")),
        func.coalesce(_OUTERMOST.c.path, _OBJECT.path).label("outermost_path"),
        _OBJECT.converted_document_id,
        schema.source.c.name.label("source"),
        *(_OBJECT[name] for name in Relation.__dataclass_fields__),
        _OBJECT.compared_as,
        _OBJECT.quarantine_class,
        _OBJECT.quarantine_converter,
        _OBJECT.index_fingerprint,
        _DOCUMENT.converter_name,
        _DOCUMENT.converter_version,
        _DOCUMENT.text_sha256,
        _DOCUMENT.original_text_sha256,
        _DOCUMENT.title.label("stated_title"),
        _DOCUMENT.enricher_version,
        _DOCUMENT.language,
    )
    .join(schema.source, schema.source.c.id == _OBJECT.source_id)
    .outerjoin(_OUTERMOST, _OUTERMOST.c.id == _OBJECT.outermost_object_id)
    .outerjoin(schema.converted_document, _DOCUMENT.id == _OBJECT.converted_document_id)
    .where(_OBJECT.state == ObjectState.CURRENT)
    .order_by(schema.source.c.name, _OBJECT.path, _OBJECT.id)
)


class PipelineObjects:
    """Reads and writes what the pipeline knows of source objects."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def current(self) -> list[PipelineObject]:
        """All current objects of all sources, those inside others too, by source and path."""
        return [_pipeline_object(dict(row)) for row in self._connection.execute(_CURRENT).mappings()]

    def inside(self, container_object_id: int) -> list[PipelineObject]:
        """The current objects that lie in a container, one level deep, by path."""
        statement = _CURRENT.where(_OBJECT.container_object_id == container_object_id)
        return [_pipeline_object(dict(row)) for row in self._connection.execute(statement).mappings()]

    def set_converted(self, object_id: int, document_id: int) -> None:
        """Link an object to its text and lift its quarantine.

        Its passages are forgotten where they are spans of another text, which they would misquote until it is indexed.
        """
        held = select(_OBJECT.converted_document_id).where(_OBJECT.id == object_id).scalar_subquery()
        texts = select(_DOCUMENT.text_sha256).where((_DOCUMENT.id == held) | (_DOCUMENT.id == document_id))
        if len(set(self._connection.execute(texts).scalars())) > 1:
            self.unindex([object_id])
        self._update(
            object_id,
            converted_document_id=document_id,
            quarantine_class=None,
            quarantine_message=None,
            quarantine_converter=None,
        )

    def set_quarantined(self, object_id: int, error_class: str, message: str, converter: str) -> None:
        """Record why an object has no text; ``converter`` (name and version) decides when it is tried again."""
        self._update(
            object_id,
            converted_document_id=None,
            quarantine_class=error_class,
            quarantine_message=message,
            quarantine_converter=converter,
        )

    def set_relations(self, relations: Mapping[int, Relation]) -> None:
        """Record the relations of objects, by object id."""
        if not relations:
            return
        statement = (
            update(schema.source_object)
            .where(_OBJECT.id == bindparam("object_id"))
            .values({name: bindparam(f"new_{name}") for name in Relation.__dataclass_fields__})
        )
        self._connection.execute(
            statement,
            [
                {"object_id": object_id}
                | {f"new_{name}": getattr(relation, name) for name in Relation.__dataclass_fields__}
                for object_id, relation in relations.items()
            ],
        )

    def set_indexed(self, object_id: int, fingerprint: str) -> None:
        """Record with what content an object stands in the indexes."""
        self._update(object_id, index_fingerprint=fingerprint)

    def to_unindex(self) -> list[int]:
        """Objects that stand in the indexes though they are no longer current or have no text."""
        statement = select(_OBJECT.id).where(
            _OBJECT.index_fingerprint.is_not(None),
            (_OBJECT.state != ObjectState.CURRENT) | _OBJECT.converted_document_id.is_(None),
        )
        return list(self._connection.execute(statement.order_by(_OBJECT.id)).scalars())

    def unindex(self, object_ids: Iterable[int]) -> None:
        """Take objects out of the catalog's view of the indexes."""
        ids = list(object_ids)
        if ids:
            Meta(self._connection).note_row_change()
        for start in range(0, len(ids), _SQL_VARIABLES):
            part = ids[start : start + _SQL_VARIABLES]
            self._connection.execute(delete(schema.chunk).where(schema.chunk.c.object_id.in_(part)))
            self._connection.execute(
                update(schema.source_object).where(_OBJECT.id.in_(part)).values(index_fingerprint=None)
            )

    def _update(self, object_id: int, **values: str | int | None) -> None:
        if "converted_document_id" in values:
            # Passages are seen through the text that they are spans of.
            Meta(self._connection).note_passage_write()
        self._connection.execute(update(schema.source_object).where(_OBJECT.id == object_id).values(**values))


def _pipeline_object(values: dict[str, Any]) -> PipelineObject:
    relation = {name: values.pop(name) for name in Relation.__dataclass_fields__}
    values["language"] = Language(values["language"] or Language.UNKNOWN)
    if relation["document_key"] is None:
        return PipelineObject(relation=None, **values)
    relation["version_status"] = VersionStatus(str(relation["version_status"]))
    return PipelineObject(relation=Relation(**relation), **values)
