"""Values that pass between the readers of the content and the writers of the files.

A contract is held once, with its tracked changes. The draft is what is left when every change is rejected, the final
what is left when every change is accepted; that the three agree is therefore true by construction and not by care.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Style = Literal["title", "heading", "subheading", "body", "item", "plain", "centre", "small"]


@dataclass(frozen=True)
class Author:
    """Who made a tracked change, and when (ISO 8601, UTC)."""

    name: str
    date: str


@dataclass(frozen=True)
class Span:
    """A run of text. Both marks set means: inserted by one side, struck again by the other."""

    text: str
    inserted: Author | None = None
    deleted: Author | None = None


@dataclass(frozen=True)
class Paragraph:
    """One paragraph. `inserted` and `deleted` are the marks on the paragraph sign itself."""

    style: Style
    spans: tuple[Span, ...]
    inserted: Author | None = None
    deleted: Author | None = None
    footnote: str = ""

    @property
    def text(self) -> str:
        """All text, struck text included."""
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True)
class Table:
    """A table of plain cells; the first row is its heading."""

    rows: tuple[tuple[str, ...], ...]


Block = Paragraph | Table


@dataclass(frozen=True)
class Paper:
    """A text ready to be written as .docx or .pdf."""

    blocks: tuple[Block, ...]
    title: str = ""
    creator: str = ""
    created: str = "2026-01-05T09:00:00Z"
    header: str = ""
    footer: str = ""
    page_label: str = "Page"


@dataclass(frozen=True)
class Formula:
    """A spreadsheet formula with the value that a spreadsheet program would have cached."""

    formula: str
    value: float | str


@dataclass
class Clause:
    """A clause of the library: key, heading and raw lines with placeholders and cross references."""

    key: str
    heading: str
    lines: list[str] = field(default_factory=list)

    @property
    def is_schedule(self) -> bool:
        """Schedules and the preamble carry no clause number."""
        return self.key.startswith("!")


def accept(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks with every change accepted and no marks left."""
    return _settle(blocks, keep_inserted=True)


def reject(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks with every change rejected and no marks left."""
    return _settle(blocks, keep_inserted=False)


def _settle(blocks: tuple[Block, ...], *, keep_inserted: bool) -> tuple[Block, ...]:
    settled: list[Block] = []
    for block in blocks:
        if isinstance(block, Table):
            settled.append(block)
            continue
        gone = block.deleted if keep_inserted else block.inserted
        if gone:
            continue
        text = "".join(span.text for span in block.spans if not (span.deleted if keep_inserted else span.inserted))
        settled.append(Paragraph(block.style, (Span(text),), footnote=block.footnote))
    return tuple(settled)
