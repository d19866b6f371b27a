"""A real catalog of papers whose passages are ranked by hand, so that every fused score can be worked out on paper."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from knowledge_index.access import acl_class_of, compile_scope
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.passage_records import ChunkRecord, IndexRowRecord, RowKind
from knowledge_index.catalog.records import ObservedObject, Relation
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.grants import Access, AclClass, Grant, Scope
from knowledge_index.domain.principals import Principal, parse_principals
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.embed import EmbeddingSignature, Matrix, Reranker, Vector
from knowledge_index.index.base import (
    NO_EXPANSION,
    Expansion,
    GermanWeights,
    LexicalRow,
    ProfileMatches,
    ProfileRow,
    RowDifferences,
    ScoredRow,
    VectorRow,
)
from knowledge_index.retrieval import RetrievalService
from knowledge_index.retrieval.clauses import load_clause_library

EVERYONE = "group:firm"
NO_FILTERS = SearchFilters()
# A query of which the identifier rules make one term, so that the identifier leg has something to ask for.
QUERY_WITH_REFERENCE = "12 O 345/25"


def class_of(*grants: str) -> AclClass:
    """Principals, a denied one led by ``!``."""
    return acl_class_of(
        Grant(Principal.parse(each.removeprefix("!")), Access.DENY if each.startswith("!") else Access.ALLOW)
        for each in grants
    )


@dataclass(frozen=True)
class CountingEmbedder:
    """Keeps ``Embedder`` with one vector for all, and counts its calls."""

    calls: list[str] = field(default_factory=list)

    @property
    def signature(self) -> EmbeddingSignature:
        return EmbeddingSignature("one", "0" * 64, 2, "none", 8)

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        self.calls.extend(texts)
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


@dataclass
class RankedIndex:
    """Searches of both index contracts that return what they were told, whoever asks; ``None`` raises."""

    text: Mapping[str, float] | None = None
    identifiers: Mapping[str, float] | None = None
    vectors: Mapping[str, float] | None = None
    documents: Mapping[str, float] | None = field(default_factory=dict)
    asked: list[tuple[str, Scope, SearchFilters, int]] = field(default_factory=list)

    def search_text(
        self,
        query: str,
        scope: Scope,
        filters: SearchFilters,
        pool: int,
        expansion: Expansion = NO_EXPANSION,
    ) -> list[ScoredRow]:
        return self.answer("text", self.text, scope, filters, pool)

    def search_identifiers(
        self, identifiers: Collection[str], scope: Scope, filters: SearchFilters, pool: int
    ) -> list[ScoredRow]:
        return self.answer("identifiers", self.identifiers, scope, filters, pool)

    def search(self, vector: Vector, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        return self.answer("vectors", self.vectors, scope, filters, pool)

    def add(self, rows: Sequence[LexicalRow] | Sequence[VectorRow]) -> int:
        raise AssertionError("a search writes nothing")

    def rebuild(self, rows: Iterable[LexicalRow]) -> None:
        raise AssertionError("a search writes nothing")

    def remove(self, row_keys: Collection[str]) -> None:
        raise AssertionError("a search writes nothing")

    def compact(self) -> None:
        raise AssertionError("a search writes nothing")

    def row_keys(self) -> set[str]:
        raise AssertionError("a search lists no keys")

    def answer(
        self, leg: str, rows: Mapping[str, float] | None, scope: Scope, filters: SearchFilters, pool: int
    ) -> list[ScoredRow]:
        self.asked.append((leg, scope, filters, pool))
        if rows is None:
            raise OSError(f"the {leg} index is broken")
        return sorted(
            (ScoredRow(row_key, score) for row_key, score in rows.items()), key=lambda row: (-row.score, row.row_key)
        )


@dataclass
class RankedProfiles:
    """Keeps ``ProfileIndex`` with the documents that ``index.documents`` ranks; none names any."""

    index: RankedIndex

    def search(
        self, query: str, scope: Scope, filters: SearchFilters, pool: int, german: GermanWeights
    ) -> ProfileMatches:
        found = self.index.answer("documents", self.index.documents, scope, filters, pool)
        return ProfileMatches(tuple(found), {}, len(found))

    def add(self, rows: Sequence[ProfileRow]) -> int:
        raise AssertionError("a search writes nothing")

    def remove(self, row_keys: Collection[str]) -> None:
        raise AssertionError("a search writes nothing")

    def rebuild(self, rows: Iterable[ProfileRow]) -> None:
        raise AssertionError("a search writes nothing")

    def compare(self, rows: Iterable[ProfileRow]) -> RowDifferences:
        raise AssertionError("a search compares nothing")

    def row_keys(self) -> set[str]:
        raise AssertionError("a search lists no keys")


class Corpus:
    """A catalog in ``folder``; object keys are hashes of the path, as an installation's key would make them."""

    def __init__(self, folder: Path) -> None:
        self.catalog: Catalog = open_catalog(folder / "catalog.sqlite")
        with self.catalog.transaction() as session:
            session.sources.add("dms", "local_fs", "/dms", None)

    def add(
        self,
        path: str,
        *row_keys: str,
        acl: AclClass | None = None,
        paper: str | None = None,
        status: VersionStatus = VersionStatus.UNKNOWN,
        order: str = "0001.0000.0000",
        matter: str = "M-1",
    ) -> None:
        """A current, indexed object with one passage, ``<row key> of <path>.``, for every row key."""
        acl_class = acl or class_of(EVERYONE)
        passages = [f"{row_key} of {path}." for row_key in row_keys]
        text = "\n".join(passages)
        with self.catalog.transaction() as session:
            session.acl_classes.put(acl_class)
            observed = ObservedObject(path, path, object_key(path), _hash(path), 1, 1, 1, acl_class.id)
            session.objects.add(1, observed, "2026-03-01")
            object_id = next(each.id for each in session.objects.current(1) if each.path == path)
            document_id = session.conversions.add(_hash(path), ConvertedDocument(text, None, "plaintext", "1"))
            session.pipeline_objects.set_converted(object_id, document_id)
            relation = Relation(paper or path, f"Title of {paper or path}", status, order, matter, f"Matter {matter}")
            session.pipeline_objects.set_relations({object_id: relation})
            session.passages.put_rows(
                [IndexRowRecord(key, RowKind.PASSAGE, acl_class.id, matter, "", 1, ()) for key in row_keys]
            )
            chunks, start = [], 0
            for row_key, passage in zip(row_keys, passages, strict=True):
                chunks.append(ChunkRecord(row_key, start, start + len(passage), ""))
                start += len(passage) + 1
            profile = f"profile of {path}"
            session.passages.put_rows(
                [IndexRowRecord(profile, RowKind.PROFILE, acl_class.id, matter, relation.title, 0, ())]
            )
            session.passages.replace_chunks(object_id, chunks, ChunkRecord(profile, 0, len(text), ""))
            session.pipeline_objects.set_indexed(object_id, "fingerprint")

    def text(self, path: str) -> str:
        with self.catalog.transaction() as session:
            ids = {each.path: each.converted_document_id for each in session.pipeline_objects.current()}
            return session.conversions.text(ids[path] or 0)

    def regrant(self, path: str, acl: AclClass) -> None:
        with self.catalog.transaction() as session:
            session.acl_classes.put(acl)
            object_id = next(each.id for each in session.objects.current(1) if each.path == path)
            session.objects.set_acl_class(object_id, acl.id)
            session.meta.raise_policy_epoch()

    def scope(self, caller: str = EVERYONE) -> Scope:
        with self.catalog.transaction() as session:
            return compile_scope(session, parse_principals(caller))

    def service(self, index: RankedIndex, reranker: Reranker | None = None) -> RetrievalService:
        embedder = CountingEmbedder()
        return RetrievalService(
            self.catalog, index, RankedProfiles(index), index, embedder, reranker, load_clause_library(), embedder
        )

    def search(
        self,
        index: RankedIndex,
        settings: RetrievalSettings,
        caller: str = EVERYONE,
        query: str = QUERY_WITH_REFERENCE,
        limit: int = 100,
        filters: SearchFilters = NO_FILTERS,
    ) -> tuple[SearchHit, ...]:
        return self.service(index).search(query, self.scope(caller), settings, filters, limit).hits


def object_key(path: str) -> str:
    return _hash(f"key {path}")[:32]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
