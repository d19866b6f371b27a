"""What a Word file is read into before its states are written out: paragraphs and rows, with who changed what."""

from dataclasses import dataclass, field
from typing import NamedTuple

from knowledge_index.convert.docx_numbering import ListPlace
from knowledge_index.domain.documents import ChangeKind, TextState


class Revision(NamedTuple):
    """One tracked change around a piece of content."""

    kind: ChangeKind
    author: str | None
    date: str | None


Revisions = tuple[Revision, ...]

_GONE_FROM = {
    TextState.CURRENT: frozenset({ChangeKind.DELETION, ChangeKind.MOVED_FROM}),
    TextState.ORIGINAL: frozenset({ChangeKind.INSERTION, ChangeKind.MOVED_TO}),
    TextState.MARKED: frozenset[ChangeKind](),
}


def stands_in(revisions: Revisions, state: TextState) -> bool:
    """Whether content under these changes is there in that state."""
    if not revisions:
        return True
    gone = _GONE_FROM[state]
    return not any(revision.kind in gone for revision in revisions)


def deciding(revisions: Revisions) -> Revision:
    """The change that content is shown under: words that one person inserted and another deleted are deleted words."""
    gone = _GONE_FROM[TextState.CURRENT]
    return next((each for each in reversed(revisions) if each.kind in gone), revisions[-1])


@dataclass(slots=True)
class Paragraph:
    """A paragraph: its pieces with the changes around each, and the changes of the mark that ends it.

    ``runs_on`` is set where the mark is hidden, so that the next paragraph stands in the same line. ``place`` is its
    place in a list as things are, ``original_place`` before tracked changes of its formatting. ``boxes`` holds the
    content of text boxes anchored in it. ``labels`` are the list numbers, once the state has been written.
    """

    pieces: list[tuple[str, Revisions]]
    mark: Revisions = ()
    runs_on: bool = False
    place: ListPlace | None = None
    original_place: ListPlace | None = None
    boxes: list["Block"] = field(default_factory=list)
    labels: dict[TextState, str] = field(default_factory=dict)


@dataclass(slots=True)
class Row:
    """A table row: the content of each cell; ``revisions`` are those of the row as a whole."""

    cells: list[list["Block"]]
    revisions: Revisions = ()


Block = Paragraph | Row
