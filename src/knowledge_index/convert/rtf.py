"""Rich Text Format."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from knowledge_index.convert.normalise import converted
from knowledge_index.convert.rtf_words import ANNOTATION_AUTHOR, CHARSETS, SKIPPED, STORIES, SYMBOLS
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_MAGIC = b"{\\rtf"
# Control words, control symbols, bytes in hex, braces, and the text between them: RTF specification 1.9.1, "Syntax".
_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9A-Fa-f]{2})|\\(?P<symbol>[^A-Za-z'])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\"
)
_CELL_END = "\x1f"
_CELL_SEPARATOR = " | "
_MAX_DEPTH = 10_000
_OFF = 0


class RtfConverter:
    """The text as it is shown, a paragraph a line, table rows as lines with " | " between their cells.

    Kept: body, tables, text boxes, the shown results of fields, list labels that the file spells out; footnotes and
    comments (with author) in brackets where their mark stands, headers before the text and footers behind it. Tracked
    changes are read as accepted. Code pages of the file and its fonts and Unicode escapes are decoded.
    Dropped: hidden and deleted text, field codes, pictures and embedded objects, styles.
    """

    name = "rtf"
    version = "1"
    suffixes = frozenset({".rtf"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert an .rtf.

        Raises:
            ConversionError: ``damaged`` where it is none, ``too_large`` where it nests beyond reason, or ``empty``.
        """
        reader = _read(data)
        document = converted(reader.text(), reader.title, self.name, self.version)
        return replace(document, degraded=(reader.note,) if reader.note else ())


CONVERTER = RtfConverter()


def rtf_text(data: bytes) -> tuple[str, str | None]:
    """The text of some RTF, and what is wrong with it, if anything is.

    Raises:
        ConversionError: as :meth:`RtfConverter.convert`, but for ``empty``.
    """
    reader = _read(data)
    return reader.text(), reader.note


def _read(data: bytes) -> "_Reader":
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not data.startswith(_MAGIC):
        raise ConversionError("damaged", "the file does not begin as RTF does; it may be another kind of file")
    reader = _Reader()
    reader.read(data)
    return reader


@dataclass
class _State:
    """What a group inherits from the one around it."""

    story: str = "body"
    skipped: bool = False
    hidden: bool = False
    deleted: bool = False
    encoding: str = "cp1252"
    fallback_chars: int = 1

    @property
    def silent(self) -> bool:
        return self.skipped or self.hidden or self.deleted


@dataclass
class _Group:
    """What a group was before its first word, and the brackets it needs when it ends."""

    outer: _State
    closing: str = ""


@dataclass
class _Reader:
    """Reads tokens into stories: the body, headers, footers, and the parts of the file's head."""

    stories: dict[str, list[str]] = field(default_factory=dict)
    state: _State = field(default_factory=_State)
    groups: list[_Group] = field(default_factory=list)
    fonts: dict[int, str] = field(default_factory=dict)
    code_page: str = "cp1252"
    font: int | None = None
    pending: bytearray = field(default_factory=bytearray)
    to_skip: int = 0
    high_surrogate: int | None = None
    # The group's first word may be skipped, and its text with it, by who does not know the word.
    starred: bool = False

    @property
    def note(self) -> str | None:
        """What is wrong with the file, if anything is."""
        return "it ends early: its last group is open" if self.groups else None

    @property
    def title(self) -> str | None:
        """The title of the information group."""
        return "".join(self.stories.get("title", [])) or None

    def text(self) -> str:
        """Headers, body and footers."""
        parts = ("".join(self.stories.get(story, [])).strip("\n") for story in ("header", "body", "footer"))
        return "\n\n".join("\n".join(_lines(part)) for part in parts if part)

    def read(self, data: bytes) -> None:
        """Read a whole file; what follows its outermost group is no part of it."""
        place = 0
        while (match := _TOKEN.match(data, place)) is not None:
            place = match.end()
            if match["hex"]:
                self._byte(int(match["hex"], 16))
                continue
            if match["text"]:
                self._plain(match["text"])
                continue
            self._flush()
            if match["word"]:
                number = None if match["number"] is None else int(match["number"])
                word = match["word"].decode("ascii")
                if word == "bin":
                    place += max(number or 0, 0)
                else:
                    self._word(word, number)
            elif match["symbol"]:
                self._symbol(match["symbol"].decode("latin-1"))
            elif match["brace"] == b"{":
                self._open()
            elif match["brace"] == b"}":
                self._close()
                if not self.groups:
                    break
        self._flush()

    def _open(self) -> None:
        self.starred = False
        if len(self.groups) >= _MAX_DEPTH:
            raise ConversionError("too_large", f"the file nests more than {_MAX_DEPTH} groups")
        self.to_skip = 0
        self.groups.append(_Group(self.state))
        self.state = replace(self.state)

    def _close(self) -> None:
        self.to_skip = 0
        if self.groups:
            group = self.groups.pop()
            if group.closing:
                self._put(group.closing)
            self.state = group.outer

    def _word(self, word: str, number: int | None) -> None:
        state = self.state
        starred, self.starred = self.starred, False
        if self.to_skip and word != "u":
            self.to_skip -= 1
            return
        if starred and word not in STORIES and word != ANNOTATION_AUTHOR:
            state.skipped = True
        elif word == "u":
            self._unicode(number or 0)
        elif word in SYMBOLS:
            self._put(SYMBOLS[word])
        elif word in ("cell", "nestcell"):
            self._put(_CELL_END)
        elif word in SKIPPED:
            state.skipped = True
        elif word in STORIES:
            self._begin_story(word)
        elif word == ANNOTATION_AUTHOR:
            state.story = "author"
            self.stories["author"] = []
        elif word == "uc":
            state.fallback_chars = max(0, 1 if number is None else number)
        elif word == "v":
            state.hidden = number != _OFF
        elif word == "deleted":
            state.deleted = number != _OFF
        elif word == "plain":
            state.hidden = state.deleted = False
        elif word == "ansicpg":
            self.code_page = state.encoding = _known_encoding(f"cp{number}", "cp1252")
        elif word in ("mac", "pc", "pca"):
            self.code_page = state.encoding = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
        elif word == "f" and number is not None:
            self.font = number
            state.encoding = self.fonts.get(number, self.code_page)
        elif word == "fcharset" and self.font is not None and number is not None:
            self.fonts[self.font] = _known_encoding(CHARSETS.get(number, self.code_page), self.code_page)

    def _begin_story(self, word: str) -> None:
        story, opening, closing = STORIES[word]
        state = self.state
        if state.silent and story != "title":
            return
        if word == "annotation":
            author = "".join(self.stories.pop("author", [])).strip()
            opening = f" [Comment by {author}: " if author else opening
        state.skipped = False
        if story:
            state.story = story
        if opening:
            self._put(opening)
        if closing and self.groups:
            self.groups[-1].closing = closing

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self.starred = True
        elif self.to_skip:
            self.to_skip -= 1
        elif symbol in SYMBOLS:
            self._put(SYMBOLS[symbol])

    def _unicode(self, number: int) -> None:
        code = number + 0x10000 if number < 0 else number
        self.to_skip = self.state.fallback_chars
        if 0xD800 <= code < 0xDC00:
            self.high_surrogate = code
            return
        if 0xDC00 <= code < 0xE000 and self.high_surrogate is not None:
            code = 0x10000 + ((self.high_surrogate - 0xD800) << 10) + code - 0xDC00
        self.high_surrogate = None
        self._put(chr(code) if code <= 0x10FFFF else "\ufffd")

    def _byte(self, value: int) -> None:
        if self.to_skip:
            self.to_skip -= 1
        else:
            self.pending.append(value)

    def _plain(self, text: bytes) -> None:
        skipped = min(self.to_skip, len(text))
        self.to_skip -= skipped
        # Some writers leave bytes beyond ASCII unescaped: they are of the same code page.
        self.pending += text[skipped:]

    def _flush(self) -> None:
        """Decode the bytes gathered; characters of two bytes come as two escapes."""
        if self.pending:
            self._put(bytes(self.pending).decode(self.state.encoding, "replace"))
            self.pending.clear()

    def _put(self, text: str) -> None:
        if not self.state.silent:
            self.stories.setdefault(self.state.story, []).append(text)


def _lines(text: str) -> Iterator[str]:
    """Lines, with the cells of a table row joined."""
    for line in text.split("\n"):
        if _CELL_END in line:
            cells = (" ".join(cell.split()) for cell in line.split(_CELL_END))
            line = _CELL_SEPARATOR.join(cell for cell in cells if cell)
        yield line


def _known_encoding(name: str, otherwise: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        return otherwise
    return name
