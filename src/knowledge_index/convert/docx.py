"""Word: the text as it stands once every tracked change is accepted."""

import re
from collections.abc import Iterator
from typing import Any

from knowledge_index.convert.normalise import converted, normal_form
from knowledge_index.convert.ooxml import OoxmlPackage
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

# Transitional and strict OOXML name the same elements in two namespaces.
_NAMESPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Content that is gone once changes are accepted, and content that is no text of the paragraph around it.
_DROPPED = frozenset(
    {"del", "moveFrom", "delText", "delInstrText", "instrText", "pPr", "rPr", "sdtPr", "tblPr", "trPr"}
)
_LITERAL = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_WRAPPERS = ("sdt", "sdtContent", "customXml", "ins", "moveTo")
_REFERENCES = ("headerReference", "footerReference")
_CELL_SEPARATOR = " | "
# Layout by empty paragraphs says no more than one of them.
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}+")


class DocxConverter:
    """Body, tables, headers, footers, footnotes and endnotes of a .docx, in the state with all changes accepted.

    Each distinct header stands once before the body, each distinct footer and the notes after it. A paragraph is a
    line, a table row is a line with its cells joined by " | ".
    """

    name = "docx"
    version = "1"
    suffixes = frozenset({".docx"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .docx.

        Raises:
            ConversionError: ``encrypted``, ``damaged``, ``too_large`` or ``empty``.
        """
        package = OoxmlPackage(data)
        main = next((target for _, kind, target in package.related("") if kind == "officeDocument"), None)
        if main is None:
            raise ConversionError("damaged", "the package names no main document")
        return converted(_document_text(package, main), package.title(), self.name, self.version)


CONVERTER = DocxConverter()


def _document_text(package: OoxmlPackage, main: str) -> str:
    root = package.parse(main)
    body = next((child for child in root if _tag(child) == "body"), None)
    if body is None:
        raise ConversionError("damaged", f"part {main} has no body")
    relations = [each for each in package.related(main) if package.has(each[2])]
    target_by_id = {identifier: target for identifier, _, target in relations}
    # In the order in which sections name them; what no section names is shown nowhere.
    references = [(_tag(each), _relation_id(each)) for each in body.iter() if _tag(each) in _REFERENCES]
    headers = [target_by_id[key] for tag, key in references if tag == "headerReference" and key in target_by_id]
    footers = [target_by_id[key] for tag, key in references if tag == "footerReference" and key in target_by_id]
    notes = [target for wanted in ("footnotes", "endnotes") for _, kind, target in relations if kind == wanted]
    parts = [
        *_distinct(package, headers),
        "\n".join(_lines(body)),
        *_distinct(package, notes),
        *_distinct(package, footers),
    ]
    return _EMPTY_LINES.sub("\n\n", "\n".join(part for part in parts if part.strip()))


def _distinct(package: OoxmlPackage, targets: list[str]) -> list[str]:
    texts = (normal_form("\n".join(_lines(package.parse(target)))) for target in dict.fromkeys(targets))
    return list(dict.fromkeys(text for text in texts if text.strip()))


def _relation_id(element: Any) -> str:
    return next((str(value) for name, value in element.attrib.items() if name.endswith("}id")), "")


def _tag(element: Any) -> str:
    """The local name of a WordprocessingML element; other elements keep their namespace, comments have none."""
    if not isinstance(element.tag, str):
        return ""
    namespace, _, local = element.tag[1:].partition("}")
    return str(local) if namespace in _NAMESPACES else str(element.tag)


def _lines(container: Any) -> Iterator[str]:
    """One text a paragraph or table row; a paragraph whose mark is deleted runs on into its successor."""
    pending = ""
    for block in _blocks(container):
        if _tag(block) == "p":
            inside: list[str] = []
            pending += "".join(_pieces(block, inside))
            if not _mark_is_deleted(block):
                yield pending
                pending = ""
                # A text box is anchored in a paragraph but read after it.
                yield from inside
            elif inside:
                pending = "\n".join([pending, *inside, ""])
        else:
            if pending:
                yield pending
                pending = ""
            yield from _rows(block)
    if pending:
        yield pending


def _blocks(container: Any) -> Iterator[Any]:
    """Paragraphs and tables, with content controls, custom XML, notes and chosen alternatives opened up."""
    for child in container:
        tag = _tag(child)
        if tag in ("p", "tbl"):
            yield child
        elif tag == f"{_COMPATIBILITY}AlternateContent":
            chosen = _chosen_alternative(child)
            if chosen is not None:
                yield from _blocks(chosen)
        elif tag in _WRAPPERS or (tag in ("footnote", "endnote") and not _is_separator(child)):
            yield from _blocks(child)


def _is_separator(note: Any) -> bool:
    """Whether a note is the line drawn above the notes."""
    return (_attribute(note, "type") or "normal") != "normal"


def _rows(table: Any) -> Iterator[str]:
    for row in _unwrapped(table, "tr"):
        properties = next((child for child in row if _tag(child) == "trPr"), ())
        if any(_tag(child) == "del" for child in properties):
            continue
        cells = []
        for cell in _unwrapped(row, "tc"):
            if any(_tag(each) == "cellDel" for child in cell if _tag(child) == "tcPr" for each in child):
                continue
            text = " ".join(" ".join(_lines(cell)).split())
            if text:
                cells.append(text)
        if cells:
            yield _CELL_SEPARATOR.join(cells)


def _unwrapped(container: Any, wanted: str) -> Iterator[Any]:
    for child in container:
        tag = _tag(child)
        if tag == wanted:
            yield child
        elif tag in _WRAPPERS:
            yield from _unwrapped(child, wanted)


def _pieces(element: Any, inside: list[str]) -> Iterator[str]:
    """The text of a paragraph's content; the lines of text boxes go to ``inside``."""
    for child in element:
        tag = _tag(child)
        if tag in _DROPPED or not tag:
            continue
        if tag == "t":
            yield child.text or ""
        elif tag in _LITERAL:
            yield _LITERAL[tag]
        elif tag == "sym":
            yield _symbol(child)
        elif tag == "txbxContent":
            inside.extend(_lines(child))
        elif tag == f"{_COMPATIBILITY}AlternateContent":
            chosen = _chosen_alternative(child)
            if chosen is not None:
                yield from _pieces(chosen, inside)
        elif tag.endswith("}t"):
            # Formulas keep their characters in the maths namespace.
            yield child.text or ""
        else:
            yield from _pieces(child, inside)


def _chosen_alternative(element: Any) -> Any | None:
    """The first branch: a text box stands in both, once drawn anew and once for old programs."""
    return next((child for child in element if _tag(child).startswith(_COMPATIBILITY)), None)


def _symbol(element: Any) -> str:
    try:
        code = int(_attribute(element, "char") or "", 16)
    except ValueError:
        return ""
    # Symbol fonts map their glyphs into the private area, which means nothing without the font.
    return chr(code) if 0x20 <= code < 0xD800 else ""


def _mark_is_deleted(paragraph: Any) -> bool:
    for properties in paragraph:
        if _tag(properties) == "pPr":
            for run_properties in properties:
                if _tag(run_properties) == "rPr":
                    return any(_tag(child) in ("del", "moveFrom") for child in run_properties)
    return False


def _attribute(element: Any, name: str) -> str | None:
    for namespace in _NAMESPACES:
        value = element.get(f"{{{namespace}}}{name}")
        if value is not None:
            return str(value)
    return None
