"""The clause-aware rule that a published span table was made with, so that its rows can be made again."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from knowledge_index.chunking.headings import PUBLISHED_HEADER, find_headings
from knowledge_index.domain.documents import Chunk

_MIN_CHARS = 200
_MAX_CHARS = 2000
_BOUNDARY = re.compile(rf"^[ \t]*+(?={PUBLISHED_HEADER})|(?<=[.;:\]])[ \t]{{2,}}+(?={PUBLISHED_HEADER})", re.MULTILINE)


class PublishedClauseChunker:
    """Chunks that tile the text: a section begins ahead of the blanks that lead to a header.

    A section under 200 characters joins the one before it; one over 2,000 is cut behind the period of its last ". "
    between 200 and 2,000 characters, else at the last line break there, else at 2,000. It is kept as it was published,
    faults included: a comparison needs a fixed point. The product's own chunker is
    :class:`~knowledge_index.chunking.clause.ClauseChunker`.
    """

    signature = f"published-clause-1(min={_MIN_CHARS},max={_MAX_CHARS})"

    def chunk(self, text: str) -> list[Chunk]:
        """The chunks in order, blanks at their ends included; one of white space alone is left out."""
        headings = list(find_headings(text))
        boundaries = [heading.boundary for heading in headings]
        chunks = []
        for start, end in _cuts(text):
            if text[start:end].strip():
                position = bisect_right(boundaries, start)
                chunks.append(Chunk(start, end, text[start:end], headings[position - 1].text if position else ""))
        return chunks


def _sections(text: str) -> list[tuple[int, int]]:
    boundaries = sorted({0, len(text), *(match.start() for match in _BOUNDARY.finditer(text))})
    sections: list[tuple[int, int]] = []
    for start, end in pairwise(boundaries):
        if sections and end - start < _MIN_CHARS:
            sections[-1] = (sections[-1][0], end)
        else:
            sections.append((start, end))
    return sections


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _sections(text):
        while end - start > _MAX_CHARS:
            cut = _cut_position(text, start)
            yield start, cut
            start = cut
        yield start, end


def _cut_position(text: str, start: int) -> int:
    window = (start + _MIN_CHARS, start + _MAX_CHARS)
    sentence_end = text.rfind(". ", *window)
    if sentence_end >= 0:
        return sentence_end + 1
    line_break = text.rfind("\n", *window)
    return line_break if line_break >= 0 else start + _MAX_CHARS
