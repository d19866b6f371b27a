"""PDF files whose objects turn in circles, explode or lie about themselves."""

import io
import zlib

_PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_TEXT = b"BT /F 12 Tf 20 200 Td (Notices are given in text form.) Tj ET"


def good_pdf() -> bytes:
    return pdf({})


def stream(content: bytes, extra: bytes = b"", length: int | None = None) -> bytes:
    size = len(content) if length is None else length
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (size, extra, content)


def pdf(objects: dict[int, bytes], root: bytes = b"1 0 R", trailer: bytes = b"") -> bytes:
    """A one-page file, some of its objects replaced or added."""
    every = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: _PAGE,
        4: stream(_TEXT),
        5: _FONT,
    } | objects
    out = bytearray(b"%PDF-1.7\n")
    offsets = {}
    for number, content in sorted(every.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (max(every) + 1)
    for number in range(1, max(every) + 1):
        out += b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 65535 f \n"
    out += b"trailer\n<< /Size %d /Root %s %s >>\nstartxref\n%d\n%%%%EOF\n" % (max(every) + 1, root, trailer, start)
    return bytes(out)


def flate_bomb(mib: int, layers: int = 1, unit: bytes = b"q Q ") -> bytes:
    packer = zlib.compressobj(9)
    piece = unit * ((1 << 20) // len(unit))
    content = b"".join([*(packer.compress(piece) for _ in range(mib)), packer.flush()])
    for _ in range(layers - 1):
        content = zlib.compress(content, 9)
    return stream(content, b"/Filter [" + b" /FlateDecode" * layers + b" ]")


def with_password() -> bytes:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=StandardEncryption("secret", "owner"))
    canvas.drawString(50, 700, "behind a password")
    canvas.save()
    return buffer.getvalue()


def outline(*items: bytes) -> bytes:
    return pdf({1: b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", **dict(enumerate(items, start=6))})


def many_pages(count: int) -> bytes:
    return pdf({2: b"<< /Type /Pages /Kids [" + b"3 0 R " * count + b"] /Count %d >>" % count})


def form(content: bytes) -> bytes:
    resources = b"/Type /XObject /Subtype /Form /BBox [0 0 300 300] /Resources << /XObject << /X 6 0 R >> >>"
    page = _PAGE.replace(b"/Font", b"/XObject << /X 6 0 R >> /Font")
    return pdf({3: page, 4: stream(b"/X Do"), 6: stream(content, resources)})


def character_map(entries: int) -> bytes:
    lines = b"".join(b"<%04x> <0041>\n" % (number % 65536) for number in range(entries))
    content = b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange %d beginbfchar\n%sendbfchar endcmap" % (
        entries,
        lines,
    )
    return pdf({5: _FONT.replace(b">>", b"/ToUnicode 6 0 R >>"), 6: stream(content)})


FILES = [
    ("cyclic PDF", "pages-of-itself.pdf", lambda: pdf({2: b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"})),
    (
        "cyclic PDF",
        "pages-in-turn.pdf",
        lambda: pdf({2: b"<< /Type /Pages /Kids [6 0 R] /Count 9 >>", 6: b"<< /Type /Pages /Kids [2 0 R] /Count 9 >>"}),
    ),
    ("cyclic PDF", "root-of-itself.pdf", lambda: pdf({1: b"1 0 R"})),
    ("cyclic PDF", "objects-in-turn.pdf", lambda: pdf({4: b"6 0 R", 6: b"7 0 R", 7: b"4 0 R"})),
    ("cyclic PDF", "length-of-itself.pdf", lambda: pdf({4: b"<< /Length 4 0 R >>\nstream\nx\nendstream"})),
    (
        "cyclic PDF",
        "outline.pdf",
        lambda: outline(b"<< /First 7 0 R /Last 7 0 R >>", b"<< /Title (x) /Next 7 0 R /First 7 0 R /Parent 7 0 R >>"),
    ),
    ("cyclic PDF", "previous.pdf", lambda: pdf({}, trailer=b"/Prev 9")),
    ("cyclic PDF", "form-of-itself.pdf", lambda: form(b"/X Do " * 50)),
    (
        "cyclic PDF",
        "resources.pdf",
        lambda: pdf(
            {
                3: _PAGE.replace(b"/Resources <<", b"/Resources << /Parent 3 0 R"),
                5: b"<< /Type /Font /Subtype /Type0 /DescendantFonts [5 0 R] >>",
            }
        ),
    ),
    ("heavy PDF stream", "flate-bomb.pdf", lambda: pdf({4: flate_bomb(400)})),
    ("heavy PDF stream", "flate-bomb-layers.pdf", lambda: pdf({4: flate_bomb(400, 3)})),
    (
        "heavy PDF stream",
        "flate-bomb-text.pdf",
        lambda: pdf({4: flate_bomb(40, 1, b"BT /F 9 Tf 9 9 Td (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET ")}),
    ),
    ("PDF stream", "flate-bomb-small.pdf", lambda: pdf({4: flate_bomb(30)})),
    (
        "PDF stream",
        "flate-bomb-map.pdf",
        lambda: pdf({5: _FONT.replace(b">>", b"/ToUnicode 6 0 R >>"), 6: flate_bomb(30, 1, b"<0041> <0041>\n")}),
    ),
    ("PDF stream", "length-lies.pdf", lambda: pdf({4: stream(_TEXT, length=2**31 - 1)})),
    ("PDF stream", "length-negative.pdf", lambda: pdf({4: stream(_TEXT, length=-5)})),
    ("PDF stream", "unknown-filter.pdf", lambda: pdf({4: stream(_TEXT, b"/Filter /Nonsense")})),
    (
        "PDF stream",
        "predictor.pdf",
        lambda: pdf(
            {
                4: stream(
                    zlib.compress(_TEXT),
                    b"/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 2147483647 /Colors 32 >>",
                )
            }
        ),
    ),
    ("PDF pages", "page-count.pdf", lambda: pdf({2: b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>"})),
    ("PDF pages", "page-count-negative.pdf", lambda: pdf({2: b"<< /Type /Pages /Kids [3 0 R] /Count -1 >>"})),
    ("PDF pages", "many-pages.pdf", lambda: many_pages(3_000)),
    ("PDF pages", "huge-page.pdf", lambda: pdf({3: _PAGE.replace(b"300 300", b"1e38 1e38")})),
    ("PDF pages", "no-page.pdf", lambda: pdf({2: b"<< /Type /Pages /Kids [] /Count 0 >>"})),
    ("odd PDF", "deep-array.pdf", lambda: pdf({4: b"[" * 200_000 + b"]" * 200_000})),
    ("odd PDF", "deep-dictionary.pdf", lambda: pdf({6: b"<< /A " * 100_000 + b">>" * 100_000}, trailer=b"/Info 6 0 R")),
    ("odd PDF", "deep-operators.pdf", lambda: pdf({4: stream(b"q " * 300_000 + _TEXT)})),
    (
        "odd PDF",
        "long-string.pdf",
        lambda: pdf({6: b"<< /Title (" + b"x" * 10_000_000 + b") >>"}, trailer=b"/Info 6 0 R"),
    ),
    ("odd PDF", "character-map.pdf", lambda: character_map(200_000)),
    ("odd PDF", "object-number.pdf", lambda: good_pdf().replace(b"xref\n0 6", b"xref\n0 2147483647")),
    ("odd PDF", "header-only.pdf", lambda: b"%PDF-1.7\n"),
    ("odd PDF", "twice.pdf", lambda: good_pdf() * 2),
    ("encrypted", "password.pdf", with_password),
    (
        "encrypted",
        "nonsense-encryption.pdf",
        lambda: pdf({6: b"<< /Filter /Standard /V 99 /R 99 /O () /U () /P 0 >>"}, trailer=b"/Encrypt 6 0 R"),
    ),
]
