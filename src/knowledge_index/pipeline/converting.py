"""The convert stage: bytes to text, once for identical bytes."""

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import PipelineObject, QuarantinedObject
from knowledge_index.config import ConversionSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.isolated import LIMIT_CLASSES
from knowledge_index.domain.errors import ConversionError, PreconditionError, SourceError
from knowledge_index.pipeline.read_ahead import ReadAhead
from knowledge_index.pipeline.report import RunReport

NO_CONVERTER = "none"


def needs_conversion(each: PipelineObject, settings: ConversionSettings) -> bool:
    """Whether the object's text is missing or made by another converter version than the one at hand.

    A quarantined object is tried again only by another converter version, or under other limits where a limit was the
    reason; changed bytes are a new object.
    """
    if each.quarantine_class is not None:
        return each.quarantine_converter != tried_by(each.path, each.quarantine_class, settings)
    return f"{each.converter_name} {each.converter_version}" != converter_id(each.path)


def tried_by(path: str, error_class: str, settings: ConversionSettings) -> str:
    """What a quarantine remembers: the converter, and the limits where they decided."""
    if error_class not in LIMIT_CLASSES:
        return converter_id(path)
    limits = settings.model_dump_json(exclude={"workers"})
    return f"{converter_id(path)} {limits}"


def converter_id(path: str) -> str:
    """Name and version of the converter that a path's suffix asks for."""
    try:
        converter = converter_for(path)
    except ConversionError:
        return NO_CONVERTER
    return f"{converter.name} {converter.version}"


def convert_object(catalog: Catalog, ahead: ReadAhead, each: PipelineObject, report: RunReport) -> None:
    """Give one object its text, or quarantine it; a failure touches no other object.

    Raises:
        PreconditionError: no conversion can be isolated on this machine.
    """
    try:
        document_id = _converted(catalog, ahead, each, report)
    except SourceError as error:
        report.unread.append((each.path, str(error)))
        return
    except ConversionError as error:
        tried = tried_by(each.path, error.error_class, ahead.settings)
        quarantine(catalog, each, error.error_class, str(error), tried, report)
        return
    except PreconditionError:
        raise
    except Exception as error:  # noqa: BLE001  our own bug over one object is that object's trouble, not the estate's
        quarantine_bug(catalog, each, error, report)
        return
    if document_id is not None:
        with catalog.transaction() as session:
            session.pipeline_objects.set_converted(each.id, document_id)


def _converted(catalog: Catalog, ahead: ReadAhead, each: PipelineObject, report: RunReport) -> int | None:
    known = known_text(catalog, each)
    if known is not None:
        return known
    document = ahead.document(each)
    if document is None:
        report.unread.append((each.path, "has changed since it was synced; run 'ki sync' again"))
        return None
    report.conversions += 1
    with catalog.transaction() as session:
        return session.conversions.add(each.blob_sha256, document)


def known_text(catalog: Catalog, each: PipelineObject) -> int | None:
    """The id of the text that the converter at hand has made of an object's bytes, or None.

    Raises:
        ConversionError: no converter reads its format.
    """
    converter = converter_for(each.path)
    with catalog.transaction() as session:
        return session.conversions.find(each.blob_sha256, converter.name, converter.version)


def quarantine_bug(catalog: Catalog, each: PipelineObject, error: Exception, report: RunReport) -> None:
    """Set an object aside whose bytes or text made our own code fail; the class is ``internal``."""
    quarantine(catalog, each, "internal", f"{type(error).__name__}: {error}", converter_id(each.path), report)


def quarantine(
    catalog: Catalog, each: PipelineObject, error_class: str, message: str, tried: str, report: RunReport
) -> None:
    """Set an object aside until its bytes or what :func:`tried_by` says of it change."""
    with catalog.transaction() as session:
        session.pipeline_objects.set_quarantined(each.id, error_class, message, tried)
    report.quarantined.append(QuarantinedObject(each.source, each.path, error_class, message))
