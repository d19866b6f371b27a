"""What a mail is made of, whichever format it was read from, and the text made of that."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from html import unescape

from knowledge_index.convert.contained_names import ContainedNames
from knowledge_index.convert.html import html_text
from knowledge_index.convert.normalise import converted
from knowledge_index.domain.documents import ContainedFile, ConvertedDocument, MailThread
from knowledge_index.domain.errors import ConversionError

SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_BRACKETED_ID = re.compile(r"<([^<>\s]{1,998})>")
# A thread longer than that is followed by its latest mails; the ids before them are in those mails' own references.
_MAX_REFERENCES = 200
_WORD = re.compile(r"\w{2,}")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_UNSHOWN = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
# A plain body that says less than this share of what the HTML one says is a stand-in such as "see the HTML version".
_STAND_IN_SHARE = 0.5


@dataclass
class MailParts:
    """A mail taken apart; filled while it is read."""

    headers: dict[str, str] = field(default_factory=dict)
    bodies: list[str] = field(default_factory=list)
    files: list[ContainedFile] = field(default_factory=list)
    names: ContainedNames = field(default_factory=ContainedNames)
    notes: list[str] = field(default_factory=list)
    thread: MailThread = field(default_factory=lambda: MailThread(None, None, (), None))

    def note(self, line: str | None) -> None:
        """Keep a line about what could not be read, once."""
        if line and line not in self.notes:
            self.notes.append(line)


def mail_document(parts: MailParts, name: str, version: str) -> ConvertedDocument:
    """Headers as "Name: value" lines, a blank line, the bodies, one line an attachment."""
    head = "\n".join(f"{key}: {value}" for key, value in parts.headers.items())
    attached = [each for each in parts.files if not each.is_decoration]
    files = "\n".join(f"Attachment: {each.name}" for each in attached)
    blocks = [head, *(body.strip("\r\n") for body in parts.bodies), files]
    text = "\n\n".join(block for block in blocks if block.strip())
    for each in attached:
        if each.name.lower() == "winmail.dat":
            parts.note("winmail.dat: files in Outlook's own wrapping (TNEF) are not read")
        elif each.name.lower().endswith(".p7m"):
            parts.note(f"{each.name}: a signed or encrypted content (S/MIME) is not read")
    document = converted(text, parts.headers.get("Subject"), name, version)
    return replace(document, contained=tuple(parts.files), thread=parts.thread, degraded=tuple(parts.notes))


def thread_of(message_id: str, in_reply_to: str, references: str, date: str) -> MailThread:
    """The thread from the raw values of these headers; a reference stated twice counts once."""
    own = next(iter(_ids(message_id)), None)
    reply = next(iter(_ids(in_reply_to)), None)
    return MailThread(own, reply, tuple(dict.fromkeys(_ids(references)))[-_MAX_REFERENCES:], iso_date(date))


def iso_date(date: str) -> str | None:
    """A Date header in ISO 8601, or None where it is none."""
    try:
        sent: datetime = parsedate_to_datetime(date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return sent.isoformat()


def choose_body(plain: str, html: str) -> str:
    """The plain reading of an alternative; both, where the plain one says little of what the HTML one says."""
    if not plain.strip() or not html.strip():
        return plain if plain.strip() else html
    said = set(_WORD.findall(plain.casefold()))
    wanted = set(_WORD.findall(html.casefold()))
    if wanted and len(said & wanted) < _STAND_IN_SHARE * len(wanted):
        return plain.rstrip() + "\n\n" + html.lstrip()
    return plain


def body_of_html(markup: str) -> str:
    """An HTML body as the text that is shown; one that no parser lays out gives its words without their tags."""
    readable = _CONTROLS.sub("", markup.lstrip("\ufeff \t\r\n"))
    try:
        return html_text(readable)
    except ConversionError:
        return unescape(_TAG.sub(" ", _UNSHOWN.sub(" ", readable)))


def _ids(header: str) -> list[str]:
    found = _BRACKETED_ID.findall(header)
    return found or [each.strip("<>,;") for each in header.split() if "@" in each and len(each) < 1000]
