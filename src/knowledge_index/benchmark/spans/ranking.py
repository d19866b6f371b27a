"""What a configuration ranks: chunks of the set's documents, and who ranks them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from knowledge_index.benchmark.spans.intervals import Span


@dataclass(frozen=True, order=True)
class ChunkPlace:
    """A chunk by where it stands: offsets into the eval set's own text of the document."""

    doc_id: str
    span: Span

    @property
    def chunk_id(self) -> str:
        """Its name in reports."""
        return f"{self.doc_id}:{self.span.start}-{self.span.end}"


@dataclass(frozen=True)
class RankedChunk:
    """One place of a ranking; the rank is its position, from 1."""

    place: ChunkPlace
    score: float


@dataclass(frozen=True)
class IndexedChunk:
    """A chunk and the text that was embedded and indexed for it, its context header included."""

    place: ChunkPlace
    indexed_text: str


class Ranker(Protocol):
    """One chunking of the documents, indexed, and one way to rank it."""

    chunker_signature: str

    @property
    def chunks(self) -> Sequence[IndexedChunk]:
        """Every chunk, by document and place."""
        ...

    def rank(self, query: str, doc_ids: frozenset[str] | None, depth: int) -> tuple[RankedChunk, ...]:
        """The best ``depth`` chunks, out of the documents named, or of all for None; an empty set has none."""
        ...
