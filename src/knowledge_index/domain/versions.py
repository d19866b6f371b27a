"""Version chains and version status as names and folders tell them."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath


class VersionStatus(StrEnum):
    """How binding one state of a paper is."""

    DRAFT = "draft"
    FINAL = "final"
    EXECUTED = "executed"
    UNKNOWN = "unknown"


_DRAFT_WORDS = (
    *("draft", "entwurf", "redline", "markup", "mark-up", "blackline"),
    *("vergleichsfassung", "änderungsfassung", "überarbeitung"),
)
_FINAL_WORDS = ("final", "clean", "endfassung", "reinfassung", "schlussfassung", "finalfassung")
_EXECUTED_WORDS = (
    *("executed", "signed", "execution copy", "conformed"),
    *("unterzeichnet", "unterschrieben", "ausgefertigt", "ausfertigung"),
)
_NEUTRAL_WORDS = ("fassung", "version", "copy", "kopie", "rev", "revision")


def _alternatives(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word).replace(r"\-", "[-_ ]?").replace(r"\ ", "[-_ ]?") for word in words)


_SEPARATOR = r"[-_ .]+"
_NUMBER = r"(?:v(?:ersion)?[-_ ]?|rev[-_ ]?|r)?\d{1,2}(?:[.-]\d{1,2})?"
_MARK = re.compile(
    rf"(?:^|{_SEPARATOR})[(\[]?(?P<mark>"
    rf"(?P<executed>{_alternatives(_EXECUTED_WORDS)})|(?P<final>{_alternatives(_FINAL_WORDS)})"
    rf"|(?P<draft>{_alternatives(_DRAFT_WORDS)})|(?P<neutral>{_alternatives(_NEUTRAL_WORDS)})"
    rf"|v(?:ersion)?[-_ ]?\d{{1,3}}(?:\.\d{{1,2}})?|\(\d{{1,2}}\))"
    rf"(?:{_SEPARATOR}?(?P<number>{_NUMBER}))?[)\]]?$"
)
# Ahead of a name only these speak of the version: a "Final Award" is a kind of paper.
_LEADING_MARK = re.compile(rf"(?:{_alternatives(_DRAFT_WORDS)}){_SEPARATOR}(?=\w)")
# A mark at the end is shorter than that, and a name may be long enough to make a search of all of it slow.
_LONGEST_MARK_CHARS = 64
_VERSION_NUMBER = re.compile(r"(\d+)(?:\.(\d+))?")
# A folder speaks for its files only when its whole name is a mark: "Drafts" does, "first-draft-scenario-01" does not.
_FOLDER_STATUS = re.compile(
    rf"(?:\d{{1,2}}{_SEPARATOR})?(?:(?P<executed>{_alternatives(_EXECUTED_WORDS)})"
    rf"|(?P<final>{_alternatives(_FINAL_WORDS)}|finals)|(?P<draft>{_alternatives(_DRAFT_WORDS)}|drafts|redlines|entwürfe))"
)


@dataclass(frozen=True)
class VersionName:
    """What a path says about the version it holds.

    ``family_stem`` is the casefolded file name without its suffix and version marks: files of one folder that share it
    are versions of one paper. ``order`` sorts the versions of a paper, earliest first.
    """

    family_stem: str
    status: VersionStatus
    order: tuple[int, int, int]


_STATUS_ORDER = {VersionStatus.UNKNOWN: 1, VersionStatus.DRAFT: 0, VersionStatus.FINAL: 2, VersionStatus.EXECUTED: 3}


def version_name_of(path: str) -> VersionName:
    """Read a path's version marks, English and German: draft, v2, redline, final, executed, Entwurf, Endfassung, ….

    Marks are taken off the end of the stem, one after another, and words for a draft off its beginning. The name
    decides the status, and where it is silent the nearest folder that names one does. A stem that consists of marks
    alone keeps its first one.
    """
    pure = PurePosixPath(path)
    stem = unicodedata.normalize("NFC", pure.stem).casefold().strip()
    statuses: list[VersionStatus] = []
    numbers: tuple[int, int] = (0, 0)
    while True:
        match = _MARK.search(stem, max(0, len(stem) - _LONGEST_MARK_CHARS))
        if match is None:
            break
        for status in (VersionStatus.EXECUTED, VersionStatus.FINAL, VersionStatus.DRAFT):
            if match[status.value]:
                statuses.append(status)
        number = _VERSION_NUMBER.search(match["mark"] + " " + (match["number"] or ""))
        if number and numbers == (0, 0):
            numbers = (int(number[1]), int(number[2] or 0))
        rest = stem[: match.start()].rstrip("-_ .")
        if not rest:
            stem = match["mark"]
            break
        stem = rest
    leading = _LEADING_MARK.match(stem)
    if leading:
        statuses.append(VersionStatus.DRAFT)
        stem = stem[leading.end() :]
    if statuses:
        status = max(statuses, key=lambda each: _STATUS_ORDER[each])
        # "final draft" is a draft, and a redline of an executed paper is not the executed paper.
        if VersionStatus.DRAFT in statuses:
            status = VersionStatus.DRAFT
    else:
        status = _folder_status(pure.parent)
    return VersionName(stem, status, (_STATUS_ORDER[status], *numbers))


def _folder_status(folder: PurePosixPath) -> VersionStatus:
    for part in reversed(folder.parts):
        match = _FOLDER_STATUS.fullmatch(unicodedata.normalize("NFC", part).casefold())
        if match:
            for status in (VersionStatus.EXECUTED, VersionStatus.FINAL, VersionStatus.DRAFT):
                if match[status.value]:
                    return status
    return VersionStatus.UNKNOWN


def document_key_of(path: str) -> str:
    """The key that the versions of one paper share within a source: their folder and family stem."""
    folder = unicodedata.normalize("NFC", PurePosixPath(path).parent.as_posix())
    return f"{folder}/{version_name_of(path).family_stem}"


def humanised_stem(path: str) -> str:
    """A readable title from a file name: version marks off, separators as blanks; the same for all versions."""
    stem = re.sub(r"[-_ ]+", " ", version_name_of(path).family_stem).strip()
    return stem[:1].upper() + stem[1:] if stem else PurePosixPath(path).stem
