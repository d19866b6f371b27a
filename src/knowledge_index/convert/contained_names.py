"""Names for the files inside a container: safe, distinct, and telling their format."""

import unicodedata
from collections import Counter
from pathlib import PurePosixPath

from knowledge_index.domain.contained import SEPARATOR

_MAX_PART_CHARS = 120
_MAX_FOLDERS = 16
# Fixed here: the table of the mimetypes module depends on the machine.
_SUFFIX_BY_TYPE = {
    "application/msword": ".doc",
    "application/pdf": ".pdf",
    "application/rtf": ".rtf",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.ms-outlook": ".msg",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/x-zip-compressed": ".zip",
    "application/zip": ".zip",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/tiff": ".tif",
    "message/rfc822": ".eml",
    "text/calendar": ".ics",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/plain": ".txt",
    "text/rtf": ".rtf",
    "text/vcard": ".vcf",
}


class ContainedNames:
    """Hands out the names of one container's files, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: Counter[str] = Counter()

    def file_name(self, stated: str, content_type: str) -> str:
        """The name of a file without folders; without a name of its own, or without a suffix, it is named by its type.

        A path in an attachment's name is the sender's: its last part is kept.
        """
        name = _safe_part(stated.replace("\\", "/").rsplit("/", 1)[-1])
        suffix = _SUFFIX_BY_TYPE.get(content_type.lower(), "")
        if not name:
            name = f"unnamed{suffix or '.bin'}"
        elif suffix and not PurePosixPath(name).suffix:
            name += suffix
        return self._distinct(name)

    def title_name(self, title: str, suffix: str) -> str:
        """The name of a file that only has a title, such as the subject of a forwarded mail."""
        name = _safe_part(title.replace("/", "_").replace("\\", "_"))
        return self._distinct(f"{name or 'unnamed'}{suffix}")

    def member_path(self, stated: str) -> str:
        """The name of an archive's member, with its folders as far as they lead downwards."""
        parts = [_safe_part(part) for part in stated.replace("\\", "/").split("/")]
        kept = [part for part in parts if part]
        return self._distinct("/".join([*kept[:-1][:_MAX_FOLDERS], *(kept[-1:] or ["unnamed.bin"])]))

    def _distinct(self, name: str) -> str:
        # With "~", since "(2)" and "_2" read as marks of a version, and these are different files.
        name = name.replace(SEPARATOR, "_/")
        candidate = name
        while candidate.casefold() in self._taken:
            self._next[name.casefold()] += 1
            folder, slash, last = name.rpartition("/")
            pure = PurePosixPath(last)
            candidate = f"{folder}{slash}{pure.stem}~{self._next[name.casefold()] + 1}{pure.suffix}"
        self._taken.add(candidate.casefold())
        return candidate


def _safe_part(part: str) -> str:
    """One part of a path: NFC, no control character or surrogate, no drive, neither ``.`` nor ``..``, not too long."""
    visible = "".join(each for each in unicodedata.normalize("NFC", part) if unicodedata.category(each)[0] != "C")
    name = " ".join(visible.split())
    if not name.strip(". "):
        return ""
    if len(name) == 2 and name[1] == ":":
        return ""
    if len(name) > _MAX_PART_CHARS:
        suffix = PurePosixPath(name).suffix
        suffix = suffix if len(suffix) <= 10 else ""
        name = name[: _MAX_PART_CHARS - len(suffix)].rstrip() + suffix
    return name
