"""Sets in a folder of their own: corpus, queries and judgements, as JSONL, TSV or parquet, in BEIR's or MLEB's form.

Sources: Thakur et al., "BEIR", 2021; for MLEB the form of MTEB's retrieval sets, which it is published in.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from knowledge_index.benchmark.models.dataset import EVALUATOR, EvalQuestion, EvalText, ModelDataset, Split, half_of
from knowledge_index.domain.errors import InputError

_SUFFIXES = (".jsonl", ".parquet", ".tsv")
# MTEB calls the judgements "default" where a set has one kind of them only.
_JUDGEMENTS = ("qrels", "default")


def is_retrieval_folder(place: Path) -> bool:
    """Whether the folder holds a corpus, queries and judgements."""
    return all(_files(place, names) for names in (("corpus",), ("queries",), _JUDGEMENTS))


def read_retrieval_folder(place: Path, split: Split, seed: int) -> ModelDataset:
    """The questions of a split over the whole corpus.

    Where the judgements name both dev and test in their files (``qrels/dev.tsv``), these are the splits. Otherwise the
    questions of the test file, or of all files where none is named so, are halved by a hash of seed and id.

    Raises:
        InputError: a file is malformed, or a judgement names what is not there.
    """
    corpus = {
        _id(row, file): (str(row.get("title") or ""), _field(row, "text", file))
        for file in _files(place, ("corpus",))
        for row in _rows(file)
    }
    asked = {_id(row, file): _field(row, "text", file) for file in _files(place, ("queries",)) for row in _rows(file)}
    judged, rule = _judgements(place, split, seed)
    for query_id, papers in judged.items():
        missing = sorted({query_id} - asked.keys()) + sorted(papers.keys() - corpus.keys())
        if missing:
            raise InputError(
                f"{place}: a judgement names '{missing[0]}', which is neither a query nor a document there"
            )
    documents = tuple(
        EvalText(doc_id, doc_id, title, f"{title}\n\n{text}" if title else text, EVALUATOR)
        for doc_id, (title, text) in sorted(corpus.items())
        if text.strip() or title.strip()
    )
    questions = tuple(
        EvalQuestion(query_id, asked[query_id], "question", query_id, papers=papers)
        for query_id, papers in sorted(judged.items())
    )
    empty = len(corpus) - len(documents)
    notes = (f"{empty} documents without text are found by nothing",) if empty else ()
    return ModelDataset(place.resolve().name, split, rule, documents, questions, notes)


def _judgements(place: Path, split: Split, seed: int) -> tuple[dict[str, dict[str, int]], str]:
    files = _files(place, _JUDGEMENTS)
    named = {part: [file for file in files if file.stem.split("-")[0] == part] for part in ("dev", "test")}
    if named["dev"] and named["test"]:
        return _read_judgements(named[str(split)]), f"the set's own {split} judgements"
    judged = _read_judgements(named["test"] or files)
    kept = half_of(list(judged), split, seed)
    return {name: judged[name] for name in judged if name in kept}, f"half of the questions, by a hash of seed {seed}"


def _read_judgements(files: list[Path]) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for file in files:
        for row in _rows(file):
            query_id, doc_id = (
                _first(row, names, file) for names in (("query-id", "query_id"), ("corpus-id", "corpus_id"))
            )
            try:
                grade = int(float(row.get("score", 1)))
            except (TypeError, ValueError) as error:
                raise InputError(f"{file}: '{row.get('score')}' is no grade of a judgement") from error
            if grade > 0:
                judged.setdefault(query_id, {})[doc_id] = grade
    return judged


def _files(place: Path, names: tuple[str, ...]) -> list[Path]:
    """``corpus.jsonl``, ``corpus/*.parquet``, ``data/corpus-00000-of-00001.parquet`` and the like."""
    found = [
        file
        for folder in (place, place / "data")
        for file in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if file.is_file() and file.suffix in _SUFFIXES and file.stem.split("-")[0] in names
    ]
    for name in names:
        folder = place / name
        found += sorted(file for file in folder.glob("*") if file.suffix in _SUFFIXES) if folder.is_dir() else []
    return found


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        if file.suffix == ".parquet":
            import pyarrow.parquet

            yield from pyarrow.parquet.read_table(file).to_pylist()
            return
        with file.open(encoding="utf-8", newline="") as stream:
            if file.suffix == ".tsv":
                yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
                return
            for line in stream:
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise InputError(f"{file}: a line is no JSON object")
                    yield row
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error


def _id(row: Mapping[str, Any], file: Path) -> str:
    return _first(row, ("_id", "id"), file)


def _first(row: Mapping[str, Any], names: tuple[str, ...], file: Path) -> str:
    for name in names:
        if row.get(name) is not None:
            return str(row[name])
    raise InputError(f"{file}: a row has no '{names[0]}'")


def _field(row: Mapping[str, Any], name: str, file: Path) -> str:
    if not isinstance(row.get(name), str):
        raise InputError(f"{file}: a row has no '{name}'")
    return str(row[name])
