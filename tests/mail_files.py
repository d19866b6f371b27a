"""Mails and archives made by hand, the same bytes each time."""

import io
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage

_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


def mail(
    subject: str,
    body: str,
    attached: Mapping[str, bytes | EmailMessage] | None = None,
    *,
    message_id: str | None = None,
    references: str | None = None,
    date: str | None = None,
) -> EmailMessage:
    """A mail; ``attached`` maps a file name to its bytes, or any name to a mail to forward."""
    message = EmailMessage()
    message["From"] = "A. Muster <a.muster@nordkai.example>"
    message["To"] = "b.beispiel@kran.example"
    message["Subject"] = subject
    for name, value in (("Message-ID", message_id), ("References", references), ("Date", date)):
        if value is not None:
            message[name] = value
    message.set_content(body)
    for name, content in (attached or {}).items():
        if isinstance(content, EmailMessage):
            message.add_attachment(content)
        else:
            message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    if message.is_multipart():
        message.set_boundary(f"=_of_{subject}_{len(body)}".replace(" ", "_"))
    return message


def archive(members: Mapping[str, bytes]) -> bytes:
    """A zip of these members in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(zipfile.ZipInfo(name, _ZIP_EPOCH), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
