"""Fixed windows with overlap."""

from bisect import bisect_right

from knowledge_index.chunking.headings import find_headings
from knowledge_index.domain.documents import Chunk


class FixedWindowChunker:
    """Windows of ``window_chars``, each sharing ``overlap_chars`` with the next; the last one ends with the text."""

    def __init__(self, window_chars: int, overlap_chars: int) -> None:
        self._window_chars = window_chars
        self._step_chars = window_chars - overlap_chars
        self.signature = f"fixed-1(window={window_chars},overlap={overlap_chars})"

    def chunk(self, text: str) -> list[Chunk]:
        """The windows in order; one of white space alone is left out."""
        headings = list(find_headings(text))
        boundaries = [heading.boundary for heading in headings]
        chunks = []
        # A window that starts inside the overlap of the last one would hold nothing new.
        for start in range(0, max(1, len(text) - self._window_chars + self._step_chars), self._step_chars):
            window = text[start : start + self._window_chars]
            if window.strip():
                position = bisect_right(boundaries, start)
                heading = headings[position - 1].text if position else ""
                chunks.append(Chunk(start, start + len(window), window, heading))
        return chunks
