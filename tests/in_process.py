"""Stands in for isolated conversion where a test brings a converter of its own, which no other process knows."""

from collections.abc import Callable

import pytest

from knowledge_index.convert import converter_for
from knowledge_index.convert.base import Converter
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError


def convert_in_process(monkeypatch: pytest.MonkeyPatch, choose: Callable[..., Converter] = converter_for) -> None:
    """Have the pipeline convert in this process, with the converters that ``choose`` gives.

    It is called with a path and, at most, the languages of text recognition.
    """

    def convert(self: IsolatedConverter, name: str, data: bytes, turn: object = None) -> ConvertedDocument:
        try:
            return choose(name, self._settings.ocr_languages).convert(data)
        except ConversionError:
            raise
        except Exception as error:
            raise ConversionError("internal", f"{type(error).__name__}: {error}") from error

    monkeypatch.setattr(IsolatedConverter, "convert", convert)
    for module in ("converting", "read_ahead"):
        monkeypatch.setattr(f"knowledge_index.pipeline.{module}.converter_for", choose)
