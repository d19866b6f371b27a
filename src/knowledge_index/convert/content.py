"""What kind of file some bytes are, by their own marks; names lie."""

import io
import zipfile

_OOXML_KINDS = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))


def kind_of(data: bytes) -> str | None:
    """``docx``, ``pdf``, ``pptx``, ``rtf`` or ``xlsx``; None where the bytes bear no such mark.

    Formats without a mark of their own (plain text, tables in text, mails, web pages) are never told from each other:
    the name alone says what a text is meant to be.
    """
    if data.startswith(b"%PDF-"):
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if data.startswith(b"PK\x03\x04"):
        return _ooxml_kind(data)
    return None


def _ooxml_kind(data: bytes) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None
    if "[Content_Types].xml" not in names and "_rels/.rels" not in names:
        return None
    kinds = {kind for folder, kind in _OOXML_KINDS if any(name.startswith(folder) for name in names)}
    return kinds.pop() if len(kinds) == 1 else None
