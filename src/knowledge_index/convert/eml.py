"""Mail: the headers that people read, the text, and the files and mails attached."""

import base64
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.errors import MessageError
from email.header import decode_header
from email.message import Message

from knowledge_index.convert.charsets import decode_text
from knowledge_index.convert.mail_parts import (
    SHOWN_HEADERS,
    MailParts,
    body_of_html,
    choose_body,
    mail_document,
    thread_of,
)
from knowledge_index.domain.documents import ContainedFile, ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_MAX_MULTIPART_DEPTH = 50
_SIGNATURE_TYPES = frozenset(
    {"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"}
)
_WHOLE_MESSAGES = frozenset({"message/rfc822", "message/global"})
_CID = re.compile(r"""cid:([^"'\s>)]+)""", re.IGNORECASE)


class EmlConverter:
    """From, To, Cc, Date and Subject as "Name: value" lines, a blank line, the body, one line an attachment.

    The plain body is taken; an HTML body is laid out as text where there is no other, or where the plain one is a
    stand-in. Attachments and forwarded mails are given out as contained files under safe names. Inline pictures and
    detached signatures are decorations. Kept: quoted text, delivery reports, the ids of the thread. Left out: all other
    headers, and what is inside ``winmail.dat`` and S/MIME envelopes, which ``degraded`` says. The title is the subject.
    """

    name = "eml"
    version = "2"
    suffixes = frozenset({".eml"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert an .eml.

        Raises:
            ConversionError: ``damaged`` where it has none of the headers, or ``too_deep`` where parts lie in parts
                beyond measure.
        """
        parts = MailParts()
        try:
            message = message_from_bytes(data, policy=policy.compat32)
            parts.headers = {name: value for name in SHOWN_HEADERS if (value := shown_header(message, name))}
            if not parts.headers:
                raise ConversionError("damaged", "the file has none of a mail's headers; it is no RFC 5322 message")
            parts.thread = thread_of(
                *(raw_header(message, name) for name in ("Message-ID", "In-Reply-To", "References", "Date"))
            )
            _Reader(parts).read(message)
        except (ConversionError, MemoryError):
            raise
        except RecursionError as error:
            raise ConversionError("too_deep", "the mail's parts lie in one another beyond measure") from error
        except Exception as error:
            raise ConversionError("damaged", f"the mail cannot be read: {error!r}") from error
        return mail_document(parts, self.name, self.version)


CONVERTER = EmlConverter()


class _Reader:
    """Walks a mail's parts in their order."""

    def __init__(self, parts: MailParts) -> None:
        self._parts = parts
        self._html: list[str] = []
        self._pictures: list[tuple[int, str]] = []

    def read(self, message: Message) -> None:
        self._parts.bodies += self._bodies(message, 0, is_related=False)
        shown = {each.casefold() for html in self._html for each in _CID.findall(html)}
        for place, content_id in self._pictures:
            if content_id.casefold() in shown:
                each = self._parts.files[place]
                self._parts.files[place] = ContainedFile(each.name, each.data, is_decoration=True)

    def _bodies(self, part: Message, depth: int, *, is_related: bool) -> list[str]:
        """The texts to be read of a part; files in it go to the mail's files."""
        if depth > _MAX_MULTIPART_DEPTH:
            raise ConversionError("too_deep", f"the mail's parts lie more than {_MAX_MULTIPART_DEPTH} levels deep")
        content_type = part.get_content_type()
        name = _file_name(part)
        if content_type in _WHOLE_MESSAGES:
            self._attach_message(part, name)
            return []
        if content_type.startswith("multipart/"):
            related = content_type == "multipart/related"
            children = list(_children(part))
            if not children and isinstance(part.get_payload(), str):
                # A multipart without its boundary: the parser leaves all of it as one text.
                self._parts.note("the mail's parts could not be told apart; they are shown as they stand")
                return [self._text(part, is_html=False)]
            readings = [(each, self._bodies(each, depth + 1, is_related=related)) for each in children]
            if content_type == "multipart/alternative":
                return _chosen(readings)
            return [text for _, texts in readings for text in texts]
        if part.get_content_disposition() == "attachment" or (name and not _is_shown_inline(part)):
            self._attach(part, name, is_related=is_related)
            return []
        if content_type.startswith("message/"):
            return ["\n".join(_header_lines(each)) for each in _children(part)] or [self._text(part, is_html=False)]
        if part.get_content_maintype() == "text":
            return [self._text(part, is_html=part.get_content_subtype() == "html")]
        self._attach(part, name, is_related=is_related)
        return []

    def _attach(self, part: Message, name: str, *, is_related: bool) -> None:
        data = _content(part)
        if not data and not name:
            return
        is_picture = part.get_content_maintype() == "image"
        is_decoration = part.get_content_type() in _SIGNATURE_TYPES or (
            is_picture and is_related and part.get_content_disposition() != "attachment"
        )
        content_id = raw_header(part, "Content-ID").strip("<> ")
        if is_picture and content_id:
            self._pictures.append((len(self._parts.files), content_id))
        name = self._parts.names.file_name(name, part.get_content_type())
        self._parts.files.append(ContainedFile(name, data, is_decoration=is_decoration))

    def _attach_message(self, part: Message, name: str) -> None:
        inner = next(_children(part), None)
        data = b"" if inner is None else _message_bytes(part, inner)
        if name:
            safe_name = self._parts.names.file_name(name if name.lower().endswith(".eml") else f"{name}.eml", "")
        else:
            subject = "" if inner is None else shown_header(message_from_bytes(data), "Subject")
            safe_name = self._parts.names.title_name(subject, ".eml")
        self._parts.files.append(ContainedFile(safe_name, data))

    def _text(self, part: Message, *, is_html: bool) -> str:
        text, lost = decode_text(_content(part), part.get_content_charset(), is_html=is_html)
        self._parts.note(lost)
        if is_html:
            self._html.append(text)
            return body_of_html(text)
        return text


def _chosen(readings: list[tuple[Message, list[str]]]) -> list[str]:
    """One reading of an alternative: the plain one against the last of the others."""
    texts = [(each.get_content_type(), "\n\n".join(own)) for each, own in readings]
    plain = next((text for content_type, text in texts if content_type == "text/plain" and text.strip()), "")
    rich = [text for content_type, text in texts if content_type != "text/plain" and text.strip()]
    chosen = choose_body(plain, rich[-1] if rich else "")
    return [chosen] if chosen.strip() else []


def _is_shown_inline(part: Message) -> bool:
    """Whether a part with a file name is text of the mail all the same, as some programs name their bodies."""
    return part.get_content_disposition() == "inline" and part.get_content_type() in ("text/plain", "text/html")


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (child for child in payload if isinstance(child, Message))


def _content(part: Message) -> bytes:
    """A leaf's bytes without their transfer encoding; an unknown encoding leaves them as they stand."""
    payload = part.get_payload(decode=True)
    if isinstance(payload, bytes):
        return payload
    inner = part.get_payload()
    return inner.encode("utf-8", "surrogateescape") if isinstance(inner, str) else part.as_bytes()


def _message_bytes(part: Message, inner: Message) -> bytes:
    """The attached mail as a file of its own; some programs encode it against the rules."""
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() == "base64" and not inner.keys():
        try:
            return base64.b64decode(_content(inner))
        except ValueError:
            pass
    try:
        return inner.as_bytes()
    except (MessageError, UnicodeError, ValueError, TypeError, KeyError):
        lines = "".join(f"{key}: {value}\n" for key, value in inner.raw_items())
        return lines.encode("utf-8", "surrogateescape") + b"\n" + _content(inner)


def raw_header(message: Message, name: str) -> str:
    """A header as it stands in the file, unfolded, or an empty string; raw bytes are UTF-8 or what they look like."""
    value = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(_repaired(str(value)).split())


def _repaired(value: str) -> str:
    return decode_text(value.encode("utf-8", "surrogateescape"), None)[0] if _has_surrogates(value) else value


def _has_surrogates(value: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in value)


def shown_header(message: Message, name: str) -> str:
    """A header as people read it, or an empty string; what the standard forbids is shown as it stands."""
    return " ".join(_words_decoded(raw_header(message, name)).split())


def _words_decoded(raw: str) -> str:
    """RFC 2047 words decoded, also where they stand in quotes, as many programs write names."""
    if "=?" not in raw:
        return raw
    try:
        words = decode_header(raw)
    except (ValueError, MessageError):
        return raw
    # What stands between words comes back as bytes without a charset, in the form that is undone here.
    return "".join(
        word
        if isinstance(word, str)
        else word.decode("raw-unicode-escape", "replace")
        if charset is None
        else decode_text(word, charset)[0]
        for word, charset in words
    )


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename() or ""
    except (LookupError, ValueError, TypeError, IndexError):
        name = ""
    return " ".join(_words_decoded(_repaired(str(name))).split())


def _header_lines(message: Message) -> Iterator[str]:
    """All headers of a part that has nothing else, as those of a delivery report."""
    for key, _ in message.raw_items():
        yield f"{key}: {shown_header(message, key)}"
    content = message.get_payload()
    if isinstance(content, str) and content.strip():
        yield content
