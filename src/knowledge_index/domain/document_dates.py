"""The date of a document: what its name states, else its mail, else its file."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum

from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.versions import version_name_of

_NS_PER_S = 1_000_000_000


class DateEvidence(StrEnum):
    """What a document's date was read from, the best first."""

    NAME = "file name"
    MAIL = "mail"
    MAIL_AROUND_IT = "mail around it"
    FILE = "file changed"


@dataclass(frozen=True)
class DocumentDate:
    """The day of a document, and what says so."""

    day: date
    evidence: DateEvidence


def document_date_of(path: str, sent_at: str | None, sent_around_at: str | None, mtime_ns: int) -> DocumentDate:
    """The date that stands in the file's name; else that of the mail which it is; else that of the nearest mail which
    it lies in, since it was known by then; else the day on which the file was last changed, in UTC.

    ``sent_at`` and ``sent_around_at`` are ISO 8601; the day is that of the sender's clock.
    """
    if (stated := _named_day(path)) is not None:
        return DocumentDate(stated, DateEvidence.NAME)
    if (sent := _day_of(sent_at)) is not None:
        return DocumentDate(sent, DateEvidence.MAIL)
    if (sent := _day_of(sent_around_at)) is not None:
        return DocumentDate(sent, DateEvidence.MAIL_AROUND_IT)
    return DocumentDate(_day_of_file(mtime_ns), DateEvidence.FILE)


def parsed_day(text: str, what: str) -> date:
    """A day as people type it: ``2026-03-31`` or ``31.03.2026``.

    Raises:
        UsageError: it is none; ``what`` names the option or field in the message.
    """
    for form in ("%Y-%m-%d", "%d.%m.%Y"):
        try:
            return datetime.strptime(text.strip(), form).date()
        except ValueError:
            continue
    raise UsageError(f"{what}: {text!r} is no date; write a day as 2026-03-31 or 31.03.2026")


def _named_day(path: str) -> date | None:
    number = version_name_of(path).order[4]
    try:
        return date(number // 10_000, number // 100 % 100, number % 100)
    except ValueError:
        return None


def _day_of(moment: str | None) -> date | None:
    try:
        return None if moment is None else date.fromisoformat(moment[:10])
    except ValueError:
        return None


def _day_of_file(mtime_ns: int) -> date:
    try:
        return datetime.fromtimestamp(mtime_ns // _NS_PER_S, UTC).date()
    except (ValueError, OverflowError, OSError):
        # A file system may hold times that no calendar has.
        return date.min if mtime_ns < 0 else date.max
