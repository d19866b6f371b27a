"""Word: all that a reader of the file sees, with its tracked changes accepted, rejected, and side by side."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from knowledge_index.convert.docx_blocks import Block, Paragraph, Revisions, Row, State
from knowledge_index.convert.docx_numbering import Numbering, read_numbering
from knowledge_index.convert.docx_reading import Findings, StoryReader, comments_in, notes_in
from knowledge_index.convert.docx_states import Story, written
from knowledge_index.convert.docx_xml import NAMES, child_named
from knowledge_index.convert.normalise import plausible_title
from knowledge_index.convert.ooxml import OoxmlPackage
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_MAIN_PART = "word/document.xml"
_REFERENCES = ("headerReference", "footerReference")
_NOTE_PARTS = {"footnotes": "footnoteReference", "endnotes": "endnoteReference"}
Made = TypeVar("Made")


class DocxConverter:
    """The text of a .docx in three states, and its tracked changes.

    Kept: body, tables (nested ones too), headers, footers, footnotes, endnotes, comments with author and day, text
    boxes, text of watermarks, content controls, hyperlinks, the shown results of fields and forms, formulas' characters,
    hidden text, and list numbers as Word counts and writes them (a bullet of a symbol font is ``•``).
    Dropped: pictures, charts, SmartArt, embedded files, field instructions, the raised signs that refer to notes, page
    breaks, fonts and colours. Content that is stored in the file but shown nowhere (a header that no section names) is
    dropped too. An embedded file that Word would show as text (altChunk) is not read, and ``degraded`` says so.

    Layout: each distinct header stands once before the body; footnotes, endnotes, each distinct footer and the comments
    (``[Comment by A. Muster, 2026-03-01] …``) after it. A paragraph is a line, led by its number and a blank. A text
    box follows the paragraph that it is anchored in. A table row is a line, its cells joined by `` | ``. Several empty
    paragraphs are one empty line.

    States: ``text`` has all changes accepted, ``original_text`` all rejected, each with the list numbers that Word
    shows in that state. ``marked_text`` has both: ``[+inserted+]``, ``[-deleted-]``, ``[>moved here>]``,
    ``[<moved away<]``; a changed paragraph mark is written ``¶`` within the marks. Words that one person inserted and
    another deleted stand in ``marked_text`` alone, as deleted. A change is a run of words within one paragraph under
    one kind, author and date; a table row that came or went as a whole is one change; a paragraph mark has a change of
    its own, with the text of a line feed, only where no words beside it are part of it. Changes of formatting are
    no records; where they changed a list number, the states show it.
    """

    name = "docx"
    version = "2"
    suffixes = frozenset({".docx"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .docx.

        Raises:
            ConversionError: ``encrypted``, ``damaged``, ``too_large`` or ``empty``.
        """
        package = OoxmlPackage(data)
        try:
            return self._convert(package)
        except RecursionError as error:
            raise ConversionError("damaged", "the file nests tables or text boxes deeper than any program does") from error

    def _convert(self, package: OoxmlPackage) -> ConvertedDocument:
        file = _File(package)
        stories = file.stories()
        text, changes = written(stories, State.CURRENT, file.numbering)
        original = marked = None
        if file.findings.has_changes:
            original, _ = written(stories, State.ORIGINAL, file.numbering)
            marked, _ = written(stories, State.MARKED, file.numbering)
        if not (text.strip() or (marked or "").strip()):
            raise ConversionError("empty", "the file holds no text; nothing of it can be found by a search")
        return ConvertedDocument(
            text,
            plausible_title(package.title()),
            self.name,
            self.version,
            original_text=original,
            marked_text=marked,
            changes=changes,
            degraded=(*package.repairs, *file.degraded()),
        )


CONVERTER = DocxConverter()


class _File:
    """The parts of one file, read in the order in which they are written out."""

    def __init__(self, package: OoxmlPackage) -> None:
        self._package = package
        self._lost: dict[str, None] = {}
        self._main = _main_part(package)
        self._body = child_named(package.parse(self._main), "body")
        if self._body is None:
            raise ConversionError("damaged", f"part {self._main} has no body")
        self._relations = self._tried("the relationships of the main part", lambda: package.related(self._main)) or []
        self.findings = Findings()
        self.numbering = self._numbering()

    def stories(self) -> list[Story]:
        """Headers, body, footnotes, endnotes, footers, comments; those without content are left out."""
        target_by_id = {identifier: target for identifier, _, target in self._relations}
        # In the order in which sections name them; what no section names is shown nowhere.
        references = [(NAMES[each.tag], _relation_id(each)) for each in self._body.iter() if NAMES[each.tag] in _REFERENCES]
        body = Story(StoryReader(self._body, self.numbering, self.findings).blocks(self._body))
        named = {
            wanted: [target_by_id.get(key, "") for name, key in references if name == wanted] for wanted in _REFERENCES
        }
        headers, footers = (self._distinct(named[wanted]) for wanted in _REFERENCES)
        # Notes are read after the body, whose references say which of them are there in which state.
        notes = [Story(self._notes(part)) for part in _NOTE_PARTS]
        comments = Story([row for root in self._roots("comments") for row in self._comments(root)])
        return [*headers, body, *notes, *footers, comments]

    def degraded(self) -> Iterator[str]:
        """What could not be read, a line each."""
        yield from self._lost
        for what in self.findings.unread:
            yield f"not read: {what}"
        for name in sorted(self.numbering.unknown_formats):
            yield f"list numbers of the format '{name}' are given as 1, 2, 3"

    def _numbering(self) -> Numbering:
        def read() -> Numbering:
            # Most files number nothing, and their parts need not be parsed to know that.
            roots = (self._first_root(kind, b"numPr") for kind in ("styles", "numbering"))
            return read_numbering(*roots)

        if not any(kind == "numbering" for _, kind, _ in self._relations):
            return Numbering()
        return self._tried("the list numbers", read) or Numbering()

    def _first_root(self, kind: str, _needed: bytes) -> Any | None:
        target = next((target for _, each, target in self._relations if each == kind), None)
        return None if target is None else self._package.parse(target)

    def _roots(self, kind: str) -> Iterator[Any]:
        for target in dict.fromkeys(target for _, each, target in self._relations if each == kind):
            root = self._tried(f"the {kind}", lambda target=target: self._package.parse(target))
            if root is not None:
                yield root

    def _distinct(self, targets: list[str]) -> list[Story]:
        """The stories of headers or footers, without those that say the same."""
        found: dict[str, Story] = {}
        for target in dict.fromkeys(targets):
            root = self._tried("a header or footer", lambda target=target: self._package.parse(target))
            if root is not None:
                story = Story(StoryReader(root, self.numbering, self.findings).blocks(root))
                text, _ = written([story], State.MARKED, self.numbering)
                found.setdefault(text, story)
        return list(found.values())

    def _notes(self, part: str) -> list[Block]:
        blocks: list[tuple[int, list[Block]]] = []
        order = {key: place for place, key in enumerate(self.findings.notes)}
        for root in self._roots(part):
            reader = StoryReader(root, self.numbering, self.findings)
            for identifier, note in notes_in(root):
                key = (_NOTE_PARTS[part], identifier)
                around: Revisions = self.findings.notes.get(key, ())
                blocks.append((order.get(key, len(order)), reader.blocks(note, around)))
        return [block for _, note in sorted(blocks, key=lambda each: each[0]) for block in note]

    def _comments(self, root: Any) -> Iterator[Row]:
        """A comment is one line whatever its paragraphs, so that no part of it can be taken for the paper's own text."""
        reader = StoryReader(root, self.numbering, self.findings)
        for heading, comment in comments_in(root):
            content = reader.blocks(comment)
            if content:
                yield Row([[Paragraph([(heading, ())]), *content]])

    def _tried(self, what: str, make: Callable[[], Made]) -> Made | None:
        """What ``make`` gives; where a part is missing or damaged, a note, since the rest of the file can be had."""
        try:
            return make()
        except ConversionError as error:
            self._lost[f"{what} could not be read: {error}"] = None
            return None


def _main_part(package: OoxmlPackage) -> str:
    try:
        named = [target for _, kind, target in package.related("") if kind == "officeDocument"]
    except ConversionError:
        named = []
    if named and package.has(named[0]):
        return named[0]
    if package.has(_MAIN_PART):
        package.repairs.append(f"the package does not name its main document; {_MAIN_PART} was taken for it")
        return _MAIN_PART
    raise ConversionError("damaged", f"the package has no main document{f': {named[0]} is absent' if named else ''}")


def _relation_id(element: Any) -> str:
    return next((str(value) for name, value in element.attrib.items() if name.endswith("}id")), "")
