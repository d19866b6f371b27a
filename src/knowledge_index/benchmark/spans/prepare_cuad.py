"""An eval set from CUAD's own file: contracts, clause types as questions, the lawyers' annotations as gold.

Source: Hendrycks, Burns, Chen and Ball, "CUAD: An Expert-Annotated NLP Dataset for Legal Contract Review", 2021;
CUADv1.json has the form of SQuAD 2.0.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowledge_index.benchmark.spans.eval_set import EvalDocument, EvalQuery, write_eval_set
from knowledge_index.benchmark.spans.intervals import Span, merge_overlapping
from knowledge_index.domain.errors import InputError

CUAD_SHA256 = "ed0b77d85bdf4014d7495800e8e4a70565b48ee6f8a2e5dca9cf8655dbf10eae"
METADATA_CLAUSES = frozenset({"Document Name", "Parties", "Agreement Date", "Effective Date", "Expiration Date"})
"""Clause types that a paper's first page or its file name answers: they tell little about retrieval."""

_CLAUSE_TYPE = re.compile(r'related to "(?P<type>[^"]+)"')
_DETAILS = "Details:"
_MAX_ID_CHARS = 60


@dataclass(frozen=True)
class PreparedSet:
    """What was written."""

    documents: int
    queries: int
    gold_spans: int
    documents_in_file: int


@dataclass(frozen=True)
class _Question:
    clause_type: str
    query: str
    gold_spans: tuple[Span, ...]


@dataclass(frozen=True)
class _Contract:
    title: str
    text: str
    questions: tuple[_Question, ...]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Answer(_Model):
    text: str = Field(min_length=1)
    answer_start: int = Field(ge=0)


class _Asked(_Model):
    id: str
    question: str
    answers: list[_Answer]


class _Paragraph(_Model):
    context: str
    qas: list[_Asked]


class _Entry(_Model):
    title: str
    paragraphs: list[_Paragraph]


class _File(_Model):
    data: list[_Entry] = Field(min_length=1)


def prepare_cuad(
    file: Path,
    out: Path,
    *,
    seed: int,
    documents: int,
    questions: int,
    include_metadata_clauses: bool,
    allow_other_file: bool,
) -> PreparedSet:
    """Sample ``documents`` contracts and ``questions`` questions on them, spread evenly, and write an eval set.

    The sample follows from seed and titles alone: contracts, and the questions of each, are ordered by a hash of both.
    Only clause types that the contract has an annotation for are asked.

    Raises:
        InputError: the file cannot be read, is not CUAD's or not of its form, or an annotation's text does not stand
            where it is said to; nothing is written then.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    digest = hashlib.sha256(data).hexdigest()
    if digest != CUAD_SHA256 and not allow_other_file:
        raise InputError(
            f"{file}: has SHA-256 {digest}, CUADv1.json has {CUAD_SHA256}; get that file, or take this one with "
            "--allow-other-file"
        )
    skipped_types = frozenset() if include_metadata_clauses else METADATA_CLAUSES
    contracts = _contracts(file, data, skipped_types)
    answered = [each for each in contracts if each.questions]
    if not answered:
        raise InputError(f"{file}: no contract has an annotation to ask for")
    chosen = sorted(answered, key=lambda each: _draw(seed, each.title))[:documents]
    asked = _spread(chosen, seed, questions)
    chosen.sort(key=lambda each: (each.title.casefold(), each.title))
    ids = _ids(chosen)
    set_documents = tuple(EvalDocument(ids[each.title], each.title, each.text, {}) for each in chosen)
    pairs = [(contract, question) for contract in chosen for question in asked[contract.title]]
    queries = tuple(
        EvalQuery(f"q{number:03d}", ids[contract.title], question.clause_type, question.query, question.gold_spans, {})
        for number, (contract, question) in enumerate(pairs, start=1)
    )
    source = (
        f"CUAD v1, CC BY 4.0, The Atticus Project, Inc.; file SHA-256 {digest}, seed {seed}, metadata clauses "
        f"{'included' if include_metadata_clauses else 'left out'}"
    )
    write_eval_set(out, f"cuad-{len(set_documents)}x{len(queries)}", source, set_documents, queries)
    return PreparedSet(len(set_documents), len(queries), sum(len(each.gold_spans) for each in queries), len(contracts))


def _contracts(file: Path, data: bytes, skipped_types: frozenset[str]) -> list[_Contract]:
    try:
        model = _File.model_validate(json.loads(data.decode("utf-8")))
    except ValidationError as error:
        detail = error.errors()[0]
        where = " > ".join(str(part) for part in detail["loc"]) or "the file"
        raise InputError(f"{file}: {where}: {detail['msg']}; CUAD's form is SQuAD's: data, paragraphs, qas") from error
    except ValueError as error:
        raise InputError(f"{file}: is no JSON in UTF-8 ({error})") from error
    found: dict[str, _Contract] = {}
    for entry in model.data:
        for number, paragraph in enumerate(entry.paragraphs, start=1):
            title = entry.title if number == 1 else f"{entry.title} ({number})"
            if title in found:
                raise InputError(f"{file}: the title '{title}' stands there twice")
            questions = [
                question
                for asked in paragraph.qas
                if (question := _question(file, title, paragraph.context, asked))
                and question.clause_type not in skipped_types
            ]
            found[title] = _Contract(title, paragraph.context, tuple(questions))
    return list(found.values())


def _question(file: Path, title: str, text: str, asked: _Asked) -> _Question | None:
    spans = []
    for answer in asked.answers:
        span = Span(answer.answer_start, answer.answer_start + len(answer.text))
        if text[span.start : span.end] != answer.text:
            raise InputError(
                f"{file}: '{title}', question '{asked.id}': the annotated text {answer.text[:80]!r} does not stand at "
                f"character {span.start}; nothing was written"
            )
        spans.append(span)
    if not spans:
        return None
    named = _CLAUSE_TYPE.search(asked.question)
    clause_type = named["type"] if named else asked.id.rpartition("__")[2]
    _, separator, details = asked.question.partition(_DETAILS)
    query = details.strip() if separator and details.strip() else asked.question.strip()
    return _Question(clause_type, query, merge_overlapping(spans))


def _draw(seed: int, *names: str) -> str:
    return hashlib.sha256("\0".join((str(seed), *names)).encode()).hexdigest()


def _spread(contracts: Sequence[_Contract], seed: int, questions: int) -> dict[str, list[_Question]]:
    """One question of every contract in turn, until there are enough; in the file's order for each contract."""
    drawn = {
        each.title: sorted(each.questions, key=lambda question: _draw(seed, each.title, question.clause_type))
        for each in contracts
    }
    counts = dict.fromkeys(drawn, 0)
    left = questions
    while left and any(counts[title] < len(drawn[title]) for title in drawn):
        for title in drawn:
            if left and counts[title] < len(drawn[title]):
                counts[title] += 1
                left -= 1
    taken = {title: set(drawn[title][:count]) for title, count in counts.items()}
    return {
        each.title: [question for question in each.questions if question in taken[each.title]] for each in contracts
    }


def _ids(contracts: Sequence[_Contract]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for each in contracts:
        slug = re.sub(r"[^a-z0-9]+", "-", each.title.lower())[:_MAX_ID_CHARS].strip("-") or "contract"
        taken = set(ids.values())
        number = 2
        candidate = slug
        while candidate in taken:
            candidate = f"{slug}-{number}"
            number += 1
        ids[each.title] = candidate
    return ids
