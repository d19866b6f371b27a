"""Half-open spans of characters and what they share."""

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """The characters from ``start`` up to but without ``end``, counted in Unicode code points."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """How many characters it has."""
        return self.end - self.start

    def overlap(self, other: "Span") -> int:
        """How many characters both have."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))

    def holds(self, other: "Span") -> bool:
        """Whether every character of ``other`` is one of its own."""
        return self.start <= other.start and other.end <= self.end


def merge_overlapping(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans in order, those that share a character as one; spans that only touch stay two."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)


def covered_characters(span: Span, by: Iterable[Span]) -> int:
    """How many characters of ``span`` lie in at least one of the others."""
    return sum(span.overlap(each) for each in merge_overlapping(by))


def trimmed(text: str, span: Span) -> Span:
    """The span without white space at its ends; as it is where it holds nothing else."""
    body = text[span.start : span.end]
    if not body.strip():
        return span
    return Span(span.start + len(body) - len(body.lstrip()), span.start + len(body.rstrip()))
