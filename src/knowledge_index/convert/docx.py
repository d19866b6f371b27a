"""Word: all that a reader of the file sees, with its tracked changes accepted, rejected, and side by side."""

import posixpath
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from knowledge_index.convert.docx_blocks import Block, Paragraph, Revisions, Row
from knowledge_index.convert.docx_numbering import Numbering, StyleHints
from knowledge_index.convert.docx_reading import Findings, StoryReader, comments_in, notes_in
from knowledge_index.convert.docx_states import Story, written
from knowledge_index.convert.docx_xml import child_named
from knowledge_index.convert.normalise import plausible_title
from knowledge_index.convert.ooxml import OoxmlPackage
from knowledge_index.domain.documents import ConvertedDocument, TextState
from knowledge_index.domain.errors import ConversionError

_PARTS_BY_NAME = ("styles", "numbering", "footnotes", "endnotes", "comments")
_MAIN_PART = "word/document.xml"
_REFERENCES = {"headerReference": "a header", "footerReference": "a footer"}
_NOTE_PARTS = {"footnotes": "footnoteReference", "endnotes": "endnoteReference"}
Made = TypeVar("Made")


class DocxConverter:
    """The text of a .docx in three states, and its tracked changes.

    Kept: body, tables (nested ones too), headers, footers, footnotes, endnotes, comments with author and day, text
    boxes, text of watermarks, content controls, hyperlinks, the shown results of fields and forms, characters of
    formulas, hidden text, and list numbers as Word counts and writes them (a bullet of a symbol font is ``•``).
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
    suffixes = frozenset({".docm", ".docx"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .docx.

        Raises:
            ConversionError: ``encrypted``, ``damaged``, ``too_large`` or ``empty``.
        """
        package = OoxmlPackage(data)
        try:
            return self._convert(package)
        except RecursionError as error:
            raise ConversionError(
                "damaged", "the file nests tables or text boxes deeper than any program does"
            ) from error

    def _convert(self, package: OoxmlPackage) -> ConvertedDocument:
        file = _File(package)
        stories = file.stories()
        text, changes = written(stories, TextState.CURRENT, file.numbering)
        original = marked = None
        if file.findings.has_changes:
            original, _ = written(stories, TextState.ORIGINAL, file.numbering)
            marked, _ = written(stories, TextState.MARKED, file.numbering)
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


class _Parts:
    """The parts that belong to the main document, and a note on each that could not be read."""

    def __init__(self, package: OoxmlPackage, main: str) -> None:
        self._package = package
        self.lost: dict[str, None] = {}
        self.relations = self.tried("the relationships of the main part", lambda: package.related(main)) or []
        self._add_unnamed_parts(main)

    def _add_unnamed_parts(self, main: str) -> None:
        """Find parts by their usual names where the relationships are gone or point at nothing."""
        folder = posixpath.dirname(main)
        for kind in _PARTS_BY_NAME:
            usual = posixpath.join(folder, f"{kind}.xml")
            named = [target for _, each, target in self.relations if each == kind]
            is_lost = not self._package.has(named[0]) if named else not self.relations
            if is_lost and self._package.has(usual):
                self.relations = [*(each for each in self.relations if each[1] != kind), ("", kind, usual)]
                self.lost[f"no relationship leads to the {kind}; {usual} was taken for them"] = None

    def first(self, kind: str) -> Any | None:
        """The root of the first part of a kind; None where there is none or it is damaged."""
        target = next((target for _, each, target in self.relations if each == kind), None)
        return None if target is None else self.root(target, f"the {kind}")

    def all(self, kind: str) -> Iterator[Any]:
        """The roots of the parts of a kind that can be read."""
        targets = dict.fromkeys(target for _, each, target in self.relations if each == kind)
        roots = (self.root(target, f"the {kind}") for target in targets)
        return (root for root in roots if root is not None)

    def root(self, target: str, what: str) -> Any | None:
        """The root of a part; None, with a note, where it cannot be read: the rest of the file can be had."""
        return self.tried(what, lambda: self._package.parse(target))

    def style_hints(self) -> StyleHints | None:
        """What the bytes of the styles tell; None where there are none."""
        target = next((target for _, each, target in self.relations if each == "styles"), None)
        if target is None:
            return None
        return self.tried("the styles", lambda: StyleHints(self._package.read(target)))

    def tried(self, what: str, make: Callable[[], Made]) -> Made | None:
        """What ``make`` gives, or None and a note."""
        try:
            return make()
        except ConversionError as error:
            self.lost[f"{what} could not be read ({error.error_class})"] = None
            return None


class _File:
    """One file, read in the order in which its parts are written out."""

    def __init__(self, package: OoxmlPackage) -> None:
        main = _main_part(package)
        body = child_named(package.parse(main), "body")
        if body is None:
            raise ConversionError("damaged", f"part {main} has no body")
        self._body: Any = body
        self._parts = parts = _Parts(package, main)
        self.findings = Findings()
        # These hold the parts and not this object: in a cycle the trees of a file would stay until collected.
        self.numbering = Numbering(lambda: parts.first("styles"), lambda: parts.first("numbering"), parts.style_hints())

    def stories(self) -> list[Story]:
        """Headers, body, footnotes, endnotes, footers, comments."""
        target_by_id = {identifier: target for identifier, _, target in self._parts.relations}
        # In the order in which sections name them; what no section names is shown nowhere.
        named: dict[str, list[str]] = {wanted: [] for wanted in _REFERENCES}
        for wanted in _REFERENCES:
            for element in self._body.iter(f"{{*}}{wanted}"):
                named[wanted].append(_relation_id(element))
                if named[wanted][-1] not in target_by_id:
                    self._parts.lost[f"{_REFERENCES[wanted]} is missing: no relationship leads to it"] = None
        body = Story(StoryReader(self._body, self.numbering, self.findings).blocks(self._body))
        headers, footers = (
            self._distinct([target_by_id[key] for key in named[wanted] if key in target_by_id], what)
            for wanted, what in _REFERENCES.items()
        )
        # Notes are read after the body, whose references say which of them are there in which state.
        notes = [Story(self._notes(part)) for part in _NOTE_PARTS]
        comments = Story([row for root in self._parts.all("comments") for row in self._comments(root)])
        return [*headers, body, *notes, *footers, comments]

    def degraded(self) -> Iterator[str]:
        """What could not be read, a line each."""
        yield from self._parts.lost
        for what in self.findings.unread:
            yield f"not read: {what}"
        for name in sorted(self.numbering.unknown_formats):
            yield f"list numbers of the format '{name}' are given as 1, 2, 3"

    def _distinct(self, targets: list[str], what: str) -> list[Story]:
        """The stories of headers or footers, without those that say the same."""
        found: dict[str, Story] = {}
        for target in dict.fromkeys(targets):
            root = self._parts.root(target, what)
            if root is not None:
                story = Story(StoryReader(root, self.numbering, self.findings).blocks(root))
                text, _ = written([story], TextState.MARKED, self.numbering)
                found.setdefault(text, story)
        return list(found.values())

    def _notes(self, part: str) -> list[Block]:
        blocks: list[tuple[int, list[Block]]] = []
        kind, found = _NOTE_PARTS[part], set()
        order = {key: place for place, key in enumerate(self.findings.notes)}
        for root in self._parts.all(part):
            reader = StoryReader(root, self.numbering, self.findings)
            for identifier, note in notes_in(root):
                key = (kind, identifier)
                found.add(key)
                around: Revisions = self.findings.notes.get(key, ())
                blocks.append((order.get(key, len(order)), reader.blocks(note, around)))
        if any(key[0] == kind and key not in found for key in self.findings.notes):
            self._parts.lost[f"{part} are missing to which the text refers"] = None
        return [block for _, note in sorted(blocks, key=lambda each: each[0]) for block in note]

    def _comments(self, root: Any) -> Iterator[Row]:
        """A comment is one line whatever its paragraphs, so that no part of it can pass for the paper's own text."""
        reader = StoryReader(root, self.numbering, self.findings)
        for heading, comment in comments_in(root):
            content = reader.blocks(comment)
            if content:
                yield Row([[Paragraph([(heading, ())]), *content]])


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
