"""Text recognition (OCR) with Tesseract, called in this process through its C interface.

A conversion may start no program and write no file, so the library is loaded where it is installed, and nothing is
bound at build time. Functions and their signatures are those of Tesseract's ``capi.h``, version 4 and 5.
"""

import ctypes
import os
import weakref
from functools import cache
from typing import Any, Protocol

from knowledge_index.domain.errors import ConfigurationError

_LIBRARIES = (
    "libtesseract.so.5",
    "libtesseract.so.4",
    "libtesseract.5.dylib",
    "/opt/homebrew/lib/libtesseract.dylib",
    "/usr/local/lib/libtesseract.dylib",
)
_GREY_BYTES_PER_PIXEL = 1


class Recogniser(Protocol):
    """Reads the words of a picture; ``signature`` names all that its result depends on."""

    signature: str

    def text_of(self, pixels: bytes, width: int, height: int, stride: int, dpi: float) -> str:
        """The words of a grey picture of one byte a pixel, ``stride`` bytes a row."""
        ...


class TesseractRecogniser:
    """Tesseract with the languages given, as in ``deu+eng``. Not for two threads at once."""

    def __init__(self, languages: str) -> None:
        """Load the library and the languages.

        Raises:
            ConfigurationError: Tesseract or one of the languages is not installed.
        """
        self._library = _library()
        self._handle = self._library.TessBaseAPICreate()
        if self._library.TessBaseAPIInit3(self._handle, None, languages.encode()):
            raise ConfigurationError(
                f"conversion.ocr_languages is '{languages}', but Tesseract cannot load that; install its language data "
                "(Debian: tesseract-ocr-deu, tesseract-ocr-eng) or change the setting"
            )
        # The library complains at the end of the process of what was not given back.
        weakref.finalize(self, self._library.TessBaseAPIDelete, self._handle)
        version = ctypes.string_at(self._library.TessVersion()).decode()
        self.signature = f"tesseract {version} {languages}"

    def text_of(self, pixels: bytes, width: int, height: int, stride: int, dpi: float) -> str:
        """The words of a grey picture; empty where there are none."""
        api, handle = self._library, self._handle
        api.TessBaseAPISetImage(handle, pixels, width, height, _GREY_BYTES_PER_PIXEL, stride)
        api.TessBaseAPISetSourceResolution(handle, round(dpi))
        text = api.TessBaseAPIGetUTF8Text(handle)
        if not text:
            return ""
        try:
            return ctypes.string_at(text).decode("utf-8", "replace")
        finally:
            api.TessDeleteText(text)
            # What it learnt from one page must not decide how the next is read.
            api.TessBaseAPIClearAdaptiveClassifier(handle)
            api.TessBaseAPIClear(handle)


@cache
def _library() -> Any:
    # Tesseract would take all cores for one page, and be slower by it.
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
        for function, result, arguments in (
            ("TessVersion", pointer, []),
            ("TessBaseAPICreate", pointer, []),
            ("TessBaseAPIInit3", number, [pointer, text, text]),
            ("TessBaseAPISetImage", None, [pointer, text, number, number, number, number]),
            ("TessBaseAPISetSourceResolution", None, [pointer, number]),
            ("TessBaseAPIGetUTF8Text", pointer, [pointer]),
            ("TessBaseAPIDelete", None, [pointer]),
            ("TessBaseAPIClear", None, [pointer]),
            ("TessBaseAPIClearAdaptiveClassifier", None, [pointer]),
            ("TessDeleteText", None, [pointer]),
        ):
            bound = getattr(library, function)
            bound.restype, bound.argtypes = result, arguments
        return library
    raise ConfigurationError(
        "conversion.ocr_languages is set, but Tesseract's library is not installed; install it (Debian: tesseract-ocr) "
        "or leave the setting empty"
    )
