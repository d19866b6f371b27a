"""Bytes become converted documents: one module a format, and this registry, which imports none before it is needed."""

from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath

from knowledge_index.convert.base import Converter
from knowledge_index.convert.content import kind_of
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_MODULE_BY_SUFFIX = {
    ".csv": "csv",
    ".docm": "docx",
    ".docx": "docx",
    ".eml": "eml",
    ".htm": "html",
    ".html": "html",
    ".md": "plaintext",
    ".msg": "msg",
    ".pdf": "pdf",
    ".pptx": "pptx",
    ".rtf": "rtf",
    ".tsv": "csv",
    ".txt": "plaintext",
    ".xlsm": "xlsx",
    ".xlsx": "xlsx",
    ".zip": "zip",
}
_KIND_NAMES = {"docx": "a Word file", "pdf": "a PDF", "pptx": "a presentation", "rtf": "RTF", "xlsx": "a workbook"}

__all__ = ["converter_for", "converter_modules"]


def converter_for(path: str, ocr_languages: str = "") -> Converter:
    """The converter for the suffix of ``path``, whatever its case; one instance a format.

    A file that is another kind than its name says, and one that is read, is converted as what it is; ``degraded`` says
    so. ``ocr_languages``, as in ``deu+eng``, switches on text recognition for scanned pages; empty is off.

    Raises:
        ConversionError: no converter reads that suffix (``unsupported``).
        ConfigurationError: ``ocr_languages`` asks for what is not installed.
    """
    suffix = PurePosixPath(path).suffix.lower()
    module = _MODULE_BY_SUFFIX.get(suffix)
    if module is None:
        known = ", ".join(sorted(_MODULE_BY_SUFFIX))
        raise ConversionError("unsupported", f"{path}: no converter reads '{suffix}'; the formats read are {known}")
    return _by_content(module, ocr_languages)


@dataclass(frozen=True)
class _ByContent:
    """The converter of a name, which hands a file of another kind to that kind's converter.

    Name and version stay those of the name's converter: a conversion is looked up by them before its bytes are read.
    """

    module: str
    ocr_languages: str

    @property
    def name(self) -> str:
        return self._own.name

    @property
    def version(self) -> str:
        return self._own.version

    @property
    def suffixes(self) -> frozenset[str]:
        return self._own.suffixes

    @property
    def _own(self) -> Converter:
        return _load(self.module, self.ocr_languages)

    def convert(self, data: bytes) -> ConvertedDocument:
        kind = kind_of(data)
        if kind is None or kind == self.module:
            return self._own.convert(data)
        document = _load(kind, self.ocr_languages).convert(data)
        note = f"is {_KIND_NAMES[kind]}, named {' or '.join(sorted(self.suffixes))}"
        return replace(
            document,
            converter_name=self.name,
            converter_version=self.version,
            degraded=(note, *document.degraded),
        )


def converter_modules() -> list[str]:
    """The names of the modules that hold the converters."""
    return sorted({f"{__name__}.{module}" for module in _MODULE_BY_SUFFIX.values()})


@cache
def _by_content(module: str, ocr_languages: str) -> Converter:
    return _ByContent(module, ocr_languages)


@cache
def _load(module: str, ocr_languages: str) -> Converter:
    if module == "pdf" and ocr_languages:
        from knowledge_index.convert.pdf import PdfConverter
        from knowledge_index.convert.recognition import TesseractRecogniser

        return PdfConverter(TesseractRecogniser(ocr_languages))
    loaded: Converter = import_module(f"knowledge_index.convert.{module}").CONVERTER
    return loaded
