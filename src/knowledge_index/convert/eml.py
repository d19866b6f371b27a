"""Mail: the headers that people read, the text, and what was attached, by name."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from typing import cast

from knowledge_index.convert.normalise import converted
from knowledge_index.convert.plaintext import decode
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")


class EmlConverter:
    """From, To, Cc, Date and Subject as "Name: value" lines, a blank line, the body, one line an attachment.

    The plain body is preferred; an HTML body is laid out as text. The title is the subject.
    """

    name = "eml"
    version = "1"
    suffixes = frozenset({".eml"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert an .eml.

        Raises:
            ConversionError: ``damaged`` where it has none of the headers, or ``empty``.
        """
        try:
            message = message_from_bytes(data, policy=policy.default)
            headers = {name: value for name in _SHOWN_HEADERS if (value := _header(message, name))}
            if not headers:
                raise ConversionError("damaged", "the file has none of a mail's headers; it is no RFC 5322 message")
            bodies: list[str] = []
            attachments: list[str] = []
            _collect(message, bodies, attachments)
        except (ConversionError, MemoryError):
            raise
        except Exception as error:
            raise ConversionError("damaged", f"the mail cannot be read: {error!r}") from error
        head = "\n".join(f"{name}: {value}" for name, value in headers.items())
        files = "\n".join(f"Attachment: {name}" for name in attachments)
        parts = [head, *(body.strip("\r\n") for body in bodies), files]
        return converted(
            "\n\n".join(part for part in parts if part.strip()), headers.get("Subject"), self.name, self.version
        )


CONVERTER = EmlConverter()


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message.get(name)
    except Exception:  # noqa: BLE001 - the header parsers trip over malformed addresses and dates in many ways
        value = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(str(value or "").split())


def _collect(part: Message, bodies: list[str], attachments: list[str]) -> None:
    if (
        part.get_content_type() == "message/rfc822"
        or part.get_content_disposition() == "attachment"
        or _file_name(part)
    ):
        attachments.append(_file_name(part) or _forwarded_subject(part) or part.get_content_type())
    elif part.get_content_type() == "multipart/alternative":
        _collect_alternative(list(_children(part)), bodies, attachments)
    elif part.is_multipart():
        for child in _children(part):
            _collect(child, bodies, attachments)
    elif part.get_content_maintype() == "text":
        bodies.append(_text(part))


def _collect_alternative(children: list[Message], bodies: list[str], attachments: list[str]) -> None:
    """The plain alternative, or the last of the others where it is absent or blank; attachments of all of them."""
    readings: list[tuple[bool, str]] = []
    for child in children:
        own: list[str] = []
        _collect(child, own, attachments)
        text = "\n\n".join(own)
        if text.strip():
            readings.append((child.get_content_type() == "text/plain", text))
    if readings:
        bodies.append(next((text for plain, text in readings if plain), readings[-1][1]))


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (child for child in payload if isinstance(child, Message))


def _file_name(part: Message) -> str:
    return " ".join((part.get_filename() or "").split())


def _forwarded_subject(part: Message) -> str:
    forwarded = next(_children(part), None)
    return "" if forwarded is None else _header(cast(EmailMessage, forwarded), "Subject")


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else str(payload or "").encode("utf-8", "surrogateescape")
    charset = part.get_content_charset()
    try:
        text = content.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = decode(content)
    return _html_text(text) if part.get_content_subtype() == "html" else text


def _html_text(html: str) -> str:
    from inscriptis import get_text

    return str(get_text(html)) if html.strip() else ""
