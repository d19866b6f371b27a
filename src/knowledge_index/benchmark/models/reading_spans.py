"""ContractNLI and CUAD: questions that spans of a contract answer, split by contract."""

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowledge_index.benchmark.models.dataset import EVALUATOR, EvalQuestion, EvalText, ModelDataset, Split, half_of
from knowledge_index.benchmark.spans.corpus import load_corpus_benchmark
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.prepare_cuad import METADATA_CLAUSES
from knowledge_index.benchmark.spans.ranking import ChunkPlace
from knowledge_index.domain.errors import InputError
from knowledge_index.domain.progress import Progress


def read_contract_nli(place: Path, split: Split, seed: int, progress: Progress) -> ModelDataset:
    """LegalBench-RAG's ContractNLI part: half of the contracts with all their questions, asked of these contracts.

    Raises:
        InputError: the benchmark is malformed.
    """
    del progress
    benchmark = load_corpus_benchmark(place / "benchmarks" / "contractnli.json", place / "corpus", None)
    kept = half_of([each.doc_id for each in benchmark.documents], split, seed)
    documents = tuple(
        EvalText(each.doc_id, each.doc_id, each.title, each.text, EVALUATOR)
        for each in benchmark.documents
        if each.doc_id in kept
    )
    questions, torn = [], 0
    for each in benchmark.queries:
        contracts = {gold.doc_id for gold in each.gold}
        if contracts <= kept:
            questions.append(EvalQuestion(f"q{each.index:05d}", each.query, "question", each.cluster, each.gold))
        elif contracts & kept:
            torn += 1
    notes = (f"{torn} questions on contracts of both splits were left out",) if torn else ()
    return ModelDataset("contractnli", split, _rule(seed), documents, tuple(questions), notes)


class _Clause(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    doc: str = Field(min_length=1)
    title: str
    clause_type: str = Field(min_length=1)
    texts: list[str]


def read_cuad(place: Path, split: Split, seed: int, progress: Progress) -> ModelDataset:
    """CUAD as contracts and clause wordings: half of the contracts, each asked for its own clause types by name.

    Names, parties and dates are not asked for. A wording is looked for without regard to white space, and one that is
    not found, or stands in several places, answers nothing.

    Raises:
        InputError: a file cannot be read or is malformed.
    """
    rows = _clauses(place / "clauses.jsonl")
    kept = half_of([each.doc for each in rows], split, seed)
    texts: dict[str, _Reduced] = {}
    titles = {each.doc: each.title for each in rows if each.doc in kept}
    with progress.task("read contracts", len(titles)) as task:
        for doc in sorted(titles):
            texts[doc] = _Reduced(_text(place / "contracts" / doc))
            task.advance()
    questions = []
    lost: Counter[str] = Counter()
    for number, row in enumerate(rows):
        if row.doc not in kept or row.clause_type in METADATA_CLAUSES:
            continue
        spans = []
        for wording in row.texts:
            found = texts[row.doc].spans_of(wording)
            if len(found) == 1:
                spans.append(ChunkPlace(row.doc, found[0]))
            else:
                lost["not found" if not found else "in several places"] += 1
        if spans:
            questions.append(
                EvalQuestion(
                    f"q{number:05d}", row.clause_type, "clause type", row.doc, tuple(sorted(set(spans))), within=row.doc
                )
            )
    documents = tuple(EvalText(doc, doc, titles[doc], texts[doc].text, EVALUATOR) for doc in sorted(titles))
    notes = tuple(f"{count} wordings of clauses were left out: {why}" for why, count in sorted(lost.items()))
    return ModelDataset("cuad", split, _rule(seed), documents, tuple(questions), notes)


class _Reduced:
    """A text and what of it is no white space, with the place of each such character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = [place for place, character in enumerate(text) if not character.isspace()]
        self._letters = "".join(text[place] for place in self._places)

    def spans_of(self, wording: str) -> list[Span]:
        letters = "".join(wording.split())
        found = []
        start = self._letters.find(letters) if letters else -1
        while start >= 0:
            found.append(Span(self._places[start], self._places[start + len(letters) - 1] + 1))
            start = self._letters.find(letters, start + 1)
        return found


def _clauses(file: Path) -> list[_Clause]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [_Clause.model_validate_json(line) for line in lines if line.strip()]
    except ValidationError as error:
        raise InputError(f"{file}: a line is no clause: {error.errors()[0]['msg']}; it needs doc, title, "
                         "clause_type and texts") from error  # fmt: skip
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as UTF-8: {error}") from error


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return stream.read()
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as UTF-8: {error}") from error


def _rule(seed: int) -> str:
    return f"half of the contracts, by a hash of seed {seed} and name"
