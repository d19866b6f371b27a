"""Write a mail as it would lie in a matter folder: plain or HTML only, with or without an attachment."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from html import escape


@dataclass(frozen=True)
class Mail:
    """A mail; `date` in RFC 5322 form, `attachments` as (file name, MIME type, bytes)."""

    sender: str
    to: str
    subject: str
    date: str
    body: str
    cc: str = ""
    html: bool = False
    attachments: Sequence[tuple[str, str, bytes]] = ()


def eml_bytes(mail: Mail) -> bytes:
    """Return the .eml file of `mail`; ids and boundaries are hashes of it, since the library's own are random."""
    digest = hashlib.sha256(f"{mail.date}\n{mail.sender}\n{mail.subject}".encode()).hexdigest()
    message = EmailMessage(policy=SMTP)
    message["From"] = mail.sender
    message["To"] = mail.to
    if mail.cc:
        message["Cc"] = mail.cc
    message["Subject"] = mail.subject
    message["Date"] = mail.date
    message["Message-ID"] = f"<{digest[:20]}@{mail.sender.rsplit('@', 1)[-1].strip('>')}>"
    body = mail.body.strip() + "\n"
    if mail.html:
        paragraphs = "".join(
            f"<p>{escape(part, quote=False).replace(chr(10), '<br>' + chr(10))}</p>\n"
            for part in body.strip().split("\n\n")
        )
        message.set_content(f"<html><body>\n{paragraphs}</body></html>\n", subtype="html", cte="quoted-printable")
    else:
        message.set_content(body, cte="quoted-printable")
    for name, mime, data in mail.attachments:
        maintype, subtype = mime.split("/", 1)
        message.add_attachment(data, maintype=maintype, subtype=subtype, filename=name)
    if mail.attachments:
        message.set_boundary(f"=_{digest[20:44]}")
    return message.as_bytes()
