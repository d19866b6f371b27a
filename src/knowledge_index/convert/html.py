"""HTML pages."""

import re
from typing import Any

from knowledge_index.convert.normalise import converted
from knowledge_index.convert.plaintext import decode
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

# HTML, 13.2.3.2: the encoding is stated within the first 1024 bytes.
_PRESCAN_BYTES = 1024
_STATED_CHARSET = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_NEVER_SHOWN = ("script", "style", "template", "noscript", "head", "object", "iframe", "svg", "datalist")
_HIDING_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
_EMPTY_LINES = re.compile(r"\n{3,}")
_MAX_DEPTH = 200
# What browsers read where a page states ASCII or Latin 1.
_WINDOWS = {"ascii", "iso-8859-1", "iso8859-1", "latin-1", "latin1", "us-ascii"}


class HtmlConverter:
    """The text that a browser shows, by blocks, lists marked, table rows as lines; the title is that of the page.

    Kept: all shown text, the labels of links, the texts of form fields and pictures (``alt``) as far as they are shown.
    Dropped: scripts, styles, what is hidden by attribute or inline style, comments, targets of links. What only a
    style sheet or a script hides or shows is not known.
    """

    name = "html"
    version = "1"
    suffixes = frozenset({".htm", ".html"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert an .html.

        Raises:
            ConversionError: ``damaged`` where the bytes are no text, ``empty`` where the page shows none.
        """
        root = _parsed(decoded(data))
        if root is None:
            raise ConversionError("empty", "the page holds nothing")
        title = root.findtext(".//title")
        return converted(_shown(root), title, self.name, self.version)


CONVERTER = HtmlConverter()


def html_text(markup: str) -> str:
    """The text that a browser shows of some markup; empty where it shows none.

    Raises:
        ConversionError: ``too_large`` where it is nested beyond reason.
    """
    root = _parsed(markup)
    return "" if root is None else _shown(root)


def decoded(data: bytes) -> str:
    """The markup of a page: by byte order mark, by the encoding that it states, else by its bytes.

    Raises:
        ConversionError: the bytes are no text (``damaged``).
    """
    stated = _STATED_CHARSET.search(data[:_PRESCAN_BYTES])
    if stated and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        name = stated[1].decode("ascii").lower()
        # A page whose statement can be read byte by byte is not in UTF-16, whatever it says.
        name = "cp1252" if name in _WINDOWS else "utf-8" if name.startswith("utf-16") else name
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


def _parsed(markup: str) -> Any:
    from lxml import etree

    if not markup.strip():
        return None
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        return etree.fromstring(markup.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        # The parser reads any tag soup; what is left is a page of comments alone.
        raise ConversionError("empty", f"the page shows no text: {error}") from error


def _shown(root: Any) -> str:
    from inscriptis.css_profiles import CSS_PROFILES
    from inscriptis.html_engine import Inscriptis
    from inscriptis.model.config import ParserConfig

    hidden = [each for each in root.iter() if _is_hidden(each)]
    for element in hidden:
        _remove(element)
    if _too_deep(root):
        raise ConversionError("too_large", f"the page is nested more than {_MAX_DEPTH} elements deep")
    # The strict profile keeps no line for what has no text, unlike the relaxed one.
    config = ParserConfig(css=CSS_PROFILES["strict"], table_cell_separator=" | ", display_images=True)
    text = str(Inscriptis(root, config).get_text())
    return _EMPTY_LINES.sub("\n\n", "\n".join(_tidy(line) for line in text.split("\n")))


def _tidy(line: str) -> str:
    """A line without the blanks that pad the cells of a table."""
    cells = [" ".join(cell.split()) for cell in line.split(" | ")]
    if len(cells) == 1:
        return line.rstrip()
    return " | ".join(cell for cell in cells if cell)


def _is_hidden(element: Any) -> bool:
    return (
        element.tag in _NEVER_SHOWN
        or element.get("hidden") is not None
        or (element.tag == "input" and element.get("type", "").lower() == "hidden")
        or _HIDING_STYLE.search(element.get("style", "")) is not None
    )


def _remove(element: Any) -> None:
    """Take an element out and leave the text behind it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def _too_deep(root: Any) -> bool:
    level = [root]
    for _ in range(_MAX_DEPTH):
        level = [child for element in level for child in element]
        if not level:
            return False
    return True
