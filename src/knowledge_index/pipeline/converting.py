"""The convert stage for one object: whether it is due, and how it is set aside."""

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import ObjectError, PipelineObject
from knowledge_index.catalog.status_records import QuarantinedObject
from knowledge_index.config import ConversionSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.isolated import LIMIT_CLASSES
from knowledge_index.domain.errors import ConversionError
from knowledge_index.pipeline.report import RunReport

NO_CONVERTER = "none"


def needs_conversion(each: PipelineObject, settings: ConversionSettings) -> bool:
    """Whether the object's text is missing or made by another converter version than the one at hand.

    A quarantined object is tried again only by another converter version, or under other limits where a limit was the
    reason; changed bytes are a new object.
    """
    if each.quarantine_class is not None:
        return each.quarantine_converter != tried_by(each.path, each.quarantine_class, settings)
    return f"{each.converter_name} {each.converter_version}" != converter_id(each.path, settings.ocr_languages)


def tried_by(path: str, error_class: str, settings: ConversionSettings) -> str:
    """What a quarantine remembers: the converter, and the limits where they decided."""
    converter = converter_id(path, settings.ocr_languages)
    if error_class not in LIMIT_CLASSES:
        return converter
    return f"{converter} {settings.model_dump_json(exclude={'workers', 'ocr_languages'})}"


def converter_id(path: str, ocr_languages: str) -> str:
    """Name and version of the converter that a path's suffix asks for."""
    try:
        return " ".join(name_and_version(path, ocr_languages))
    except ConversionError:
        return NO_CONVERTER


def name_and_version(path: str, ocr_languages: str) -> tuple[str, str]:
    """The same apart.

    Raises:
        ConversionError: no converter reads such files (``unsupported``).
    """
    converter = converter_for(path, ocr_languages)
    return converter.name, converter.version


def known_text(catalog: Catalog, each: PipelineObject, ocr_languages: str) -> int | None:
    """The id of the text that the converter at hand has made of an object's bytes, or None.

    Raises:
        ConversionError: no converter reads its format.
    """
    name, version = name_and_version(each.path, ocr_languages)
    with catalog.transaction() as session:
        return session.conversions.find(each.blob_sha256, name, version)


def quarantine_bug(
    catalog: Catalog, each: PipelineObject, error: Exception, report: RunReport, ocr_languages: str
) -> None:
    """Set an object aside whose bytes or text made our own code fail; the class is ``internal``."""
    quarantine(catalog, each, internal_error(each, error, ocr_languages), report)


def internal_error(each: PipelineObject, error: Exception, ocr_languages: str) -> ObjectError:
    """What is recorded where our own code failed."""
    return ObjectError("internal", f"{type(error).__name__}: {error}", converter_id(each.path, ocr_languages))


def quarantine(catalog: Catalog, each: PipelineObject, error: ObjectError, report: RunReport) -> None:
    """Set an object aside until its bytes or what :func:`tried_by` says of it change."""
    with catalog.transaction() as session:
        session.pipeline_objects.set_quarantined(each.id, error.error_class, error.message, error.converter)
    count_quarantined(each.source, each.path, error, report, is_contained=each.container_object_id is not None)


def count_quarantined(source: str, path: str, error: ObjectError, report: RunReport, *, is_contained: bool) -> None:
    """Report that an object was set aside."""
    report.quarantined.append(QuarantinedObject(source, path, error.error_class, error.message, is_contained))
