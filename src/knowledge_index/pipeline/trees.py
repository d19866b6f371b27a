"""One file on disk with all that is inside it, converted from the outside in."""

import hashlib
import hmac
from collections.abc import Callable, Sequence

from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.records import ContainedFileRecord, ContainedObject, ObjectError, PipelineObject
from knowledge_index.config import ConversionSettings
from knowledge_index.domain.contained import MAX_BYTES, MAX_DEPTH, MAX_FILES, contained_path
from knowledge_index.domain.documents import ContainedFile, Content, ConvertedDocument
from knowledge_index.domain.errors import ConversionError, KnowledgeIndexError, SourceError
from knowledge_index.pipeline.converting import (
    NO_CONVERTER,
    count_quarantined,
    internal_error,
    name_and_version,
    needs_conversion,
    tried_by,
)
from knowledge_index.pipeline.read_ahead import ReadAhead
from knowledge_index.pipeline.report import RunReport

# What is hashed at a time, so that a large file inside another is never whole in memory.
_HASHED_BYTES = 1 << 20


def contained_key_of(installation_key: bytes, container_key: str, name: str) -> str:
    """A contained file's object key: a keyed hash (HMAC-SHA256, 32 hex digits) of its container's key and its name.

    Two zeros keep it apart from the key of any path on disk.
    """
    return hmac.new(installation_key, f"{container_key}\0\0{name}".encode(), hashlib.sha256).hexdigest()[:32]


class TreeConverter:
    """Gives a file on disk and all that is inside it their texts, or sets them aside one by one.

    A contained file has no bytes of its own anywhere: they come out of its container. They are taken from the
    conversion that has just been made; where there was none, because a run was killed or only the inner format's
    converter is new, the container is opened again. Each object is committed by itself, so a killed run goes on where
    it stood.
    """

    def __init__(
        self,
        catalog: Catalog,
        ahead: ReadAhead,
        installation_key: Callable[[], bytes],
        report: RunReport,
        limit: int | None,
        on_tried: Callable[[PipelineObject], None],
    ) -> None:
        self._catalog = catalog
        self._ahead = ahead
        self._settings = ahead.settings
        self._installation_key = installation_key
        self._report = report
        self._limit = limit
        self._on_tried = on_tried
        self.tried: set[int] = set()

    @property
    def limit_is_reached(self) -> bool:
        """Whether as many objects were tried as the run may try."""
        # One that cannot be read stays pending and comes first again, so it must not use up the limit.
        return self._limit is not None and len(self.tried) - len(self._report.unread) >= self._limit

    def convert(self, outermost: PipelineObject) -> None:
        """Convert what is pending of one file on disk; a failure touches nothing outside of it.

        Raises:
            PreconditionError: no conversion can be isolated on this machine.
        """
        try:
            self._convert(outermost, None)
        except SourceError as error:
            self._report.unread.append((outermost.path, str(error)))

    def _convert(self, each: PipelineObject, around: "_Opened | None") -> None:
        opened = _Opened(each, around, self._ahead, self._report)
        if needs_conversion(each, self._settings):
            if self.limit_is_reached:
                return
            self.tried.add(each.id)
            holds_files = self._convert_one(each, opened)
            self._on_tried(each)
            if not holds_files:
                return
        with self._catalog.transaction() as session:
            inside = session.pipeline_objects.inside(each.id)
        for child in inside:
            self._convert(child, opened)

    def _convert_one(self, each: PipelineObject, opened: "_Opened") -> bool:
        """Returns whether files lie inside."""
        try:
            found = self._document_of(each, opened)
            with self._catalog.transaction() as session:
                document_id = found if isinstance(found, int) else _store(session, each, found, ())
                inside = self._objects_inside(session, each, document_id)
                session.pipeline_objects.set_converted(each.id, document_id)
                # What had no text until now holds nothing that could be out of date.
                has_had_text = each.converted_document_id is not None
                new_paths = session.contained.renew(each.id, inside) if inside or has_had_text else set()
            for new in inside:
                if new.path in new_paths and new.error is not None:
                    count_quarantined(each.source, new.path, new.error, self._report, is_contained=True)
            return bool(inside)
        except ConversionError as error:
            tried = tried_by(each.path, error.error_class, self._settings)
            self._set_aside(each, opened, ObjectError(error.error_class, str(error), tried), error)
        except KnowledgeIndexError:
            raise
        except Exception as error:  # noqa: BLE001  a converter's own bug is one object's trouble, not the estate's
            self._set_aside(each, opened, internal_error(each, error, self._settings.ocr_languages), error)
        return False

    def _document_of(self, each: PipelineObject, opened: "_Opened") -> int | ConvertedDocument:
        """The id of the object's stored text, or the text, still to be stored.

        One that holds files is stored at once: it stays, even where this place is refused because of them. Any other is
        stored together with the object, as each transaction is a wait for the disk.
        """
        if each.contained_depth > MAX_DEPTH:
            raise _PlaceError("too_deep", _too_deep(each.path, self._settings).message)
        name, version = name_and_version(each.path, self._settings.ocr_languages)
        with self._catalog.transaction() as session:
            failed = opened.known_error(session)
            known = session.conversions.find(each.blob_sha256, name, version)
        if failed is not None:
            raise ConversionError(failed.error_class, failed.message)
        if known is not None:
            return known
        document = opened.converted()
        if not document.contained:
            return document
        records = [_record(each, inner) for inner in document.contained]
        with self._catalog.transaction() as session:
            return _store(session, each, document, records)

    def _objects_inside(
        self, session: CatalogSession, each: PipelineObject, document_id: int
    ) -> Sequence[ContainedObject]:
        files = [file for file in session.contained.files(document_id) if not file.is_decoration]
        if not files:
            return ()
        count, size_bytes = session.contained.size_around(each.outermost_object_id or each.id, each.id)
        if count + len(files) > MAX_FILES:
            raise _PlaceError("too_many_files", f"more than {MAX_FILES} files lie inside {each.outermost_path}")
        if size_bytes + sum(file.size_bytes for file in files) > MAX_BYTES:
            raise _PlaceError("too_large", f"more than {MAX_BYTES >> 20} MiB lie inside {each.outermost_path}")
        own_key = session.contained.object_key_of(each.id)
        objects = []
        for file in files:
            path = contained_path(each.path, file.name)
            key = contained_key_of(self._installation_key(), own_key, file.name)
            if each.contained_depth < MAX_DEPTH:
                error = _stated_error(file, path, self._settings)
            else:
                error = _too_deep(path, self._settings)
            objects.append(ContainedObject(path, key, file.blob_sha256, file.size_bytes, error))
        return objects

    def _set_aside(self, each: PipelineObject, opened: "_Opened", error: ObjectError, cause: Exception) -> None:
        with self._catalog.transaction() as session:
            session.pipeline_objects.set_quarantined(each.id, error.error_class, error.message, error.converter)
            session.contained.renew(each.id, ())
            # A format that nobody reads costs nothing to refuse again, and its message names this very path.
            if not isinstance(cause, _PlaceError) and error.converter != NO_CONVERTER:
                opened.remember_error(session, error)
        count_quarantined(
            each.source, each.path, error, self._report, is_contained=each.container_object_id is not None
        )


class _PlaceError(ConversionError):
    """A refusal because of where the bytes lie: the same bytes may be read elsewhere."""


class _Opened:
    """A file of a tree on its way through: its bytes, and what came out of it."""

    def __init__(self, each: PipelineObject, around: "_Opened | None", ahead: ReadAhead, report: RunReport) -> None:
        self._each = each
        self._around = around
        self._ahead = ahead
        self._report = report
        self._contents: dict[str, ContainedFile] | None = None

    @property
    def _name(self) -> str:
        """Its name inside the container around it."""
        assert self._around is not None
        return self._each.path.removeprefix(contained_path(self._around._each.path, ""))

    def converted(self) -> ConvertedDocument:
        """Convert the bytes; what they hold is kept for the files inside."""
        if self._around is not None:
            document = self._ahead.convert_bytes(self._each.path, self._around._bytes_of(self._name))
        else:
            document = self._ahead.document(self._each)
        self._report.conversions += 1
        self._contents = {each.name: each for each in document.contained}
        return document

    def known_error(self, session: CatalogSession) -> ObjectError | None:
        """Why these bytes are known to have no text: by what their container says, or by the converter at hand."""
        if self._around is None:
            return None
        file = session.contained.failed_file(self._around._each.id, self._name)
        return None if file is None else _stated_error(file, self._each.path, self._ahead.settings)

    def remember_error(self, session: CatalogSession, error: ObjectError) -> None:
        """Keep with the container why these bytes have no text."""
        if self._around is not None:
            session.contained.set_error(self._around._each.id, self._name, error)

    def _bytes_of(self, name: str) -> Content:
        if self._contents is None:
            self.converted()
        assert self._contents is not None
        return self._contents[name].data


def _store(
    session: CatalogSession, each: PipelineObject, document: ConvertedDocument, files: Sequence[ContainedFileRecord]
) -> int:
    document_id = session.conversions.add(each.blob_sha256, document)
    session.contained.put_files(document_id, files)
    if document.thread is not None:
        session.mails.put(document_id, document.thread)
    return document_id


def _record(container: PipelineObject, file: ContainedFile) -> ContainedFileRecord:
    content = file.data
    if file.error_class is not None:
        # Bytes that nobody has are equal to no others.
        content = f"{container.blob_sha256}\0{file.name}".encode()
    return ContainedFileRecord(
        file.name, _sha256(content), len(file.data), file.is_decoration, file.error_class, file.message, None
    )


def _sha256(content: Content) -> str:
    digest = hashlib.sha256()
    for start in range(0, len(content), _HASHED_BYTES):
        digest.update(content[start : start + _HASHED_BYTES])
    return digest.hexdigest()


def _stated_error(file: ContainedFileRecord, path: str, settings: ConversionSettings) -> ObjectError | None:
    if file.error_class is None:
        return None
    wanted = tried_by(path, file.error_class, settings)
    if file.error_converter not in (None, wanted):
        return None
    return ObjectError(file.error_class, file.error_message or "", wanted)


def _too_deep(path: str, settings: ConversionSettings) -> ObjectError:
    message = f"more than {MAX_DEPTH} containers lie around the file; what is inside it is not looked at"
    return ObjectError("too_deep", message, tried_by(path, "too_deep", settings))
