"""Outlook messages: the same text as of a mail file, read from a compound file."""

from email import message_from_string, policy
from email.message import Message
from email.utils import format_datetime
from io import BytesIO

from oxmsg.domain import constants

from knowledge_index.convert.eml import raw_header, shown_header
from knowledge_index.convert.mail_parts import (
    MailParts,
    body_of_html,
    choose_body,
    iso_date,
    mail_document,
    thread_of,
)
from knowledge_index.convert.outlook_storage import ROOT_HEADER_BYTES, OutlookStorage
from knowledge_index.convert.rtf import rtf_text
from knowledge_index.convert.written_mail import mail_bytes
from knowledge_index.domain.documents import ContainedFile, ConvertedDocument, MailThread
from knowledge_index.domain.errors import ConversionError

_MAX_EMBEDDED_DEPTH = 30
_TO, _CC = 1, 2
_BY_VALUE = 1
_SHOWN_IN_HTML = 4
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emz", ".wmz")


class MsgConverter:
    """Headers, body and one line an attachment, in the form that an .eml has.

    The body is the plain one, else the HTML one, else what the compressed RTF holds. Attached messages are given out as
    .eml files written from their properties, so that one reader serves both. Kept: recipients by name and address, the
    ids of the thread. Left out: all other properties. A file attached by a link alone is given out without bytes and
    with that reason. The title is the subject.
    """

    name = "msg"
    version = "1"
    suffixes = frozenset({".msg"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert an Outlook message.

        Raises:
            ConversionError: ``damaged`` where it is no compound file or no message.
        """
        from olefile import OleFileIO, isOleFile
        from oxmsg.storage import Storage

        if not isOleFile(data=data):
            raise ConversionError("damaged", "the file is no compound file, as every Outlook message is")
        try:
            with OleFileIO(BytesIO(data)) as ole:
                root = OutlookStorage(Storage.from_ole(ole), ROOT_HEADER_BYTES)
            if not root.has_properties:
                raise ConversionError("damaged", "the compound file holds no Outlook message")
            parts = message_parts(root, 0)
        except (ConversionError, MemoryError):
            raise
        except RecursionError as error:
            raise ConversionError("too_deep", "the message's storages lie in one another beyond measure") from error
        except Exception as error:
            raise ConversionError("damaged", f"the Outlook message cannot be read: {error!r}") from error
        return mail_document(parts, self.name, self.version)


CONVERTER = MsgConverter()


def message_parts(message: OutlookStorage, depth: int) -> MailParts:
    """A message taken apart, with its attachments."""
    if depth > _MAX_EMBEDDED_DEPTH:
        raise ConversionError("too_deep", f"messages lie in messages more than {_MAX_EMBEDDED_DEPTH} levels deep")
    transport = message_from_string(message.text(constants.PID_TRANSPORT_MESSAGE_HEADERS), policy=policy.compat32)
    parts = MailParts(headers=_headers(message, transport), thread=_thread(message, transport))
    body = _body(message, parts)
    if body.strip():
        parts.bodies.append(body)
    for each in message.attachments():
        _attach(each, parts, depth)
    for line in message.notes:
        parts.note(line)
    return parts


def _headers(message: OutlookStorage, transport: Message) -> dict[str, str]:
    people: dict[int, list[str]] = {_TO: [], _CC: []}
    for each in message.recipients():
        kind = each.integer(constants.PID_RECIPIENT_TYPE)
        if kind in people:
            address = each.text(constants.PID_SMTP_ADDRESS) or each.text(constants.PID_EMAIL_ADDRESS)
            people[kind].append(_person(each.text(constants.PID_DISPLAY_NAME), address))
    sender = _person(
        message.text(constants.PID_SENT_REPRESENTING_NAME) or message.text(constants.PID_SENDER_NAME),
        message.text(constants.PID_SENDER_SMTP_ADDRESS)
        or message.text(constants.PID_SENT_REPRESENTING_EMAIL_ADDRESS)
        or message.text(constants.PID_SENDER_EMAIL_ADDRESS),
    )
    sent = message.time(constants.PID_CLIENT_SUBMIT_TIME) or message.time(constants.PID_MESSAGE_DELIVERY_TIME)
    found = {
        "From": shown_header(transport, "From") or sender,
        "To": ", ".join(people[_TO]) or shown_header(transport, "To") or message.text(constants.PID_DISPLAY_TO),
        "Cc": ", ".join(people[_CC]) or shown_header(transport, "Cc") or message.text(constants.PID_DISPLAY_CC),
        "Date": shown_header(transport, "Date") or (format_datetime(sent) if sent else ""),
        "Subject": message.text(constants.PID_SUBJECT) or shown_header(transport, "Subject"),
    }
    return {name: folded for name, value in found.items() if (folded := " ".join(value.split()))}


def _person(name: str, address: str) -> str:
    # An address of Exchange's own directory tells a reader nothing.
    address = "" if address.upper().startswith("/O=") else address
    if not name or name == address:
        return address
    return f"{name} <{address}>" if address else name


def _thread(message: OutlookStorage, transport: Message) -> MailThread:
    sent = message.time(constants.PID_CLIENT_SUBMIT_TIME) or message.time(constants.PID_MESSAGE_DELIVERY_TIME)
    stated = thread_of(
        message.text(constants.PID_INTERNET_MESSAGE_ID) or raw_header(transport, "Message-ID"),
        message.text(constants.PID_IN_REPLY_TO_ID) or raw_header(transport, "In-Reply-To"),
        message.text(constants.PID_INTERNET_REFERENCES) or raw_header(transport, "References"),
        "",
    )
    sent_at = iso_date(raw_header(transport, "Date")) or (sent.isoformat() if sent else None)
    return MailThread(stated.message_id, stated.in_reply_to, stated.references, sent_at)


def _body(message: OutlookStorage, parts: MailParts) -> str:
    plain, html = message.text(constants.PID_BODY), message.html()
    body = choose_body(plain, body_of_html(html))
    compressed = message.binary(constants.PID_RTF_COMPRESSED)
    if body.strip() or not compressed:
        return body
    from compressed_rtf import decompress

    try:
        rtf = decompress(compressed)
    except Exception as error:  # noqa: BLE001 - the library does not say which errors it raises
        parts.note(f"the body, which is there as RTF alone, cannot be unpacked: {error!r}")
        return ""
    try:
        text, note = rtf_text(rtf)
    except ConversionError as error:
        parts.note(f"the body, which is there as RTF alone, cannot be read: {error}")
        return ""
    parts.note(note and f"the body: {note}")
    return text


def _attach(attachment: OutlookStorage, parts: MailParts, depth: int) -> None:
    name = (
        attachment.text(constants.PID_ATTACH_LONG_FILENAME)
        or attachment.text(constants.PID_ATTACH_FILENAME)
        or attachment.text(constants.PID_DISPLAY_NAME)
    )
    inner = attachment.embedded_message()
    if inner is not None:
        forwarded = message_parts(inner, depth + 1)
        title = forwarded.headers.get("Subject") or name.removesuffix(".msg")
        parts.files.append(ContainedFile(parts.names.title_name(title, ".eml"), mail_bytes(forwarded, depth)))
        return
    content_type = attachment.text(constants.PID_ATTACH_MIME_TAG)
    safe_name = parts.names.file_name(name, content_type)
    data = attachment.binary(constants.PID_ATTACH_DATA_BINARY)
    method = attachment.integer(constants.PID_ATTACH_METHOD)
    if method not in (None, _BY_VALUE) and not data:
        message = "the file is an embedded object or a link; its bytes are not in the message"
        parts.files.append(ContainedFile(safe_name, b"", error_class="not_enclosed", message=message))
        return
    is_picture = content_type.startswith("image/") or safe_name.lower().endswith(_PICTURES)
    is_shown = bool((attachment.integer(constants.PID_ATTACH_FLAGS) or 0) & _SHOWN_IN_HTML) or bool(
        attachment.text(constants.PID_ATTACH_CONTENT_ID) and attachment.integer(constants.PID_ATTACHMENT_HIDDEN)
    )
    parts.files.append(ContainedFile(safe_name, data, is_decoration=is_picture and is_shown))
