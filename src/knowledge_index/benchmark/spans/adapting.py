"""An eval set from one's own documents and questions."""

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowledge_index.benchmark.spans.eval_set import (
    EvalDocument,
    EvalQuery,
    FieldValue,
    check_metadata,
    write_eval_set,
)
from knowledge_index.benchmark.spans.intervals import Span, merge_overlapping
from knowledge_index.config import ConversionSettings
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.convert.normalise import normal_form
from knowledge_index.domain.errors import ConversionError, InputError
from knowledge_index.domain.progress import Progress

SUPPORTED_SUFFIXES = (".docx", ".md", ".pdf", ".txt")
MAX_DOCUMENTS = 250
MAX_SIZE_BYTES = 2_000_000_000
_SHOWN_CHARS = 120

Line = TypeVar("Line", bound=BaseModel)


@dataclass(frozen=True)
class AdaptedSet:
    """What was written."""

    documents: int
    queries: int
    gold_spans: int


class _QuestionLine(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(min_length=1)
    doc_id: str = Field(min_length=1)
    clause_type: str = ""
    query_id: str | None = Field(None, min_length=1)
    gold_texts: list[str] | None = Field(None, min_length=1)
    gold_spans: list[list[int]] | None = Field(None, min_length=1)
    filters: dict[str, FieldValue] = Field(default_factory=dict)


class _MetadataLine(BaseModel):
    # Every other field is metadata.
    model_config = ConfigDict(extra="allow", strict=True)

    doc_id: str = Field(min_length=1)


def adapt(folder: Path, queries_file: Path, out: Path, metadata_file: Path | None, progress: Progress) -> AdaptedSet:
    """Convert every document under ``folder``, find each gold text in its document, and write an eval set.

    A document's id is its path under the folder without the suffix, with it where two would share one; questions may
    name either. Offsets count the characters of the converted text, which the set holds.

    Raises:
        InputError: the folder holds too much, a file of another format or one that cannot be converted; a question is
            malformed, names no document, or has a gold text that does not stand exactly once in it. Nothing is written
            then.
    """
    files = _listed(folder)
    ids = _ids([path for path, _ in files])
    metadata = _metadata(metadata_file, ids) if metadata_file else {}
    documents = []
    settings = ConversionSettings.model_validate({})
    with progress.task("convert", len(files)) as task, IsolatedConverter(settings) as converter:
        for path, file in files:
            documents.append(_converted(converter, path, file, ids[path], metadata.get(ids[path], {})))
            task.advance()
    by_name = {name: each for path, each in zip(ids, documents, strict=True) for name in (path, ids[path])}
    queries = _queries(queries_file, by_name)
    source = f"adapted from a folder of {len(documents)} documents and {queries_file.name}"
    write_eval_set(out, out.stem, source, tuple(documents), queries)
    return AdaptedSet(len(documents), len(queries), sum(len(each.gold_spans) for each in queries))


def _listed(folder: Path) -> list[tuple[str, Path]]:
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; name the one that holds the documents")
    found = []
    for file in sorted(folder.rglob("*")):
        path = unicodedata.normalize("NFC", file.relative_to(folder).as_posix())
        if file.is_symlink():
            raise InputError(f"{file}: is a symbolic link, which is not followed; put the document itself there")
        if file.is_file():
            found.append((path, file))
    size_bytes = sum(file.stat().st_size for _, file in found)
    if len(found) > MAX_DOCUMENTS or size_bytes > MAX_SIZE_BYTES:
        raise InputError(
            f"{folder}: holds {len(found)} documents of {size_bytes} bytes; an eval set takes at most {MAX_DOCUMENTS} "
            f"documents and {MAX_SIZE_BYTES} bytes: choose a part of them"
        )
    for path, file in found:
        if PurePosixPath(path).suffix.lower() not in SUPPORTED_SUFFIXES:
            raise InputError(
                f"{file}: is no {', '.join(SUPPORTED_SUFFIXES)}; convert it or take it out: nothing is skipped"
            )
    if not found:
        raise InputError(f"{folder}: holds no document")
    return found


def _ids(paths: Sequence[str]) -> dict[str, str]:
    """The id of each path, in their order."""
    stems = {path: str(PurePosixPath(path).with_suffix("")) for path in paths}
    shared = Counter(stems.values())
    return {path: path if shared[stem] > 1 or stem in stems else stem for path, stem in stems.items()}


def _converted(
    converter: IsolatedConverter, path: str, file: Path, doc_id: str, metadata: Mapping[str, FieldValue]
) -> EvalDocument:
    try:
        converted = converter.convert(path, file.read_bytes())
    except ConversionError as error:
        raise InputError(f"{file}: {error} ({error.error_class})") from error
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    title = converted.title or PurePosixPath(path).stem
    return EvalDocument(doc_id, title, converted.text, metadata, converted.converter_name, converted.converter_version)


def _metadata(file: Path, ids: Mapping[str, str]) -> dict[str, dict[str, FieldValue]]:
    found: dict[str, dict[str, FieldValue]] = {}
    for number, line in _lines(file):
        where = f"{file}: line {number}"
        model = _validated(_MetadataLine, line, where)
        doc_id = ids.get(model.doc_id, model.doc_id)
        if doc_id not in ids.values():
            raise InputError(f"{where}: names '{model.doc_id}', which is no document of the folder")
        if doc_id in found:
            raise InputError(f"{where}: describes '{doc_id}' a second time")
        fields = dict(model.model_extra or {})
        check_metadata(where, fields)
        found[doc_id] = fields
    return found


def _queries(file: Path, documents: Mapping[str, EvalDocument]) -> tuple[EvalQuery, ...]:
    queries: list[EvalQuery] = []
    fields = {name for each in documents.values() for name in each.metadata}
    for number, line in _lines(file):
        where = f"{file}: line {number}"
        model = _validated(_QuestionLine, line, where)
        document = documents.get(unicodedata.normalize("NFC", model.doc_id))
        if document is None:
            raise InputError(f"{where}: asks document '{model.doc_id}', which the folder does not hold")
        for name in model.filters:
            if name not in fields:
                raise InputError(f"{where}: filters by '{name}', a field that no document has; give it by --metadata")
        query_id = model.query_id or f"q{len(queries) + 1:03d}"
        if query_id in {each.query_id for each in queries}:
            raise InputError(f"{where}: the query_id '{query_id}' is taken by an earlier question")
        spans = merge_overlapping(_gold_spans(where, model, document))
        queries.append(EvalQuery(query_id, document.doc_id, model.clause_type, model.query, spans, model.filters))
    if not queries:
        raise InputError(f"{file}: holds no question")
    return tuple(queries)


def _gold_spans(where: str, model: _QuestionLine, document: EvalDocument) -> list[Span]:
    if (model.gold_texts is None) == (model.gold_spans is None):
        raise InputError(f"{where}: needs either gold_texts or gold_spans")
    if model.gold_texts is not None:
        return [_only_place(where, text, document) for text in model.gold_texts]
    spans = []
    for values in model.gold_spans or ():
        if len(values) != 2 or not 0 <= values[0] < values[1] <= len(document.text):
            raise InputError(
                f"{where}: {values} is no span [start, end] of document '{document.doc_id}', whose converted text has "
                f"{len(document.text)} characters"
            )
        spans.append(Span(*values))
    return spans


def _only_place(where: str, wanted: str, document: EvalDocument) -> Span:
    places = _places(document.text, wanted)
    if not places:
        # A pasted wording may have other blanks and composition than a converted text ever has.
        wanted = normal_form(wanted)
        places = _places(document.text, wanted)
    if len(places) != 1:
        shown = wanted if len(wanted) <= _SHOWN_CHARS else wanted[:_SHOWN_CHARS] + "…"
        raise InputError(
            f"{where}: the gold text {shown!r} stands {len(places)} times in document '{document.doc_id}', and has to "
            "stand there exactly once; correct or lengthen it, or give gold_spans"
        )
    return Span(places[0], places[0] + len(wanted))


def _places(text: str, wanted: str) -> list[int]:
    places: list[int] = []
    if wanted.strip():
        place = text.find(wanted)
        while place >= 0:
            places.append(place)
            place = text.find(wanted, place + 1)
    return places


def _lines(file: Path) -> list[tuple[int, object]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read as UTF-8 text: {error}") from error
    lines: list[tuple[int, object]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                lines.append((number, json.loads(line)))
            except ValueError as error:
                raise InputError(f"{file}: line {number}: is no JSON ({error})") from error
    return lines


def _validated(model: type[Line], line: object, where: str) -> Line:
    try:
        return model.model_validate(line)
    except ValidationError as error:
        detail = error.errors()[0]
        place = " > ".join(str(part) for part in detail["loc"]) or "the line"
        raise InputError(f"{where}: {place}: {detail['msg']}; see docs/spans.md") from error
