"""Makes the gold files of the mail formats and of archives; ``python tests/build_mail_gold.py`` writes them.

Every file holds one thing that mails of real firms have and that is easily lost.
"""

import struct
from datetime import UTC, datetime

from compressed_rtf import compress

from gold_files import DATA, stored_zip
from mail_files import mail
from outlook_files import (
    ADDRESS,
    ATTACH_DATA,
    ATTACH_FLAGS,
    ATTACH_METHOD,
    ATTACH_NAME,
    ATTACH_TYPE,
    BINARY,
    BODY,
    BODY_CODE_PAGE,
    CODE_PAGE,
    CONTENT_ID,
    DISPLAY_NAME,
    EIGHT_BIT,
    HEADERS,
    HTML,
    IN_REPLY_TO,
    MESSAGE_ID,
    RECIPIENT_TYPE,
    REFERENCES,
    RTF,
    SENDER_ADDRESS,
    SENDER_NAME,
    SENT,
    SUBJECT,
    Attachment,
    OutlookMessage,
)

_HEAD = b"From: A. Muster <a@kanzlei.example>\r\nTo: b@mandant.example\r\nSubject: Pr\r\nMIME-Version: 1.0\r\n"
_UMLAUTS = "Mit freundlichen Grüßen über die Änderung der Verträge"


def _eml(*lines: str | bytes, head: bytes = _HEAD) -> bytes:
    return head + b"".join((line if isinstance(line, bytes) else line.encode()) + b"\r\n" for line in lines)


def _parts(kind: str, *parts: tuple[str, str | bytes]) -> bytes:
    lines: list[str | bytes] = [f"Content-Type: multipart/{kind}; boundary=b", ""]
    for headers, content in parts:
        lines += ["--b", headers, "", content]
    return _eml(*lines, "--b--")


def build_eml() -> dict[str, bytes]:
    plain = "Content-Type: text/plain; charset=utf-8"
    html = "Content-Type: text/html; charset=utf-8"
    pdf = "Content-Type: application/pdf\r\nContent-Disposition: attachment"
    picture = "Content-Type: image/png; name=logo.png\r\nContent-Transfer-Encoding: base64"
    return {
        "encoded_headers.eml": _eml(
            "Subject: =?iso-8859-1?Q?=C4nderung_der?= =?utf-8?B?IFZlcnRyw6RnZQ==?=",
            "From: =?utf-8?q?J=C3=B6rg?= Muster <j@kanzlei.example>",
            'To: "=?utf-8?q?M=C3=BCller=2C_Anna?=" <a@mandant.example>',
            "Date: Mon, 02 Mar 2026 08:12:00 +0100",
            "",
            "Text",
            head=b"",
        ),
        "raw_utf8_headers.eml": _eml(
            "Subject: Prüfung des Vertrags", "From: Jörg <j@kanzlei.example>", "", "x", head=b""
        ),
        "name_rfc2231.eml": _parts(
            "mixed",
            (plain, "body"),
            (pdf + "; filename*0*=utf-8''Entw%C3%BCrfe%20f%C3%BCr; filename*1*=%20M%C3%BCller.pdf", "x"),
            (pdf + "; filename*=iso-8859-1'de'Verg%FCtung.pdf", "x"),
        ),
        "name_rfc2047.eml": _parts(
            "mixed", (plain, "body"), (pdf + '; filename="=?utf-8?Q?Entw=C3=BCrfe=2Epdf?="', "x")
        ),
        "name_unsafe.eml": _parts(
            "mixed",
            (plain, "body"),
            *(
                (pdf + f'; filename="{name}"', "x")
                for name in ("../../etc/passwd.pdf", r"C:\\temp\\x.pdf", "/abs.pdf", "..")
            ),
        ),
        "names_equal_and_none.eml": _parts(
            "mixed", (plain, "body"), *[(pdf + "; filename=scan.pdf", "x")] * 3, *[(pdf, "x")] * 2
        ),
        "html_only.eml": _eml(
            html,
            "",
            "<html><head><style>p{}</style></head><body><p>Erste Zeile</p><script>no()</script>"
            "<table><tr><td>Miete</td><td>12.400 &euro;</td></tr></table><p>Zweite &amp; letzte</p></body></html>",
        ),
        "html_charset_in_meta.eml": _eml(
            "Content-Type: text/html", "", b'<meta charset="windows-1252"><p>' + _UMLAUTS.encode("cp1252") + b"</p>"
        ),
        "alternative.eml": _parts("alternative", (plain, "the plain words"), (html, "<b>the plain words</b>")),
        "alternative_stand_in.eml": _parts(
            "alternative",
            (plain, "Your program cannot show HTML."),
            (html, "<p>The seller terminates the supply agreement with effect from the end of the quarter.</p>"),
        ),
        "charset_wrong.eml": _eml(
            "Content-Type: text/plain; charset=iso-8859-1", "Content-Transfer-Encoding: 8bit", "", _UMLAUTS
        ),
        "charset_unknown.eml": _eml("Content-Type: text/plain; charset=x-none", "", _UMLAUTS.encode("cp1252")),
        "charset_koi8r.eml": _eml("Content-Type: text/plain; charset=koi8-r", "", "Договор поставки".encode("koi8-r")),
        "charset_windows_quotes.eml": _eml(
            "Content-Type: text/plain; charset=iso-8859-1", "", "Der „Käufer“ zahlt 5 € – sofort".encode("cp1252")
        ),
        "quoted_text.eml": _eml(plain, "", "Agreed.", "", "> The price is EUR 5.", ">> Is it net?", "-- ", "A. Muster"),
        "forwarded_mail.eml": mail(
            "Fwd: papers", "see below", {"x": mail("Re: Angebot / Preise", "inner words", {"Preise.xlsx": b"x"})}
        ).as_bytes(),
        "inline_picture.eml": _parts(
            "related",
            (html, '<p>Words</p><img src="cid:logo@x">'),
            (picture + "\r\nContent-ID: <logo@x>", "AAAA"),
            (picture.replace("logo", "scan") + "\r\nContent-Disposition: attachment; filename=scan.png", "AAAA"),
        ),
        "signed.eml": _parts(
            "signed", (plain, "signed words"), ("Content-Type: application/pkcs7-signature; name=smime.p7s", "x")
        ),
        "winmail.eml": _parts("mixed", (plain, "body"), ("Content-Type: application/ms-tnef; name=winmail.dat", "x")),
        "delivery_report.eml": _parts(
            "report",
            (plain, "It was not delivered."),
            (
                "Content-Type: message/delivery-status",
                "Reporting-MTA: dns; x.example\r\n\r\nAction: failed\r\nStatus: 5.1.1",
            ),
        ),
        "thread.eml": _eml(
            "Message-ID: <3@x.example>",
            "In-Reply-To: <2@x.example>",
            "References: <1@x.example>\r\n <2@x.example> <1@x.example>",
            "Date: Tue, 3 Mar 2026 09:00:00 +0100",
            "",
            "body",
        ),
        "malformed_headers.eml": _eml("From: <<<>>@,;", "Date: not a date", 'To: "unclosed <a@b', "", "body", head=b""),
        "lost_boundary.eml": _eml(
            "Content-Type: multipart/mixed; boundary=other", "", "--b", plain, "", "words", "--b--"
        ),
        "no_mail.eml": b"\0\1\2\xff" * 50,
    }


def build_msg() -> dict[str, bytes]:
    people = (
        {DISPLAY_NAME: "B. Beispiel", ADDRESS: "b@kran.example", RECIPIENT_TYPE: 1},
        {DISPLAY_NAME: "C. Kopie", ADDRESS: "c@kran.example", RECIPIENT_TYPE: 2},
    )
    sender = {SENDER_NAME: "Jörg Muster", SENDER_ADDRESS: "j@kanzlei.example"}
    sent = {SENT: datetime(2026, 3, 2, 7, 12, tzinfo=UTC)}
    docx = Attachment(
        {ATTACH_METHOD: 1, ATTACH_NAME: "Entwürfe v1.docx", ATTACH_DATA: (BINARY, b"x" * 5000), ATTACH_TYPE: ""}
    )
    logo = Attachment(
        {
            ATTACH_METHOD: 1,
            ATTACH_NAME: "logo.png",
            ATTACH_DATA: (BINARY, b"x"),
            ATTACH_TYPE: "image/png",
            CONTENT_ID: "logo@x",
            ATTACH_FLAGS: 4,
        }
    )
    link = Attachment({ATTACH_METHOD: 2, ATTACH_NAME: "on the share.docx"})
    inner = OutlookMessage(
        {SUBJECT: "Re: Angebot / Preise", BODY: "inner words", MESSAGE_ID: "<1@x.example>", **sender}, (), (docx,)
    )
    forwarded = Attachment({ATTACH_METHOD: 5, DISPLAY_NAME: "Re: Angebot"}, inner)
    rtf = rb"{\rtf1\ansi\ansicpg1252 Gr\'fc\'dfe aus \b Kiel\b0\par zweite Zeile}"
    html = f'<meta charset="utf-8"><p>{_UMLAUTS}</p>'.encode("cp1252")
    headers = (
        "Message-ID: <3@x.example>\r\nIn-Reply-To: <2@x.example>\r\nReferences: <1@x.example> <2@x.example>\r\n"
        "Date: Tue, 3 Mar 2026 09:00:00 +0100\r\nFrom: =?utf-8?q?J=C3=B6rg?= <j@kanzlei.example>\r\n\r\n"
    )
    return {
        "plain.msg": OutlookMessage(
            {SUBJECT: "Prüfung", BODY: _UMLAUTS + "\r\nJ. M.", **sender, **sent}, people
        ).file(),
        "html_only.msg": OutlookMessage(
            {SUBJECT: "Html", HTML: (BINARY, html), BODY_CODE_PAGE: 1252, **sender}, people
        ).file(),
        "rtf_only.msg": OutlookMessage({SUBJECT: "Rtf", RTF: (BINARY, compress(rtf)), **sender}, people).file(),
        "rtf_damaged.msg": OutlookMessage({SUBJECT: "Rtf", RTF: (BINARY, struct.pack("<4I", 9, 9, 9, 9))}).file(),
        "eight_bit.msg": OutlookMessage(
            {
                SUBJECT: (EIGHT_BIT, "Договор".encode("cp1251")),
                BODY: (EIGHT_BIT, "поставка товара".encode("cp1251")),
                CODE_PAGE: 1251,
            }
        ).file(),
        "unknown_code_page.msg": OutlookMessage(
            {SUBJECT: (EIGHT_BIT, b"Pr\xfcfung"), BODY: (EIGHT_BIT, _UMLAUTS.encode("cp1252")), CODE_PAGE: 99999}
        ).file(),
        "attachments.msg": OutlookMessage({SUBJECT: "Papers", BODY: "see below"}, people, (docx, logo, link)).file(),
        "embedded_message.msg": OutlookMessage({SUBJECT: "Fwd", BODY: "see below"}, people, (forwarded,)).file(),
        "transport_headers.msg": OutlookMessage({SUBJECT: "Antwort", BODY: "ja", HEADERS: headers}).file(),
        "thread.msg": OutlookMessage(
            {SUBJECT: "Re", BODY: "x", MESSAGE_ID: "<9@x>", IN_REPLY_TO: "<8@x>", REFERENCES: "<7@x> <8@x>", **sent}
        ).file(),
        "no_message.msg": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    }


def build_zip() -> dict[str, bytes]:
    cp850 = stored_zip({"Prufung.txt": b"x"}).replace(b"Prufung.txt", "Prüfung.txt".encode("cp850"))
    utf8 = stored_zip({"Pruefung.txt": b"x"}).replace(b"Pruefung.txt", "Prüfung.txt".encode())
    encrypted = bytearray(stored_zip({"secret.txt": b"x" * 20, "open.txt": b"x"}))
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        encrypted[encrypted.index(signature) + flags] |= 1
    damaged = stored_zip({"bad.txt": b"some words", "good.txt": b"x"}).replace(b"some words", b"other word", 1)
    return {
        "members.zip": stored_zip({"b/Vertrag.docx": b"x", "a.txt": b"x", "b/": b""}),
        "unsafe_names.zip": stored_zip(
            {"../../up.txt": b"x", "/abs.txt": b"x", "C:/drive.txt": b"x", "a\\b.txt": b"x", "x/./y/../z.txt": b"x"}
        ),
        "equal_names.zip": stored_zip({"A.txt": b"x", "a.txt": b"y", "f/a.txt": b"z"}),
        "names_cp850.zip": cp850,
        "names_utf8_unmarked.zip": utf8,
        "noise.zip": stored_zip({"a.txt": b"x", "__MACOSX/._a.txt": b"x", ".DS_Store": b"x", "f/Thumbs.db": b"x"}),
        "encrypted_member.zip": bytes(encrypted),
        "damaged_member.zip": damaged,
        "empty.zip": stored_zip({}),
        "cut_off.zip": stored_zip({"a.txt": b"x" * 400})[:300],
    }


def build() -> dict[str, bytes]:
    """Every file, by its path below ``tests/data``."""
    made = {"eml": build_eml(), "msg": build_msg(), "zip": build_zip()}
    return {f"{folder}/{name}": data for folder, files in made.items() for name, data in files.items()}


if __name__ == "__main__":
    for path, data in build().items():
        (DATA / path).parent.mkdir(parents=True, exist_ok=True)
        (DATA / path).write_bytes(data)
