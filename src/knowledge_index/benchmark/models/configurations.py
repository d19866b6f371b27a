"""The rows of a grid, by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class FirstStage(StrEnum):
    """Who finds the candidates."""

    BM25 = "bm25"
    DENSE = "dense"
    HYBRID = "hybrid"


@dataclass(frozen=True)
class Configuration:
    """One row of the grid by the models' registered names; BM25 has no embedder."""

    first_stage: FirstStage
    embedder: str | None
    reranker: str | None

    @property
    def name(self) -> str:
        """``bm25``, ``dense:EMBEDDER``, ``hybrid:EMBEDDER``, and ``+RERANKER`` behind it."""
        first = str(self.first_stage) if self.embedder is None else f"{self.first_stage}:{self.embedder}"
        return first if self.reranker is None else f"{first}+{self.reranker}"


def configurations_of(embedders: Sequence[str], rerankers: Sequence[str]) -> tuple[Configuration, ...]:
    """The grid of registered names: BM25, then each embedder dense and hybrid, each without and with every reranker."""
    stages: list[tuple[FirstStage, str | None]] = [(FirstStage.BM25, None)]
    stages += [(stage, name) for name in embedders for stage in (FirstStage.DENSE, FirstStage.HYBRID)]
    return tuple(Configuration(stage, name, reranker) for stage, name in stages for reranker in (None, *rerankers))
