"""Mails that nest, sprawl or contradict themselves."""

import base64
import gzip

_HEAD = b"From: a@nordkai.example\r\nTo: b@kran.example\r\nSubject: Notices\r\nMIME-Version: 1.0\r\n"


def good_eml() -> bytes:
    return _HEAD + b"Content-Type: text/plain; charset=utf-8\r\n\r\nNotices are given in text form.\r\n"


def nested_multipart(levels: int, subtype: str = "mixed") -> bytes:
    starts = [
        f'Content-Type: multipart/{subtype}; boundary="b{level}"\r\n\r\n--b{level}\r\n' for level in range(levels)
    ]
    ends = [f"\r\n--b{level}--\r\n" for level in reversed(range(levels))]
    return _HEAD + "".join([*starts, "Content-Type: text/plain\r\n\r\ninside\r\n", *ends]).encode()


def nested_message(levels: int) -> bytes:
    return (_HEAD + b"Content-Type: message/rfc822\r\n\r\n") * levels + good_eml()


def many_parts(count: int) -> bytes:
    part = b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n"
    return _HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + part * count + b"--b--\r\n"


def attached(name: str, content: bytes, kind: str = "application/octet-stream") -> bytes:
    encoded = base64.encodebytes(content)
    return (
        _HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee below\r\n--b\r\n"
        b"Content-Transfer-Encoding: base64\r\n"
        + f'Content-Type: {kind}\r\nContent-Disposition: attachment; filename="{name}"\r\n\r\n'.encode()
        + encoded
        + b"--b--\r\n"
    )


def html(content: bytes) -> bytes:
    return _HEAD + b"Content-Type: text/html; charset=utf-8\r\n\r\n" + content


def headed(line: bytes) -> bytes:
    return line + b"\r\n" + good_eml()


def nested_archive() -> bytes:
    from hostile_zip import nested

    return attached("deep.zip", nested(30), "application/zip")


FILES = [
    ("nested MIME", "multipart-30.eml", lambda: nested_multipart(30)),
    ("nested MIME", "multipart-300.eml", lambda: nested_multipart(300)),
    ("nested MIME", "multipart-3000.eml", lambda: nested_multipart(3000)),
    ("nested MIME", "alternative-80.eml", lambda: nested_multipart(80, "alternative")),
    ("nested MIME", "message-30.eml", lambda: nested_message(30)),
    ("nested MIME", "message-300.eml", lambda: nested_message(300)),
    ("nested MIME", "message-5000.eml", lambda: nested_message(5000)),
    ("nested MIME", "archive.eml", nested_archive),
    ("large mail", "parts.eml", lambda: many_parts(20_000)),
    ("large mail", "header.eml", lambda: headed(b"X-Long: " + b"x" * 5_000_000)),
    ("large mail", "headers.eml", lambda: b"X-A: b\r\n" * 100_000 + good_eml()),
    ("large mail", "folded.eml", lambda: headed(b"Cc: " + b"a@b.example,\r\n " * 20_000 + b"c@d.example")),
    ("large mail", "attachment.eml", lambda: attached("zero.bin", bytes(8_000_000))),
    ("large mail", "gzip.eml", lambda: attached("zero.txt.gz", gzip.compress(bytes(50_000_000), mtime=0))),
    ("odd mail", "words.eml", lambda: headed(b"Subject: " + b"=?utf-8?b?w6Q=?= " * 20_000)),
    ("odd mail", "comments.eml", lambda: headed(b"Cc: " + b"(" * 20_000)),
    ("odd mail", "quotes.eml", lambda: headed(b'From: "' + b'\\"' * 50_000)),
    ("odd mail", "angles.eml", lambda: headed(b"Cc: " + b"<" * 50_000)),
    (
        "odd mail",
        "parameters.eml",
        lambda: _HEAD + b"Content-Type: text/plain" + b"".join(b"; a*%d*=x" % n for n in range(5_000)) + b"\r\n\r\nx",
    ),
    ("odd mail", "no-boundary.eml", lambda: _HEAD + b"Content-Type: multipart/mixed\r\n\r\nx"),
    (
        "odd mail",
        "boundary-empty.eml",
        lambda: _HEAD + b'Content-Type: multipart/mixed; boundary=""\r\n\r\n--\r\n\r\nx',
    ),
    ("odd mail", "charset.eml", lambda: _HEAD + b"Content-Type: text/plain; charset=x-nonsense\r\n\r\n\xff\xfe\x80x"),
    ("odd mail", "charset-code.eml", lambda: _HEAD + b"Content-Type: text/plain; charset=zlib_codec\r\n\r\nx"),
    ("odd mail", "base64.eml", lambda: _HEAD + b"Content-Transfer-Encoding: base64\r\n\r\n" + b"=!x" * 100_000),
    ("odd mail", "date.eml", lambda: headed(b"Date: " + b"9" * 100_000)),
    ("odd mail", "upwards.eml", lambda: attached("../../etc/passwd", b"x")),
    ("odd mail", "name.eml", lambda: attached("n" * 100_000 + ".txt", b"x")),
    ("HTML bomb", "deep.eml", lambda: html(b"<div>" * 50_000 + b"x")),
    ("HTML bomb", "tables.eml", lambda: html(b"<table><tr><td>" * 400 + b"x")),
    ("HTML bomb", "wide.eml", lambda: html(b"<table><tr>" + b"<td colspan=100000>x</td>" * 2_000 + b"</tr></table>")),
    ("HTML bomb", "lists.eml", lambda: html(b"<ul><li>" * 5_000 + b"x")),
    (
        "HTML bomb",
        "padding.eml",
        lambda: html(b'<div style="padding-left:1000000000em;margin-top:1000000000em">x</div>'),
    ),
    ("HTML bomb", "deep.html", lambda: b"<html><body>" + b"<b>" * 100_000 + b"x"),
    (
        "HTML bomb",
        "remote.html",
        lambda: b'<html><img src="http://127.0.0.1:9/x"><iframe src="file:///etc/passwd">x</html>',
    ),
    ("RTF bomb", "deep.rtf", lambda: b"{\\rtf1 " + b"{" * 200_000 + b"x"),
    ("RTF bomb", "binary.rtf", lambda: b"{\\rtf1 \\bin2147483647 x}"),
]
