"""Zip archives whose bytes depend on their content alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

# The earliest date that the zip format can hold; any fixed one would do.
FIXED_DATE = (1980, 1, 1, 0, 0, 0)


def fixed_zip(parts: Mapping[str, str]) -> bytes:
    """Pack `parts` (name -> XML text) in the given order, with a fixed date, system and mode."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            info = zipfile.ZipInfo(name, FIXED_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 0  # the default is that of the machine it runs on
            info.external_attr = 0
            archive.writestr(info, text.encode("utf-8"), compresslevel=9)
    return buffer.getvalue()
