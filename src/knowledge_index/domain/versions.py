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
    *("draft", "entwurf", "redline", "redlined", "markup", "mark-up", "marked up", "blackline", "comments"),
    *("vergleichsfassung", "änderungsfassung", "überarbeitung", "kommentiert"),
)
_FINAL_WORDS = (
    *("final", "clean", "for signature", "signature version"),
    *("endfassung", "reinfassung", "schlussfassung", "finalfassung", "unterschriftsfassung"),
)
_EXECUTED_WORDS = (
    *("executed", "fully executed", "signed", "fully signed", "countersigned", "execution copy", "conformed"),
    *("unterzeichnet", "gegengezeichnet", "unterschrieben", "ausgefertigt", "ausfertigung", "beurkundet"),
)
_NEUTRAL_WORDS = ("fassung", "version", "copy", "kopie", "rev", "revision")


def _alternatives(words: tuple[str, ...]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\-", "[-_ ]?").replace(r"\ ", "[-_ ]?") for word in ordered)


_SEPARATOR = r"[-_ .]+"
_NUMBER = r"(?:v(?:ersion)?[-_ ]?|rev[-_ ]?|r)?\d{1,2}(?:[.-]\d{1,2})?"
_MARK = re.compile(
    rf"(?:^|{_SEPARATOR})[(\[]?(?P<mark>"
    rf"(?P<executed>{_alternatives(_EXECUTED_WORDS)})|(?P<final>{_alternatives(_FINAL_WORDS)})"
    rf"|(?P<draft>{_alternatives(_DRAFT_WORDS)})|(?P<neutral>{_alternatives(_NEUTRAL_WORDS)})"
    rf"|v(?:ersion)?[-_ ]?\d{{1,3}}(?:\.\d{{1,2}})?)"
    rf"(?:{_SEPARATOR}?(?P<number>{_NUMBER}))?[)\]]?$",
    re.IGNORECASE,
)
_COPY_NUMBER = re.compile(r"[-_ ]*\((?P<copy>\d{1,2})\)$")
_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DATE = (
    rf"(?:(?P<year>{_YEAR})(?P<dash>[-_.]?)(?P<month>{_MONTH})(?P=dash)(?P<day>{_DAY})"
    rf"|(?P<day_first>{_DAY})(?P<dot>[-_.])(?P<month_second>{_MONTH})(?P=dot)(?P<year_last>{_YEAR}))"
)
_TRAILING_DATE = re.compile(rf"(?:^|{_SEPARATOR}|(?<=[-_ .])[(\[])[(\[]?{_DATE}[)\]]?$")
_LEADING_DATE = re.compile(rf"{_DATE}{_SEPARATOR}(?=\w)")
# Initials are told from a party's name only by what they follow: "nda v3 JKM".
_INITIALS = re.compile(rf"{_SEPARATOR}[(\[]?[A-ZÄÖÜ]{{2,3}}[)\]]?$")
# Ahead of a name only these speak of the version: a "Final Award" is a kind of paper.
_LEADING_MARK = re.compile(rf"(?:{_alternatives(_DRAFT_WORDS)}){_SEPARATOR}(?=\w)", re.IGNORECASE)
_LEADING_COPY = re.compile(rf"(?:copy{_SEPARATOR}of|kopie{_SEPARATOR}von){_SEPARATOR}(?=\w)", re.IGNORECASE)
# A mark at the end is shorter than that, and a name may be long enough to make a search of all of it slow.
_LONGEST_MARK_CHARS = 64
_VERSION_NUMBER = re.compile(r"(\d+)(?:\.(\d+))?")
# A folder speaks for its files only when its whole name is a mark: "Drafts" does, "first-draft-scenario-01" does not.
_FOLDER_STATUS = re.compile(
    rf"(?:\d{{1,2}}{_SEPARATOR})?(?:(?P<executed>{_alternatives(_EXECUTED_WORDS)})(?:{_SEPARATOR}copies)?"
    rf"|(?P<final>{_alternatives(_FINAL_WORDS)}|finals)|(?P<draft>{_alternatives(_DRAFT_WORDS)}|drafts|redlines|entwürfe)"
    rf"|(?P<kept>old|superseded|previous{_SEPARATOR}versions|alt|alte{_SEPARATOR}fassungen|archive|archiv)"
    rf"|(?P<round>(?:round|runde|turn){_SEPARATOR}?\d{{1,2}})|closing|vollzug)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class VersionName:
    """What a path says about the version it holds.

    ``stem`` is the file name without its suffix and version marks, ``family_stem`` the same casefolded. ``order`` sorts
    the versions of a paper, earliest first: status, whether it lies in a folder for old versions (0) or not (1),
    version number, date as yyyymmdd, number of the copy. ``status_evidence`` and ``order_evidence`` say in words where
    both were read. ``names_its_paper`` is whether the name alone tells which paper this is a version of: a copy's
    number, a date or initials may as well tell two papers of one kind apart.
    """

    stem: str
    family_stem: str
    status: VersionStatus
    order: tuple[int, int, int, int, int, int]
    status_evidence: str
    order_evidence: str
    names_its_paper: bool
    is_dated: bool


STATUS_ORDER = {VersionStatus.UNKNOWN: 1, VersionStatus.DRAFT: 0, VersionStatus.FINAL: 2, VersionStatus.EXECUTED: 3}
BINDING_FIRST = {
    VersionStatus.EXECUTED: 0,
    VersionStatus.FINAL: 1,
    VersionStatus.DRAFT: 2,
    VersionStatus.UNKNOWN: 3,
}
_BY_RANK = (VersionStatus.EXECUTED, VersionStatus.FINAL, VersionStatus.DRAFT)


class _Reading:
    """Takes the marks off one stem."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.marks: list[tuple[VersionStatus, str]] = []
        self.number: tuple[int, int] | None = None
        self.date = 0
        self.copy = 0
        self.has_weak_mark = False
        while self._take_last():
            pass
        while self._take_first():
            pass

    def _take_last(self) -> bool:
        start = max(0, len(self.stem) - _LONGEST_MARK_CHARS)
        if match := _MARK.search(self.stem, start):
            for status in _BY_RANK:
                if match[status.value]:
                    self.marks.append((status, match["mark"]))
            number = _VERSION_NUMBER.search(match["mark"] + " " + (match["number"] or ""))
            if number and self.number is None:
                self.number = (int(number[1]), int(number[2] or 0))
            # "SPA comments" may be a memorandum about the paper as well as a state of it.
            if (match["neutral"] and not number) or match["mark"].casefold() == "comments":
                self.has_weak_mark = True
            if match["neutral"]:
                self.copy = max(self.copy, int(match["neutral"].casefold() in ("copy", "kopie")))
            rest = self.stem[: match.start()].rstrip("-_ .")
            if not rest:
                self.stem = match["mark"]
                return False
            self.stem = rest
            return True
        found = self._weak_mark(start)
        rest = self.stem[: found.start()].rstrip("-_ .") if found else ""
        self.stem = rest or self.stem
        return bool(rest)

    def _weak_mark(self, start: int) -> re.Match[str] | None:
        if match := _COPY_NUMBER.search(self.stem, start):
            self.copy, self.has_weak_mark = int(match["copy"]), True
            return match
        if match := _TRAILING_DATE.search(self.stem, start):
            self._take_date(match)
            return match
        match = _INITIALS.search(self.stem, start)
        mark = _MARK.search(self.stem[: match.start()], start) if match else None
        # "Draft NDA" has a name behind its mark, "NDA draft ABC" has initials.
        if mark and any(letter.isalpha() for letter in self.stem[: mark.start()]):
            self.has_weak_mark = True
            return match
        return None

    def _take_first(self) -> bool:
        if match := _LEADING_MARK.match(self.stem):
            self.marks.append((VersionStatus.DRAFT, match[0].rstrip("-_ .")))
        elif match := _LEADING_COPY.match(self.stem):
            self.copy, self.has_weak_mark = max(self.copy, 1), True
        elif match := _LEADING_DATE.match(self.stem):
            self._take_date(match)
        if match:
            self.stem = self.stem[match.end() :]
        return match is not None

    def _take_date(self, match: re.Match[str]) -> None:
        year, month = match["year"] or match["year_last"], match["month"] or match["month_second"]
        self.date = self.date or int(year + month + (match["day"] or match["day_first"]))


def version_name_of(path: str) -> VersionName:
    """Read a path's version marks, English and German: draft, v2, redline, final, executed, Entwurf, Endfassung, ….

    Marks, dates, copy numbers and the initials behind a mark are taken off the end of the stem, one after another;
    words for a draft, "copy of" and dates off its beginning. The name decides the status, and where it is silent the
    nearest folder that names one does. A stem that consists of marks alone keeps its first one.
    """
    pure = PurePosixPath(path)
    reading = _Reading(unicodedata.normalize("NFC", pure.stem).strip())
    folder_status, folder_word, is_kept = _folder_says(pure.parent)
    if reading.marks:
        # "final draft" is a draft, and a redline of an executed paper is not the executed paper.
        statuses = {each for each, _ in reading.marks}
        status = next(each for each in (VersionStatus.DRAFT, *_BY_RANK) if each in statuses)
        word = next(word for each, word in reading.marks if each is status)
        status_evidence = f"name says '{word}'"
    elif folder_status is not VersionStatus.UNKNOWN:
        status, status_evidence = folder_status, f"folder says '{folder_word}'"
    else:
        status, status_evidence = VersionStatus.UNKNOWN, "name and folder say nothing"
    major, minor = reading.number or (0, 0)
    said = [
        f"status {status}" if status is not VersionStatus.UNKNOWN else "",
        f"folder '{folder_word}'" if is_kept else "",
        f"version {major}.{minor}" if minor else f"version {major}" if reading.number else "",
        f"date {reading.date}" if reading.date else "",
        f"copy {reading.copy}" if reading.copy else "",
    ]
    return VersionName(
        stem=reading.stem,
        family_stem=reading.stem.casefold(),
        status=status,
        order=(STATUS_ORDER[status], 0 if is_kept else 1, major, minor, reading.date, reading.copy),
        status_evidence=status_evidence,
        order_evidence=", ".join(part for part in said if part),
        names_its_paper=not (reading.has_weak_mark or reading.copy or reading.date)
        and (bool(reading.marks) or not _lies_in_a_round(pure.parent)),
        is_dated=reading.date > 0,
    )


def _folder_says(folder: PurePosixPath) -> tuple[VersionStatus, str, bool]:
    """Status, the nearest folder that names it, and whether a folder for old versions is nearer than that."""
    kept = ""
    for part in reversed(folder.parts):
        match = _FOLDER_STATUS.fullmatch(unicodedata.normalize("NFC", part))
        if match is None:
            continue
        if match["kept"]:
            kept = kept or part
        for status in _BY_RANK:
            if match[status.value]:
                return status, part, bool(kept)
    return VersionStatus.UNKNOWN, kept, bool(kept)


def _lies_in_a_round(folder: PurePosixPath) -> bool:
    """Whether the folder holds one round of a negotiation: an unmarked name that comes back there may be another's."""
    match = _FOLDER_STATUS.fullmatch(folder.name)
    return match is not None and bool(match["round"])


def paper_folder_of(path: str) -> str:
    """The folder that a paper lies in: subfolders named for a status or a round (``signed``, ``round-2``) are off.

    An executed copy in such a subfolder belongs to the paper beside it. A top folder stays: it may be a matter.
    """
    parts = list(PurePosixPath(unicodedata.normalize("NFC", path)).parent.parts)
    while len(parts) > 1 and _FOLDER_STATUS.fullmatch(parts[-1]):
        parts.pop()
    return "/".join(parts) or "."


def document_key_of(path: str) -> str:
    """The key that the versions of one paper share within a source, by name alone: their folder and family stem."""
    return f"{paper_folder_of(path)}/{version_name_of(path).family_stem}"


def humanised_stem(path: str) -> str:
    """A readable title from a file name: version marks off, separators as blanks; the same for all versions."""
    stem = re.sub(r"[-_ ]+", " ", version_name_of(path).stem).strip()
    return stem[:1].upper() + stem[1:] if stem else PurePosixPath(path).stem


class PairEvidence(StrEnum):
    """What two texts tell of each other; each is a function of the two objects alone.

    The directed ones go from a later version to the earlier one it was made from.
    """

    SIMILAR = "similar"
    SAME_WORDING = "same wording"
    REDLINE_OF = "redline of"
    ACCEPTED_FROM = "accepted from"
    PDF_OF = "pdf of"


DIRECTED = frozenset({PairEvidence.REDLINE_OF, PairEvidence.ACCEPTED_FROM, PairEvidence.PDF_OF})
