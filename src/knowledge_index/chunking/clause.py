"""Clause-aware chunks: a clause with its heading stays whole as far as its length allows."""

import re
from dataclasses import dataclass, replace

from knowledge_index.chunking.headings import find_headings
from knowledge_index.chunking.sentences import cut_position
from knowledge_index.domain.documents import Chunk

_MAX_TITLE_LINE_CHARS = 120
_MAX_TITLE_WORDS = 4
_SUBCLAUSE = re.compile(r"\d+\.\d")


@dataclass(frozen=True)
class _Section:
    """A span between two boundaries; ``is_title`` when it is a heading line without a text of its own."""

    start: int
    end: int
    heading: str
    is_title: bool

    @property
    def length(self) -> int:
        return self.end - self.start


class ClauseChunker:
    """Chunks that begin where clauses begin.

    What stands before the first heading is a chunk of its own. A clause under ``min_chars`` joins the one before it,
    and a heading without text the one after it, as long as both together stay within ``max_chars``. A clause longer
    than that is cut at ends of sentences. Chunks neither overlap nor begin or end with white space.
    """

    def __init__(self, min_chars: int, max_chars: int) -> None:
        self._min_chars = min_chars
        self._max_chars = max_chars
        self.signature = f"clause-1(min={min_chars},max={max_chars})"

    def chunk(self, text: str) -> list[Chunk]:
        """The chunks in order, none longer than ``max_chars``; linear in the length of the text."""
        chunks = []
        for section in self._joined(_sections(text)):
            for start, end in self._cuts(text, section):
                body = text[start:end]
                stripped = body.strip()
                if stripped:
                    start += len(body) - len(body.lstrip())
                    chunks.append(Chunk(start, start + len(stripped), stripped, section.heading))
        return chunks

    def _joined(self, sections: list[_Section]) -> list[_Section]:
        joined: list[_Section] = []
        # Titles that wait for the clause they announce; a long run of them is a table of contents.
        titles: list[_Section] = []
        for section in sections:
            if section.is_title:
                if titles and section.end - titles[0].start > self._max_chars:
                    joined.append(_span(titles))
                    titles = []
                titles.append(section)
                continue
            if titles:
                run = _span(titles)
                if run.length >= self._min_chars and len(titles) > 1 and _opens(titles[-1], section):
                    joined.append(_span(titles[:-1]))
                    run = titles[-1]
                if run.length >= self._min_chars:
                    joined.append(run)
                elif section.end - run.start <= self._max_chars or section.length > self._max_chars:
                    section = replace(run, end=section.end, is_title=False)
                else:
                    joined.append(run)
                titles = []
            previous = joined[-1] if joined else None
            if (
                previous is not None
                and previous.heading
                and not previous.is_title
                and section.length < self._min_chars
                and section.end - previous.start <= self._max_chars
            ):
                joined[-1] = replace(previous, end=section.end)
            else:
                joined.append(section)
        return [*joined, _span(titles)] if titles else joined

    def _cuts(self, text: str, section: _Section) -> list[tuple[int, int]]:
        spans = []
        start = section.start
        while section.end - start > self._max_chars:
            # The rest is left long enough to stand alone, where there is room for that.
            longest = max(self._min_chars, min(self._max_chars, section.end - start - self._min_chars))
            cut = cut_position(text, start, self._min_chars, longest)
            spans.append((start, cut))
            start = cut
        return [*spans, (start, section.end)]


def _sections(text: str) -> list[_Section]:
    headings = list(find_headings(text))
    starts = [heading.boundary for heading in headings]
    first = starts[0] if starts else len(text)
    preamble = text[:first]
    sections = []
    if starts and not any(character.isalpha() for character in preamble):
        # A page number ahead of the first heading is no preamble.
        starts[0] = 0
    elif preamble.strip():
        sections.append(_Section(0, first, "", is_title=False))
    for heading, start, end in zip(headings, starts, [*starts[1:], len(text)], strict=False):
        sections.append(_Section(start, end, heading.text, _is_title(text[start:end], heading.text)))
    return sections


def _is_title(body: str, heading: str) -> bool:
    line = body.strip()
    if len(line) > _MAX_TITLE_LINE_CHARS or "\n" in line:
        return False
    if line[-1:] not in ".;,":
        return True
    # "Section 5. Notices." announces a clause; "1. Supply. A supplies." is one.
    return len(line.split()) <= _MAX_TITLE_WORDS and " ".join(line.split())[:-1] in (heading, heading[:-1])


def _opens(title: _Section, section: _Section) -> bool:
    """Whether a title announces that section ("ARTICLE II", "2.1 Fees") and does not merely end a table of contents."""
    return bool(_SUBCLAUSE.match(section.heading)) and not _SUBCLAUSE.match(title.heading)


def _span(sections: list[_Section]) -> _Section:
    return replace(sections[0], end=sections[-1].end)
