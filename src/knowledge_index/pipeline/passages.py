"""Chunks with their context headers: the rows that the indexes hold."""

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import rfc8785

from knowledge_index.catalog.records import ChunkRecord, IndexRowRecord, PipelineObject, Relation, StoredIdentifier
from knowledge_index.chunking.base import Chunker
from knowledge_index.index.base import LexicalRow
from knowledge_index.pipeline.enriching import ENRICHER_VERSION

HEADER_VERSION = "1"


@dataclass(frozen=True)
class Passage:
    """One chunk of one object, and the index row that it stands in."""

    row: IndexRowRecord
    chunk: ChunkRecord
    indexed_text: str

    def lexical_row(self) -> LexicalRow:
        """The row as the lexical index takes it."""
        return lexical_row(self.row, self.indexed_text)


def lexical_row(row: IndexRowRecord, indexed_text: str) -> LexicalRow:
    """A catalog row and its text as the lexical index takes them."""
    return LexicalRow(row.row_key, row.acl_class_id, row.matter_ref, indexed_text, row.terms)


def indexed_text(header: str, passage: str) -> str:
    """What is embedded and lexically indexed for a passage; the header is never shown and no part of the span."""
    return f"{header}\n{passage}"


def context_header(relation: Relation, heading: str) -> str:
    """Title, matter and section: the same for every version of a paper, or no clause of a redline were reused."""
    return " | ".join(part for part in (relation.title, relation.matter_title, heading) if part)


def passages_of(
    each: PipelineObject, text: str, identifiers: Sequence[StoredIdentifier], chunker: Chunker
) -> list[Passage]:
    """The passages of an object, in order; ``identifiers`` are those of its text, by place."""
    assert each.relation is not None
    starts = [identifier.start_char for identifier in identifiers]
    passages = []
    for chunk in chunker.chunk(text):
        header = context_header(each.relation, chunk.heading)
        inside = identifiers[bisect_left(starts, chunk.start_char) : bisect_left(starts, chunk.end_char)]
        terms = tuple(
            sorted({f"{found.kind}:{found.normalised}" for found in inside if found.end_char <= chunk.end_char})
        )
        full_text = indexed_text(header, chunk.text)
        content = rfc8785.dumps([each.acl_class_id, each.relation.matter_ref, full_text, list(terms)])
        row_key = hashlib.sha256(content).hexdigest()[:40]
        row = IndexRowRecord(row_key, each.acl_class_id, each.relation.matter_ref, header, terms)
        record = ChunkRecord(row_key, chunk.start_char, chunk.end_char, chunk.heading, wording_key_of(chunk.text))
        passages.append(Passage(row, record, full_text))
    return passages


def wording_key_of(passage: str) -> str:
    """The same for passages whose characters agree once white space is off: a PDF breaks its lines elsewhere."""
    return hashlib.sha256("".join(passage.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def fingerprint_of(each: PipelineObject, chunker_signature: str, embedding_signature: str) -> str:
    """Everything that an object's index rows depend on, hashed: another fingerprint means that it is indexed anew."""
    assert each.relation is not None
    content = [
        each.text_sha256,
        f"{each.converter_name} {each.converter_version}",
        ENRICHER_VERSION,
        HEADER_VERSION,
        chunker_signature,
        embedding_signature,
        each.acl_class_id,
        each.relation.title,
        each.relation.matter_ref,
        each.relation.matter_title,
    ]
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()
