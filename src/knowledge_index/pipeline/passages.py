"""The rows that the indexes hold: chunks with the section they belong to, and the profile of a document."""

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import rfc8785

from knowledge_index.catalog.passage_records import ChunkRecord, IndexRowRecord, RowKind, StoredIdentifier, window_keys
from knowledge_index.catalog.records import PipelineObject, Relation
from knowledge_index.chunking.base import Chunker
from knowledge_index.chunking.windows import WINDOWS_SIGNATURE, window_texts, windows_of, with_heading
from knowledge_index.domain.languages import Language
from knowledge_index.embed import Embedder
from knowledge_index.index.base import LexicalRow, ProfileRow, VectorRow
from knowledge_index.index.german import GERMAN_SIGNATURE
from knowledge_index.pipeline.enriching import IDENTIFIERS_VERSION

ROWS_VERSION = f"3 {WINDOWS_SIGNATURE} {GERMAN_SIGNATURE}"
# A row of a German document has a term that says so and by which version of the analysis: another version makes other
# rows, and of German documents only. No identifier of a query is of this kind.
_GERMAN_TERM = "analysis:german"


@dataclass(frozen=True)
class Passage:
    """One chunk of one object, and the index row that it stands in."""

    row: IndexRowRecord
    chunk: ChunkRecord
    text: str

    def lexical_row(self) -> LexicalRow:
        """The row as the lexical index takes it."""
        return lexical_row(self.row, self.text)


@dataclass(frozen=True)
class Profile:
    """What a document is known by: its names, how it opens, which words it holds."""

    row: IndexRowRecord
    chunk: ChunkRecord
    text: str

    def profile_row(self) -> ProfileRow:
        """The row as the profile index takes it."""
        return profile_row(self.row, self.text)


def lexical_row(row: IndexRowRecord, passage: str) -> LexicalRow:
    """A catalog row and its text as the lexical index takes them."""
    indexed = with_heading(row.header, passage)
    return LexicalRow(row.row_key, row.acl_class_id, row.matter_ref, indexed, row.terms, _language_of_row(row))


def profile_row(row: IndexRowRecord, text: str) -> ProfileRow:
    """A catalog row and its document's text as the profile index takes them."""
    return ProfileRow(row.row_key, row.acl_class_id, row.matter_ref, row.header, text, _language_of_row(row))


def _language_of_row(row: IndexRowRecord) -> Language:
    return Language.GERMAN if any(term.startswith(_GERMAN_TERM) for term in row.terms) else Language.UNKNOWN


def vector_rows(passages: Sequence[tuple[IndexRowRecord, str]], embedder: Embedder) -> list[VectorRow]:
    """The vectors of passages, given with their texts: one for each window."""
    keyed = [
        (row, key, text)
        for row, passage in passages
        for key, text in zip(window_keys(row.row_key, row.windows), window_texts(row.header, passage), strict=True)
    ]
    matrix = embedder.embed([text for _, _, text in keyed])
    return [
        VectorRow(key, row.acl_class_id, row.matter_ref, vector)
        for (row, key, _), vector in zip(keyed, matrix, strict=True)
    ]


def passages_of(
    each: PipelineObject, text: str, identifiers: Sequence[StoredIdentifier], chunker: Chunker
) -> list[Passage]:
    """The passages of an object, in order; ``identifiers`` are those of its text, by place.

    Neither title nor matter is indexed with a passage: a clause that stands in many papers of a matter is one row, and
    one vector wherever it stands. Which paper a passage is from is told by its document's profile.
    """
    assert each.relation is not None
    analysis = _analysis_terms(each.language)
    starts = [identifier.start_char for identifier in identifiers]
    passages = []
    for chunk in chunker.chunk(text):
        inside = identifiers[bisect_left(starts, chunk.start_char) : bisect_left(starts, chunk.end_char)]
        identifiers_inside = {
            f"{found.kind}:{found.normalised}" for found in inside if found.end_char <= chunk.end_char
        }
        terms = tuple(sorted(identifiers_inside.union(analysis)))
        row = IndexRowRecord(
            row_key=_key_of(each.acl_class_id, each.relation.matter_ref, chunk.heading, chunk.text, list(terms)),
            kind=RowKind.PASSAGE,
            acl_class_id=each.acl_class_id,
            matter_ref=each.relation.matter_ref,
            header=chunk.heading,
            windows=len(windows_of(chunk.text)),
            terms=terms,
        )
        record = ChunkRecord(row.row_key, chunk.start_char, chunk.end_char, chunk.heading, wording_key_of(chunk.text))
        passages.append(Passage(row, record, chunk.text))
    return passages


def _analysis_terms(language: Language) -> tuple[str, ...]:
    """What the rows of a document in this language have among their terms for it."""
    return (f"{_GERMAN_TERM} {GERMAN_SIGNATURE}",) if language is Language.GERMAN else ()


def wording_key_of(passage: str) -> str:
    """The same for passages whose characters agree once white space is off: a PDF breaks its lines elsewhere."""
    return hashlib.sha256("".join(passage.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def profile_of(each: PipelineObject, text: str) -> Profile:
    """The profile of an object; the title is that of the versions in its own ACL class."""
    assert each.relation is not None
    names = document_names(each.relation, each.path)
    terms = _analysis_terms(each.language)
    row = IndexRowRecord(
        row_key=_key_of(each.acl_class_id, each.relation.matter_ref, names, each.text_sha256, *terms),
        kind=RowKind.PROFILE,
        acl_class_id=each.acl_class_id,
        matter_ref=each.relation.matter_ref,
        header=names,
        windows=0,
        terms=terms,
    )
    return Profile(row, ChunkRecord(row.row_key, 0, len(text), ""), text)


def document_names(relation: Relation, path: str) -> str:
    """What people call a document: its title, its matter and its file's name."""
    return " | ".join(dict.fromkeys(filter(None, (relation.title, relation.matter_title, PurePosixPath(path).stem))))


def fingerprint_of(each: PipelineObject, chunker_signature: str, embedding_signature: str) -> str:
    """Everything that an object's index rows depend on, hashed: another fingerprint means that it is indexed anew."""
    assert each.relation is not None
    content = [
        each.text_sha256,
        f"{each.converter_name} {each.converter_version}",
        IDENTIFIERS_VERSION,
        ROWS_VERSION,
        chunker_signature,
        embedding_signature,
        each.acl_class_id,
        document_names(each.relation, each.path),
        each.relation.matter_ref,
    ]
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def _key_of(*content: str | list[str] | None) -> str:
    return hashlib.sha256(rfc8785.dumps(list(content))).hexdigest()[:40]
