"""What models are compared on: documents, questions, and what each question should find."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from knowledge_index.benchmark.spans.ranking import ChunkPlace
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.principals import Principal
from knowledge_index.evidence.canonical import canonical_sha256

EVALUATOR = Principal.parse("group:model-evaluation")
"""Whose documents those of a set without grants are."""


class Split(StrEnum):
    """Models are chosen on dev; test is looked at once."""

    DEV = "dev"
    TEST = "test"


class Unit(StrEnum):
    """What a ranking ranks: chunks, or papers, each at its best chunk."""

    CHUNK = "chunk"
    DOCUMENT = "document"


@dataclass(frozen=True)
class EvalText:
    """One document; versions of one paper share ``paper``. ``group`` sees it, and nobody else."""

    doc_id: str
    paper: str
    title: str
    text: str
    group: Principal


@dataclass(frozen=True)
class EvalQuestion:
    """A question by ``group``, of all that the group sees or, with ``within``, of one document.

    ``spans`` answer it, or ``papers`` do, with their grades, 1 or more; ``cluster`` is what its outcome hangs on (a
    contract, a scenario), for resampling.
    """

    query_id: str
    text: str
    kind: str
    cluster: str
    spans: tuple[ChunkPlace, ...] = ()
    papers: Mapping[str, int] | None = None
    group: Principal = EVALUATOR
    within: str | None = None


@dataclass(frozen=True)
class ModelDataset:
    """One split of a set; ``notes`` say what of the set could not be used."""

    name: str
    split: Split
    split_rule: str
    documents: tuple[EvalText, ...]
    questions: tuple[EvalQuestion, ...]
    notes: tuple[str, ...] = ()

    @property
    def has_spans(self) -> bool:
        """Whether chunks can be judged; if not, only papers can."""
        return all(each.spans for each in self.questions)

    @cached_property
    def sha256(self) -> str:
        """Hex SHA-256 over all documents, questions and gold, in canonical JSON, each sorted by its id.

        Without the set's name: a copy under another name is the same data.
        """
        return canonical_sha256(
            {
                "split": str(self.split),
                "documents": sorted(
                    [each.doc_id, each.paper, sha256_text(each.title), sha256_text(each.text), str(each.group)]
                    for each in self.documents
                ),
                "questions": sorted(
                    [
                        each.query_id,
                        sha256_text(each.text),
                        each.kind,
                        each.cluster,
                        str(each.group),
                        each.within or "",
                        [f"{place.chunk_id}" for place in each.spans],
                        sorted(f"{paper}={grade}" for paper, grade in (each.papers or {}).items()),
                    ]
                    for each in self.questions
                ),
            }
        )


def half_of(names: Sequence[str], split: Split, seed: int) -> frozenset[str]:
    """One half of the names: ordered by a hash of seed and name, the first half is dev, the rest test."""
    ordered = sorted(set(names), key=lambda name: hashlib.sha256(f"{seed}\0{name}".encode()).hexdigest())
    middle = (len(ordered) + 1) // 2
    return frozenset(ordered[:middle] if split is Split.DEV else ordered[middle:])
