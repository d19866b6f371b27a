"""Puts objects in every state into a real catalog, as sync and run would."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from knowledge_index.access import acl_class_of
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.passage_records import ChunkRecord, IndexRowRecord, RowKind
from knowledge_index.catalog.records import ObjectState, ObservedObject, Relation
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.grants import Access, AclClass, Grant
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.versions import VersionStatus

AT = "2026-01-01T00:00:00+00:00"
LATER = "2026-02-02T00:00:00+00:00"
NOBODY = acl_class_of([])


class RollBackError(Exception):
    """Ends a transaction."""


@contextmanager
def rolled_back(catalog: Catalog) -> Iterator[CatalogSession]:
    """A transaction that leaves no trace, so that one catalog serves many examples."""
    with suppress(RollBackError), catalog.transaction() as session:
        yield session
        raise RollBackError


def seen_by(*principals: str) -> AclClass:
    return acl_class_of([Grant(Principal.parse(each), Access.ALLOW) for each in principals])


@dataclass(frozen=True)
class Builder:
    session: CatalogSession

    def source(self, name: str = "dms") -> int:
        if name not in {each.name for each in self.session.sources.all()}:
            self.session.sources.add(name, "local_fs", f"/{name}", None)
        return next(each.id for each in self.session.sources.all() if each.name == name)

    def object(self, path: str, acl_class: AclClass = NOBODY, *, blob: str = "", source: str = "dms") -> int:
        """A current object as a sync records it; returns its id."""
        self.session.acl_classes.put(acl_class)
        source_id = self.source(source)
        blob_sha256 = (blob or path).encode().hex().rjust(64, "0")
        observed = ObservedObject(path, path, f"key of {source} {path}", blob_sha256, 1, 1, 1, acl_class.id)
        self.session.objects.add(source_id, observed, AT)
        return next(each.id for each in self.session.objects.current(source_id) if each.path == path)

    def convert(self, object_id: int, text: str = "some text") -> int:
        blob = self._blob(object_id)
        document = ConvertedDocument(text=text, title=None, converter_name="plain", converter_version="1")
        known = self.session.conversions.find(blob, "plain", "1")
        document_id = known if known is not None else self.session.conversions.add(blob, document)
        self.session.pipeline_objects.set_converted(object_id, document_id)
        relation = Relation(f"paper {object_id}", f"Paper {object_id}", VersionStatus.DRAFT, "1", "M-1", "Matter")
        self.session.pipeline_objects.set_relations({object_id: relation})
        return document_id

    def index(self, object_id: int, chunks: Sequence[ChunkRecord], acl_class: AclClass) -> None:
        self.session.acl_classes.put(acl_class)
        self.session.passages.put_rows(
            [IndexRowRecord(each.row_key, RowKind.PASSAGE, acl_class.id, "M-1", "head", 1, ()) for each in chunks]
        )
        self.session.passages.replace_chunks(object_id, chunks, self.profile(object_id, acl_class))
        self.session.pipeline_objects.set_indexed(object_id, "fingerprint")

    def profile(self, object_id: int, acl_class: AclClass) -> ChunkRecord:
        """The stored profile of an object."""
        key = f"profile {object_id}"
        self.session.passages.put_rows([IndexRowRecord(key, RowKind.PROFILE, acl_class.id, "M-1", "names", 0, ())])
        return ChunkRecord(key, 0, 4, "")

    def indexed(self, path: str, acl_class: AclClass, *, blob: str = "", source: str = "dms") -> int:
        """A current object that went through the whole pipeline with one passage."""
        object_id = self.object(path, acl_class, blob=blob, source=source)
        self.convert(object_id)
        self.index(object_id, [ChunkRecord(f"row {acl_class.id} {path}", 0, 4, "")], acl_class)
        return object_id

    def quarantine(self, object_id: int, error_class: str = "damaged", message: str = "is torn") -> None:
        self.session.pipeline_objects.set_quarantined(object_id, error_class, message, "plain 1")

    def end(self, object_id: int, state: ObjectState = ObjectState.TOMBSTONED) -> None:
        self.session.objects.end([object_id], state, LATER)

    def _blob(self, object_id: int) -> str:
        return next(each.blob_sha256 for each in self.session.pipeline_objects.current() if each.id == object_id)
