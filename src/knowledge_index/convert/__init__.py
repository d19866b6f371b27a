"""Bytes become converted documents: one module a format, and this registry, which imports none before it is needed."""

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath

from knowledge_index.convert.base import Converter
from knowledge_index.domain.errors import ConversionError

_MODULE_BY_SUFFIX = {
    ".docx": "docx",
    ".eml": "eml",
    ".md": "plaintext",
    ".pdf": "pdf",
    ".txt": "plaintext",
    ".xlsx": "xlsx",
}

__all__ = ["converter_for", "converter_modules"]


def converter_for(path: str) -> Converter:
    """The converter for the suffix of ``path``, whatever its case; one instance a format.

    Raises:
        ConversionError: no converter reads that suffix (``unsupported``).
    """
    suffix = PurePosixPath(path).suffix.lower()
    module = _MODULE_BY_SUFFIX.get(suffix)
    if module is None:
        known = ", ".join(sorted(_MODULE_BY_SUFFIX))
        raise ConversionError("unsupported", f"{path}: no converter reads '{suffix}'; the formats read are {known}")
    return _load(module)


def converter_modules() -> list[str]:
    """The names of the modules that hold the converters."""
    return sorted({f"{__name__}.{module}" for module in _MODULE_BY_SUFFIX.values()})


@cache
def _load(module: str) -> Converter:
    loaded: Converter = import_module(f"knowledge_index.convert.{module}").CONVERTER
    return loaded
