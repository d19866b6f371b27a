"""Writes a mail that was taken apart as a file of its own: the same parts give the same bytes."""

from email.encoders import encode_base64
from email.header import Header
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

from knowledge_index.convert.mail_parts import MailParts


def mail_bytes(parts: MailParts, depth: int) -> bytes:
    """The mail in RFC 5322 form; ``depth`` keeps the boundaries of mails inside one another apart."""
    # All parts are in base64, whose lines have no "_": the boundary cannot stand in one.
    mail = MIMEMultipart("mixed", boundary=f"=_knowledge_index_{depth}")
    for name, value in parts.headers.items():
        mail[name] = Header(_encodable(value), "utf-8").encode()
    thread = parts.thread
    if thread.message_id:
        mail["Message-ID"] = f"<{_encodable(thread.message_id)}>"
    if thread.in_reply_to:
        mail["In-Reply-To"] = f"<{_encodable(thread.in_reply_to)}>"
    if thread.references:
        mail["References"] = " ".join(f"<{_encodable(each)}>" for each in thread.references)
    for body in parts.bodies:
        mail.attach(MIMEText(_encodable(body), "plain", "utf-8"))
    for each in parts.files:
        if each.error_class is not None:
            continue
        attached = MIMEBase("application", "octet-stream")
        attached.set_payload(each.data[:])
        encode_base64(attached)
        attached.add_header("Content-Disposition", "attachment", filename=("utf-8", "", _encodable(each.name)))
        mail.attach(attached)
    return mail.as_bytes()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
