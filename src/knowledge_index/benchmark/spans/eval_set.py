"""The eval set: documents, questions asked of one of them, and the character spans that answer them."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import InputError

FieldValue = str | int | float | bool
# What a chunk says of itself and of its document: a document's own field of that name would hide it.
CHUNK_FIELDS = frozenset(
    {
        *("doc_id", "title", "text", "n_chars", "chunk_id", "start", "end", "start_char", "end_char", "heading"),
        *("score", "rank", "legs", "row_key", "acl_class_id", "matter_ref", "matter_title", "document_key", "hit_id"),
        *("source", "path", "passage", "header", "identifiers", "converter", "version_status", "vector"),
        *("extractor", "extractor_version", "text_sha256"),
    }
)


@dataclass(frozen=True)
class EvalDocument:
    """One text; offsets count its Unicode characters.

    ``metadata`` are the fields that questions may filter by. ``extractor`` and ``extractor_version`` say what made the
    text, where it was made from a file.
    """

    doc_id: str
    title: str
    text: str
    metadata: Mapping[str, FieldValue]
    extractor: str | None = None
    extractor_version: str | None = None


@dataclass(frozen=True)
class EvalQuery:
    """A question of one document; ``gold_spans`` (one or more, none empty) answer it.

    ``filters`` name the documents that a metadata filter lets through: those that have each of the fields with that
    value.
    """

    query_id: str
    doc_id: str
    clause_type: str
    query: str
    gold_spans: tuple[Span, ...]
    filters: Mapping[str, FieldValue]


@dataclass(frozen=True)
class EvalSet:
    """An eval set; ``sha256`` is that of its file."""

    name: str
    sha256: str
    documents: tuple[EvalDocument, ...]
    queries: tuple[EvalQuery, ...]

    def document(self, doc_id: str) -> EvalDocument:
        """The document of that id."""
        return next(each for each in self.documents if each.doc_id == doc_id)


class _DocumentModel(BaseModel):
    # Further fields are the document's metadata.
    model_config = ConfigDict(extra="allow", strict=True)

    doc_id: str = Field(min_length=1)
    title: str = ""
    text: str
    n_chars: int | None = None
    extractor: str | None = None
    extractor_version: str | None = None
    text_sha256: str | None = None


class _QueryModel(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    query_id: str = Field(min_length=1)
    doc_id: str
    clause_type: str = ""
    query: str
    gold_spans: list[list[int]] = Field(min_length=1)
    gold_texts: list[str] | None = None
    filters: dict[str, FieldValue] = Field(default_factory=dict)


class _SetModel(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    meta: dict[str, Any] = Field(default_factory=dict)
    documents: list[_DocumentModel] = Field(min_length=1)
    queries: list[_QueryModel] = Field(min_length=1)


def load_eval_set(file: Path) -> EvalSet:
    """Read and check an eval set.

    Raises:
        InputError: the file cannot be read, has another form, or contradicts itself: an id twice, a span outside its
            text or unlike its annotated wording, a text unlike its recorded length or SHA-256, a metadata field that
            hides a chunk's own, a filter by a field that no document has.
    """
    try:
        data = file.read_bytes()
        # strict: a JSON number is no text. NaN has no place in a set that is compared by equality.
        model = _SetModel.model_validate(json.loads(data.decode("utf-8")))
    except OSError as error:
        raise InputError(f"{file}: the eval set cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        detail = error.errors()[0]
        where = " > ".join(str(part) for part in detail["loc"]) or "the file"
        raise InputError(
            f"{file}: {where}: {detail['msg']}; an eval set has 'documents' (doc_id, title, text) and 'queries' "
            "(query_id, doc_id, query, gold_spans), see docs/spans.md"
        ) from error
    except ValueError as error:
        raise InputError(f"{file}: is no JSON in UTF-8 ({error}); make an eval set with 'ki spans adapt'") from error
    documents = tuple(_document(file, each) for each in model.documents)
    _refuse_repeated(file, "doc_id", [each.doc_id for each in documents])
    _refuse_repeated(file, "query_id", [each.query_id for each in model.queries])
    by_id = {each.doc_id: each for each in documents}
    queries = tuple(_query(file, each, by_id) for each in model.queries)
    name = model.meta.get("name")
    return EvalSet(
        name if isinstance(name, str) and name else file.stem, hashlib.sha256(data).hexdigest(), documents, queries
    )


def write_eval_set(
    file: Path, name: str, source: str, documents: tuple[EvalDocument, ...], queries: tuple[EvalQuery, ...]
) -> None:
    """Write an eval set that :func:`load_eval_set` reads; the same set gives the same bytes.

    Raises:
        InputError: a span does not lie in its document's text, or the file cannot be written; nothing is written then.
    """
    by_id = {each.doc_id: each for each in documents}
    counts = {
        "documents": len(documents),
        "queries": len(queries),
        "gold_spans": sum(len(query.gold_spans) for query in queries),
    }
    content = {
        "meta": {"name": name, "source": source, "counts": counts},
        "documents": [_document_json(each) for each in documents],
        "queries": [
            {
                "query_id": query.query_id,
                "doc_id": query.doc_id,
                "clause_type": query.clause_type,
                "query": query.query,
                "gold_spans": [list(span) for span in query.gold_spans],
                "gold_texts": [_slice(file, query, span, by_id[query.doc_id]) for span in query.gold_spans],
                **({"filters": dict(query.filters)} if query.filters else {}),
            }
            for query in queries
        ],
    }
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, UnicodeEncodeError) as error:
        raise InputError(f"{file}: the eval set cannot be written: {error}") from error


def check_metadata(where: str, metadata: Mapping[str, object]) -> None:
    """Refuse fields that hide a chunk's own, and values that no filter can name.

    Raises:
        InputError: with ``where`` as the place.
    """
    for name, value in metadata.items():
        if name in CHUNK_FIELDS:
            raise InputError(f"{where}: the field '{name}' would hide a chunk's own field of that name; rename it")
        if not isinstance(value, FieldValue):
            raise InputError(
                f"{where}: the field '{name}' is no text, number or truth value, so that no filter can name it; "
                "write it as one, or take it out"
            )


def _document_json(each: EvalDocument) -> dict[str, object]:
    made_by = (
        {"extractor": each.extractor, "extractor_version": each.extractor_version} if each.extractor is not None else {}
    )
    return {
        "doc_id": each.doc_id,
        "title": each.title,
        "n_chars": len(each.text),
        **made_by,
        "text_sha256": sha256_text(each.text),
        **dict(sorted(each.metadata.items())),
        "text": each.text,
    }


def _slice(file: Path, query: EvalQuery, span: Span, document: EvalDocument) -> str:
    if not 0 <= span.start < span.end <= len(document.text):
        raise InputError(
            f"{file}: question '{query.query_id}': the span {list(span)} lies outside document '{document.doc_id}' of "
            f"{len(document.text)} characters; nothing was written"
        )
    return document.text[span.start : span.end]


def _document(file: Path, each: _DocumentModel) -> EvalDocument:
    where = f"{file}: document '{each.doc_id}'"
    if not each.text.strip():
        raise InputError(f"{where}: has no text; take it out")
    try:
        (each.doc_id + each.title + each.text).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: holds a lone surrogate, which no text file can ({error.reason})") from error
    if each.n_chars is not None and each.n_chars != len(each.text):
        raise InputError(
            f"{where}: its text has {len(each.text)} characters and not {each.n_chars} (n_chars), so its spans point "
            "elsewhere; make the set anew"
        )
    if each.text_sha256 is not None and each.text_sha256 != sha256_text(each.text):
        raise InputError(f"{where}: its text has another SHA-256 than recorded; make the set anew")
    metadata = dict(each.model_extra or {})
    check_metadata(where, metadata)
    return EvalDocument(each.doc_id, each.title, each.text, metadata, each.extractor, each.extractor_version)


def _query(file: Path, each: _QueryModel, documents: Mapping[str, EvalDocument]) -> EvalQuery:
    where = f"{file}: question '{each.query_id}'"
    document = documents.get(each.doc_id)
    if document is None:
        raise InputError(f"{where}: asks document '{each.doc_id}', which the set does not hold")
    if not each.query.strip():
        raise InputError(f"{where}: is empty")
    spans = []
    for values in each.gold_spans:
        if len(values) != 2 or not 0 <= values[0] < values[1] <= len(document.text):
            raise InputError(
                f"{where}: {values} is no span [start, end] with 0 <= start < end <= {len(document.text)}, the length "
                f"of document '{each.doc_id}'"
            )
        spans.append(Span(*values))
    if each.gold_texts is not None:
        found = [document.text[span.start : span.end] for span in spans]
        if found != each.gold_texts:
            raise InputError(f"{where}: its spans do not slice back to its gold_texts; make the set anew")
    for name in each.filters:
        if not any(name in other.metadata for other in documents.values()):
            raise InputError(f"{where}: filters by '{name}', a field that no document has")
    return EvalQuery(each.query_id, each.doc_id, each.clause_type, each.query, tuple(spans), each.filters)


def _refuse_repeated(file: Path, what: str, names: list[str]) -> None:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise InputError(f"{file}: the {what} '{repeated[0]}' stands there {names.count(repeated[0])} times")
