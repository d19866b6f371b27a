"""Which matter a path belongs to."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

_REFERENCE = re.compile(r"(?P<ref>[A-Z]{1,4}-\d{4}-\d{3,6})(?:\s+(?P<title>.+))?")


@dataclass(frozen=True)
class Matter:
    """The file that documents belong to; both fields are empty where a path names none."""

    ref: str
    title: str


def matter_of(path: str) -> Matter:
    """The matter that a source path lies in.

    The outermost folder that opens with a matter reference (``M-2026-0001 Lease Nordkai``) decides; without one the
    top folder is both reference and title, and a file at the root belongs to none.
    """
    folders = PurePosixPath(path).parent.parts
    for folder in folders:
        match = _REFERENCE.fullmatch(folder)
        if match:
            return Matter(match["ref"], match["title"] or match["ref"])
    return Matter(folders[0], folders[0]) if folders else Matter("", "")
