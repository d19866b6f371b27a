from email.message import EmailMessage

import pytest

from knowledge_index.convert import converter_for
from knowledge_index.convert.base import Converter
from knowledge_index.domain.errors import ConversionError


@pytest.fixture
def converter() -> Converter:
    return converter_for("mail.eml")


def message(**headers: str) -> EmailMessage:
    mail = EmailMessage()
    for name, value in {"From": "A <a@kanzlei.example>", "Subject": "Prüfung", **headers}.items():
        mail[name] = value
    return mail


def test_encoded_headers_are_decoded_and_the_subject_is_the_title(converter: Converter) -> None:
    raw = (
        b"From: =?utf-8?q?J=C3=B6rg?= Muster <j@kanzlei.example>\r\nTo: b@kanzlei.example\r\nCc: c@kanzlei.example\r\n"
        b"Subject: =?utf-8?q?Pr=C3=BCfu?=\r\n =?utf-8?q?ng?= des Vertrags\r\nDate: Mon, 02 Mar 2026 08:12:00 +0100\r\n"
        b"X-Spam: no\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        b"Gr=C3=BC=C3=9Fe\r\n"
    )
    document = converter.convert(raw)
    assert document.text == (
        "From: Jörg Muster <j@kanzlei.example>\nTo: b@kanzlei.example\nCc: c@kanzlei.example\n"
        "Date: Mon, 02 Mar 2026 08:12:00 +0100\nSubject: Prüfung des Vertrags\n\nGrüße"
    )
    assert document.title == "Prüfung des Vertrags"


def test_the_plain_alternative_is_preferred_and_attachments_are_named(converter: Converter) -> None:
    mail = message()
    mail.set_content("plain words")
    mail.add_alternative("<p>html words</p>", subtype="html")
    mail.add_attachment(b"x", maintype="application", subtype="pdf", filename="Entwürfe v1.pdf")
    text = converter.convert(mail.as_bytes()).text
    assert text.endswith("Subject: Prüfung\n\nplain words\n\nAttachment: Entwürfe v1.pdf")
    assert "html words" not in text


def test_html_alone_becomes_text(converter: Converter) -> None:
    mail = message()
    mail.set_content(
        "<style>p {}</style><p>Erste Zeile</p><script>no()</script><p>Zweite &amp; letzte</p>", subtype="html"
    )
    text = converter.convert(mail.as_bytes()).text
    assert "Erste Zeile" in text
    assert "Zweite & letzte" in text
    assert "no()" not in text
    assert "<p>" not in text


def test_a_blank_plain_alternative_gives_way_to_the_html_one(converter: Converter) -> None:
    mail = message()
    mail.set_content(" \n")
    mail.add_alternative("<b>bold words</b>", subtype="html")
    assert converter.convert(mail.as_bytes()).text.endswith("bold words")


def test_a_forwarded_mail_is_named_by_its_subject(converter: Converter) -> None:
    mail = message()
    mail.set_content("see below")
    inner = message(Subject="The offer")
    inner.set_content("inner words")
    mail.add_attachment(inner)
    assert converter.convert(mail.as_bytes()).text.endswith("see below\n\nAttachment: The offer.eml")


def test_text_behind_an_attachment_is_body_too(converter: Converter) -> None:
    raw = (
        b"Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n"
        b"above\n--b\nContent-Type: image/png; name=logo.png\nContent-Transfer-Encoding: base64\n\nAAAA\n--b\n"
        b"Content-Type: text/plain\n\nbelow\n--b--\n"
    )
    assert converter.convert(raw).text == "Subject: x\n\nabove\n\nbelow\n\nAttachment: logo.png"


@pytest.mark.parametrize("charset", [b"iso-8859-1", b"no-such-charset", b""])
def test_a_wrong_or_missing_charset_does_not_cost_the_text(converter: Converter, charset: bytes) -> None:
    body = "Mit freundlichen Grüßen über die Änderung der Verträge".encode("cp1252")
    raw = b"Subject: x\nContent-Type: text/plain; charset=" + charset + b"\nContent-Transfer-Encoding: 8bit\n\n" + body
    assert "Grüßen über die Änderung der Verträge" in converter.convert(raw).text


def test_malformed_headers_are_shown_as_they_stand(converter: Converter) -> None:
    raw = b'From: <<<>>@,;\nDate: not a date\nTo: "unclosed <a@b\nSubject: x\n\nbody'
    text = converter.convert(raw).text
    assert "Date: not a date" in text
    assert text.endswith("body")


@pytest.mark.parametrize(("raw", "error_class"), [(b"", "damaged"), (b"\x00\x01\x02\xff" * 50, "damaged")])
def test_what_is_no_mail_says_so(converter: Converter, raw: bytes, error_class: str) -> None:
    with pytest.raises(ConversionError) as caught:
        converter.convert(raw)
    assert caught.value.error_class == error_class
