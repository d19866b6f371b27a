"""A benchmark of questions to a whole corpus, in LegalBench-RAG's form, and what is measured of it.

The form: ``{"tests": [{"query": …, "snippets": [{"file_path": …, "span": [start, end], "answer": …}]}]}``; a span
counts Unicode characters of the file, read as UTF-8 with its line ends as they are. Source: Pipitone and Alami,
"LegalBench-RAG: A Benchmark for Retrieval-Augmented Generation in the Legal Domain", 2024.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from statistics import fmean

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowledge_index.benchmark.spans.eval_set import EvalDocument
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.ranking import ChunkPlace
from knowledge_index.domain.errors import InputError

CUTOFFS = (1, 2, 4, 8, 16, 32, 64)
DEPTH = CUTOFFS[-1]
RIGHT_DOCUMENT_K = 16


@dataclass(frozen=True)
class CorpusQuery:
    """A question; ``gold`` are the passages that answer it, ``index`` its place in the benchmark's tests."""

    index: int
    query: str
    gold: tuple[ChunkPlace, ...]

    @property
    def cluster(self) -> str:
        """The document that it is about, for resampling."""
        return self.gold[0].doc_id


@dataclass(frozen=True)
class CorpusBenchmark:
    """The questions and the whole corpus; a document's id is its path. ``sha256`` is that of the benchmark file."""

    name: str
    sha256: str
    documents: tuple[EvalDocument, ...]
    queries: tuple[CorpusQuery, ...]
    questions_in_file: int


@dataclass(frozen=True)
class CorpusMetrics:
    """In percent of characters: precision and recall at each of :data:`CUTOFFS`; ``right_document_at_16`` is a share.

    Precision is the gold characters among the top k over all characters of the top k, recall over all gold characters;
    a character counts as often as chunks hold it.
    """

    precision: tuple[float, ...]
    recall: tuple[float, ...]
    right_document_at_16: float


class _Snippet(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    file_path: str = Field(min_length=1)
    span: list[int] = Field(min_length=2, max_length=2)
    answer: str | None = None


class _Test(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    query: str
    snippets: list[_Snippet] = Field(min_length=1)


class _Benchmark(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    tests: list[_Test] = Field(min_length=1)


def load_corpus_benchmark(file: Path, corpus: Path, mini: int | None) -> CorpusBenchmark:
    """Read a benchmark and every .txt under ``corpus``; with ``mini``, the first so many questions.

    Raises:
        InputError: the benchmark has another form, a file of the corpus cannot be read, or a question's snippet names
            a file that is not there or does not slice back to its answer.
    """
    try:
        data = file.read_bytes()
        model = _Benchmark.model_validate(json.loads(data.decode("utf-8")))
    except OSError as error:
        raise InputError(f"{file}: the benchmark cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        detail = error.errors()[0]
        where = " > ".join(str(part) for part in detail["loc"]) or "the file"
        raise InputError(
            f"{file}: {where}: {detail['msg']}; a benchmark has 'tests' with 'query' and 'snippets' (file_path, span)"
        ) from error
    except ValueError as error:
        raise InputError(f"{file}: is no JSON in UTF-8 ({error})") from error
    documents = _documents(corpus)
    texts = {each.doc_id: each.text for each in documents}
    queries = tuple(
        CorpusQuery(index, test.query, tuple(_gold(file, corpus, index, each, texts) for each in test.snippets))
        for index, test in enumerate(model.tests[:mini])
    )
    for query in queries:
        if not query.query.strip():
            raise InputError(f"{file}: tests > {query.index}: the query is empty")
    return CorpusBenchmark(file.stem, hashlib.sha256(data).hexdigest(), documents, queries, len(model.tests))


def _documents(corpus: Path) -> tuple[EvalDocument, ...]:
    if not corpus.is_dir():
        raise InputError(f"{corpus}: is no folder; name the one that the benchmark's file paths start from")
    documents = []
    for file in sorted(corpus.rglob("*.txt")):
        doc_id = file.relative_to(corpus).as_posix()
        try:
            with file.open(encoding="utf-8", newline="") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file}: cannot be read as UTF-8 text: {error}") from error
        if not text.strip():
            raise InputError(f"{file}: holds no text; take it out of the corpus")
        documents.append(EvalDocument(doc_id, PurePosixPath(doc_id).stem, text, {}))
    if not documents:
        raise InputError(f"{corpus}: holds no .txt file")
    return tuple(documents)


def _gold(file: Path, corpus: Path, index: int, snippet: _Snippet, texts: dict[str, str]) -> ChunkPlace:
    where = f"{file}: tests > {index}"
    text = texts.get(snippet.file_path)
    if text is None:
        raise InputError(f"{where}: names '{snippet.file_path}', which is not under {corpus}")
    start, end = snippet.span
    if not 0 <= start < end <= len(text):
        raise InputError(
            f"{where}: the span {snippet.span} lies outside '{snippet.file_path}' of {len(text)} characters"
        )
    if snippet.answer is not None and text[start:end] != snippet.answer:
        raise InputError(
            f"{where}: the span {snippet.span} of '{snippet.file_path}' does not slice back to its answer; the corpus "
            "is not the one that the benchmark was made for"
        )
    return ChunkPlace(snippet.file_path, Span(start, end))


def score_corpus_ranking(query: CorpusQuery, ranking: Sequence[ChunkPlace]) -> CorpusMetrics:
    """The metrics of one question; ``ranking`` is best first."""
    gold_characters = sum(each.span.length for each in query.gold)
    files = {each.doc_id for each in query.gold}
    precision, recall = [], []
    for k in CUTOFFS:
        top = ranking[:k]
        hit = sum(each.span.overlap(gold.span) for each in top for gold in query.gold if each.doc_id == gold.doc_id)
        size = sum(each.span.length for each in top)
        precision.append(100 * hit / size if size else 0.0)
        recall.append(100 * hit / gold_characters)
    head = ranking[:RIGHT_DOCUMENT_K]
    right = fmean(each.doc_id in files for each in head) if head else 0.0
    return CorpusMetrics(tuple(precision), tuple(recall), right)


def mean_corpus_metrics(values: Sequence[CorpusMetrics]) -> CorpusMetrics:
    """The mean of each metric over all questions.

    Raises:
        ValueError: there is no question.
    """
    if not values:
        raise ValueError("no questions to take the mean of")
    return CorpusMetrics(
        tuple(fmean(each.precision[place] for each in values) for place in range(len(CUTOFFS))),
        tuple(fmean(each.recall[place] for each in values) for place in range(len(CUTOFFS))),
        fmean(each.right_document_at_16 for each in values),
    )
