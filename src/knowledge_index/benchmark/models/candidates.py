"""First stages: the product's chunks ranked by words, by meaning, or by both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import numpy as np

from knowledge_index.access import acl_class_of
from knowledge_index.benchmark.models.dataset import EvalQuestion, ModelDataset, Unit
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.chunking.base import Chunker
from knowledge_index.chunking.windows import window_texts, with_heading
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.grants import Access, Grant, Scope
from knowledge_index.domain.languages import language_of
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import Leg, SearchFilters
from knowledge_index.embed import Embedder, Matrix, Vector
from knowledge_index.index import LexicalIndex, LexicalRow, open_lexical_index
from knowledge_index.retrieval.fusion import leg_scores

CANDIDATES = 40
"""How many units a reranker puts into order."""
_LEXICAL_POOL = 1000
# Sums over some hundred dimensions differ in their last bits from machine to machine; ties should not.
_DECIMALS = 6

Scored = list[tuple[int, float]]
"""Passages by their number, best first, each once."""


@dataclass(frozen=True)
class EvalPassage:
    """One chunk: ``text`` as it is indexed, under its section's heading; ``windows`` as it is embedded."""

    doc_id: str
    paper: str
    span: Span
    text: str
    windows: tuple[str, ...]
    group: Principal


@dataclass(frozen=True)
class EvalCorpus:
    """All passages of a data set, and the lexical index over them; a document is its rows' matter."""

    passages: tuple[EvalPassage, ...]
    lexical: LexicalIndex
    chunker_signature: str

    @cached_property
    def _by_document(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, passage in enumerate(self.passages):
            found.setdefault(passage.doc_id, []).append(number)
        return found

    @cached_property
    def _by_group(self) -> Mapping[Principal, list[int]]:
        found: dict[Principal, list[int]] = {}
        for number, passage in enumerate(self.passages):
            found.setdefault(passage.group, []).append(number)
        return found

    def bm25(self, question: EvalQuestion) -> Scored:
        """The passages that share words with the question, within what its group sees."""
        acl_class = acl_class_of([Grant(question.group, Access.ALLOW)])
        scope = Scope(frozenset({question.group}), frozenset({acl_class.id}), 0)
        filters = SearchFilters(matter_refs=frozenset({question.within} if question.within else ()))
        rows = self.lexical.search_text(question.text, scope, filters, _LEXICAL_POOL)
        return [(int(row.row_key), row.score) for row in rows]

    def dense(self, question: EvalQuestion, vector: Vector, matrix: "PassageVectors") -> Scored:
        """All passages that the question's group sees, each as near as its nearest window."""
        if question.within is not None:
            seen = self._by_document.get(question.within, [])
        else:
            seen = self._by_group.get(question.group, [])
        numbers = np.asarray(seen, dtype=np.int64)
        scores = np.round(matrix.scores(vector)[numbers], _DECIMALS)
        order = np.lexsort((numbers, -scores))
        return [(int(numbers[place]), float(scores[place])) for place in order]

    def units(self, scored: Scored, unit: Unit) -> list[int]:
        """The ranking in the unit: one passage for each, the best, in order."""
        if unit is Unit.CHUNK:
            return [number for number, _ in scored]
        first: dict[str, int] = {}
        for number, _ in scored:
            first.setdefault(self.passages[number].paper, number)
        return list(first.values())

    def unit_id(self, number: int, unit: Unit) -> str:
        """How the unit of a passage is called: without white space, as TREC files want it."""
        passage = self.passages[number]
        return f"c{number}" if unit is Unit.CHUNK else paper_id(passage.paper)

    def relevant(self, question: EvalQuestion, unit: Unit) -> dict[str, int]:
        """Grades of the units that answer the question.

        A chunk answers where half of a gold span lies in it or half of it in a gold span; of each gold span, the chunk
        that holds most of it does in any case, the earlier of equals.
        """
        if question.papers is not None:
            return {paper_id(paper): grade for paper, grade in question.papers.items()}
        found: dict[str, int] = {}
        for gold in question.spans:
            shared = [
                (self.passages[number].span.overlap(gold.span), number)
                for number in self._by_document.get(gold.doc_id, ())
            ]
            most = max((overlap for overlap, _ in shared), default=0)
            best = next((number for overlap, number in shared if overlap == most and overlap), None)
            for overlap, number in shared:
                half = 2 * overlap >= min(gold.span.length, self.passages[number].span.length)
                if number == best or (overlap and half):
                    found[self.unit_id(number, unit)] = 1
        return found


def paper_id(paper: str) -> str:
    """A paper's name without white space, and never that of another paper."""
    return "d" + quote(paper)


class PassageVectors:
    """The windows' vectors of all passages, in order."""

    def __init__(self, matrix: Matrix, counts: Sequence[int]) -> None:
        self._matrix = matrix
        self._starts = np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.int64)

    def scores(self, vector: Vector) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """The cosine of each passage's nearest window, by the passage's number."""
        products = self._matrix @ vector
        return np.maximum.reduceat(products, self._starts).astype(np.float64)


def build_corpus(folder: Path, dataset: ModelDataset, chunker: Chunker) -> EvalCorpus:
    """Cut all documents and index their words, into ``folder``, which has to be new."""
    passages: list[EvalPassage] = []
    rows = []
    for document in sorted(dataset.documents, key=lambda each: each.doc_id):
        acl_class = acl_class_of([Grant(document.group, Access.ALLOW)])
        language = language_of(document.text)
        for chunk in chunker.chunk(document.text):
            text = with_heading(chunk.heading, chunk.text)
            # Sorts by document and place: ties are broken by it, never by the order of insertion.
            rows.append(LexicalRow(f"{len(passages):09d}", acl_class.id, document.doc_id, text, (), language))
            passages.append(
                EvalPassage(
                    document.doc_id,
                    document.paper,
                    Span(chunk.start_char, chunk.end_char),
                    text,
                    tuple(window_texts(chunk.heading, chunk.text)),
                    document.group,
                )
            )
    lexical = open_lexical_index(folder / "lexical")
    lexical.add(rows)
    return EvalCorpus(tuple(passages), lexical, chunker.signature)


def embed_passages(corpus: EvalCorpus, embedder: Embedder, on_done: Callable[[int], None]) -> PassageVectors:
    """The vectors of all windows; ``on_done`` is called with the number of windows finished since its last call."""
    texts = [window for passage in corpus.passages for window in passage.windows]
    return PassageVectors(embedder.embed(texts, on_done), [len(passage.windows) for passage in corpus.passages])


def fuse(lexical: Scored, semantic: Scored, settings: RetrievalSettings) -> Scored:
    """The two heads of ``candidate_pool`` passages fused as searches fuse their legs, with the weights in force."""
    weights = {Leg.LEXICAL: settings.weight_lexical, Leg.SEMANTIC: settings.weight_semantic}
    lists = {Leg.LEXICAL: lexical[: settings.candidate_pool], Leg.SEMANTIC: semantic[: settings.candidate_pool]}
    shares = {
        leg: leg_scores(leg, [(str(number), score) for number, score in scored], settings.fusion, settings.fusion_rrf_k)
        for leg, scored in lists.items()
    }
    numbers = {number for scored in lists.values() for number, _ in scored}
    fused = {number: sum(weights[leg] * each.share(str(number)) for leg, each in shares.items()) for number in numbers}
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))
