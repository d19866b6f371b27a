"""Small OOXML files, written part by part so that tests say exactly what stands in them."""

import io
import zipfile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_NAMESPACES = (
    f'xmlns:w="{WORD}" xmlns:r="{_OFFICE}"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)


def part(tag: str, content: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{tag} {_NAMESPACES}>{content}</w:{tag}>'


def relationships(*relations: tuple[str, str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>' for key, kind, target in relations
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def zipped(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def docx(body: str, *, title: str | None = None, related: dict[str, tuple[str, str]] | None = None) -> bytes:
    """A .docx with that body; ``related`` maps a relation id to (kind, content of the part)."""
    related = related or {}
    parts = {
        "_rels/.rels": relationships(("rId1", "officeDocument", "word/document.xml"))
        if title is None
        else relationships(("rId1", "officeDocument", "word/document.xml"), ("rId2", "core-properties", "core.xml")),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": relationships(
            *((key, kind, f"{key}.xml") for key, (kind, _) in related.items())
        ),
        **{f"word/{key}.xml": content for key, (_, content) in related.items()},
    }
    if title is not None:
        parts["core.xml"] = (
            f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties"'
            f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></cp:coreProperties>'
        )
    return zipped(parts)


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def deleted(text: str) -> str:
    return f"<w:del><w:r><w:delText>{text}</w:delText></w:r></w:del>"


def paragraph(*content: str, properties: str = "") -> str:
    inside = "".join(piece if piece.startswith("<") else run(piece) for piece in content)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{inside}</w:p>"


def table(*rows: tuple[str, ...]) -> str:
    return (
        "<w:tbl>"
        + "".join(
            "<w:tr>"
            + "".join(f"<w:tc>{cell if cell.startswith('<') else paragraph(cell)}</w:tc>" for cell in row)
            + "</w:tr>"
            for row in rows
        )
        + "</w:tbl>"
    )
