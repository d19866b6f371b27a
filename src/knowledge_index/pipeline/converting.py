"""The convert stage: bytes to text, once for identical bytes."""

import hashlib
from collections.abc import Mapping

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import PipelineObject, QuarantinedObject
from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError, SourceError
from knowledge_index.pipeline.report import RunReport
from knowledge_index.sources.base import SyncSource

NO_CONVERTER = "none"


def needs_conversion(each: PipelineObject, ocr_languages: str) -> bool:
    """Whether the object's text is missing or made by another converter version than the one at hand.

    A quarantined object is tried again only by another converter version; changed bytes are a new object.
    """
    wanted = converter_id(each.path, ocr_languages)
    if each.quarantine_class is not None:
        return each.quarantine_converter != wanted
    return f"{each.converter_name} {each.converter_version}" != wanted


def converter_id(path: str, ocr_languages: str) -> str:
    """Name and version of the converter that a path's suffix asks for."""
    try:
        converter = converter_for(path, ocr_languages)
    except ConversionError:
        return NO_CONVERTER
    return f"{converter.name} {converter.version}"


def convert_object(
    catalog: Catalog,
    sources: Mapping[str, SyncSource],
    each: PipelineObject,
    report: RunReport,
    ocr_languages: str,
) -> None:
    """Give one object its text, or quarantine it; a failure touches no other object."""
    try:
        document_id = _converted(catalog, sources[each.source], each, report, ocr_languages)
    except SourceError as error:
        report.unread.append((each.path, str(error)))
        return
    except ConversionError as error:
        quarantine(catalog, each, error.error_class, str(error), report, ocr_languages)
        return
    except Exception as error:  # noqa: BLE001  a converter's own bug is one object's trouble, not the estate's
        quarantine_bug(catalog, each, error, report, ocr_languages)
        return
    if document_id is not None:
        with catalog.transaction() as session:
            session.pipeline_objects.set_converted(each.id, document_id)


def _converted(
    catalog: Catalog, source: SyncSource, each: PipelineObject, report: RunReport, ocr_languages: str
) -> int | None:
    converter = converter_for(each.path, ocr_languages)
    with catalog.transaction() as session:
        known = session.conversions.find(each.blob_sha256, converter.name, converter.version)
    if known is not None:
        return known
    data = source.read(each.disk_path)
    if hashlib.sha256(data).hexdigest() != each.blob_sha256:
        report.unread.append((each.path, "has changed since it was synced; run 'ki sync' again"))
        return None
    document = converter.convert(data)
    report.conversions += 1
    with catalog.transaction() as session:
        return session.conversions.add(each.blob_sha256, document)


def quarantine_bug(
    catalog: Catalog, each: PipelineObject, error: Exception, report: RunReport, ocr_languages: str
) -> None:
    """Set an object aside whose bytes or text made our own code fail; the class is ``internal``."""
    quarantine(catalog, each, "internal", f"{type(error).__name__}: {error}", report, ocr_languages)


def quarantine(
    catalog: Catalog, each: PipelineObject, error_class: str, message: str, report: RunReport, ocr_languages: str
) -> None:
    """Set an object aside until its bytes or its converter's version change."""
    with catalog.transaction() as session:
        session.pipeline_objects.set_quarantined(each.id, error_class, message, converter_id(each.path, ocr_languages))
    report.quarantined.append(QuarantinedObject(each.source, each.path, error_class, message))
