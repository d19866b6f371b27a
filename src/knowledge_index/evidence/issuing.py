"""Makes receipts: of what a search returned, under the scope of the moment."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter

import knowledge_index
from knowledge_index.access import compile_scope
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.access.scope import instant
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.leaves import PassagePlace
from knowledge_index.chunking.windows import window_texts
from knowledge_index.config import RetrievalSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import IndexStateError, PreconditionError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal, format_principals
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.embed import CachedEmbedder, Embedder, Reranker, VectorCache, weights_root
from knowledge_index.evidence.canonical import canonical
from knowledge_index.evidence.keys import KeyStore
from knowledge_index.evidence.merkle import MerkleTree, passage_leaf, root_of_proof
from knowledge_index.evidence.model_calls import (
    ModelCalls,
    embedder_record,
    embedding_call,
    reranker_record,
    reranking_call,
)
from knowledge_index.evidence.receipt import MAX_RESULTS
from knowledge_index.evidence.trees import VisibleTrees

SEARCH_RECEIPT = "ki.search-receipt.v1"
_CALLER_PURPOSE = b"knowledge_index receipt caller 1"
_PPM = 1_000_000
# Set by the service for itself, never by a caller.
_INTERNAL_FILTERS = {"only_row_keys", "excluded_row_keys"}
_FILTERS = TypeAdapter(SearchFilters)


@dataclass(frozen=True)
class Asked:
    """What was asked, and how."""

    kind: Literal["search", "ask"]
    query: str
    settings: RetrievalSettings
    filters: SearchFilters
    limit: int


@dataclass(frozen=True)
class CitedPlace:
    """Words that an answer cites, in the document of a hit."""

    hit_id: str
    start_char: int
    end_char: int


@dataclass(frozen=True)
class Answered:
    """What a question was answered with; ``kind`` as :class:`~knowledge_index.evidence.receipt.AnswerRecord` has it."""

    kind: str
    text: str
    citations: tuple[CitedPlace, ...]


@dataclass(frozen=True)
class ReceiptIssuer:
    """Signs receipts for one installation.

    ``caller_key`` is the installation's own: without it nobody can test guessed callers against a receipt.
    """

    keys: KeyStore
    caller_key: bytes
    trees: VisibleTrees
    vectors: VectorCache

    def issue(
        self,
        catalog: Catalog,
        recorder: AccessRecorder,
        scope: Scope,
        asked: Asked,
        hits: Sequence[SearchHit],
        calls: ModelCalls,
        embedder: Embedder,
        reranker: Reranker | None,
        answered: Answered | None = None,
    ) -> bytes:
        """The signed receipt of ``hits``, best first, as canonical JSON.

        ``scope`` is the one that was searched under; it is compiled again where a grant, a group or a wall has changed
        since, or one is open for a time. All of a receipt is a function of what the caller may see, of the moment (the
        ``recorder``'s clock tells it), and of the installation's keys.

        Raises:
            PreconditionError: a hit may no longer be seen, or nothing says how all passages were made.
            IndexStateError: the vectors were made with other model files than the present ones, or a tree is damaged.
            ConfigurationError: the signing key cannot be used.
        """
        if len(hits) > MAX_RESULTS:
            raise PreconditionError(f"a receipt holds at most {MAX_RESULTS} results; ask for fewer")
        now = recorder.clock()
        wanted = {_place_key(hit) for hit in hits}
        with catalog.transaction() as session:
            # To compile one takes longer than everything else here.
            if scope.opening_ids or session.meta.policy_epoch() != scope.policy_epoch:
                scope = compile_scope(session, scope.principals, now)
            makeup = session.meta.index_makeup()
            tree = self.trees.get(session, scope)
            places = session.leaves.places(wanted, scope)
        if makeup is None:
            raise PreconditionError("the index is not made in one way throughout, as a receipt states; run 'ki run'")
        if places.keys() != wanted:
            raise PreconditionError("what you may see changed while it was searched; search again")
        root = self._one_root(embedder)
        embedder_part = embedder_record(embedder.signature, root)
        # From the cache, or computed again where it lost them: a vector is a function of its text.
        windows = [window_texts(hit.heading, hit.passage) for hit in hits]
        texts = list(dict.fromkeys(text for held in windows for text in held))
        vectors = dict(zip(texts, CachedEmbedder(embedder, self.vectors).embed(texts), strict=True)) if texts else {}
        index = {
            "merkle_root": tree.root.hex(),
            "chunk_count": tree.size,
            "chunker": makeup[0],
            "embedder": embedder_part,
            "format": makeup[1],
        }
        reranker_part = None if reranker is None else reranker_record(reranker)
        record = {
            "type": SEARCH_RECEIPT,
            "kind": asked.kind,
            "time": instant(now),
            "product_version": knowledge_index.__version__,
            "caller": self.caller_hash(scope.principals),
            "query_sha256": sha256_text(asked.query),
            "settings": asked.settings.model_dump(mode="json"),
            "filters": filters_record(asked.filters),
            "limit": asked.limit,
            "index": index,
            "index_sha256": hashlib.sha256(canonical(index)).hexdigest(),
            "reranker": reranker_part,
            "query_calls": [
                *(embedding_call(embedder_part, text, vector) for text, vector in calls.embedded.items()),
                *(reranking_call(reranker_part, *each) for each in calls.reranked if reranker_part is not None),
                *calls.other,
            ],
            "results": [
                _result(
                    hit,
                    places[_place_key(hit)],
                    tree,
                    [embedding_call(embedder_part, text, vectors[text]) for text in held],
                )
                for hit, held in zip(hits, windows, strict=True)
            ],
            "answer": None if answered is None else _answer_record(answered, hits),
        }
        # Each member is written once: an object's canonical form is that of its members, sorted by name.
        members = {name: canonical(value) for name, value in record.items()}
        signature = self.keys.sign(_object(members))
        signature_record = {
            "algorithm": "Ed25519",
            "key_id": signature.key_id,
            "value": signature.value.hex(),
        }
        return _object({**members, "signature": canonical(signature_record)})

    def caller_hash(self, principals: frozenset[Principal]) -> str:
        """The keyed hash (HMAC-SHA256, hex) under which a caller stands in receipts."""
        name = format_principals(principals).encode()
        return hmac.new(self.caller_key, name, hashlib.sha256).hexdigest()

    def leaves_still_visible(
        self, catalog: Catalog, recorder: AccessRecorder, principals: frozenset[Principal], leaves: Sequence[str]
    ) -> frozenset[str]:
        """Those of the leaf hashes (hex) that are in the tree over what the caller may see now."""
        with catalog.transaction() as session:
            scope = compile_scope(session, principals, recorder.clock())
            tree = self.trees.get(session, scope)
        return frozenset(leaf for leaf in leaves if tree.index_of(bytes.fromhex(leaf)) is not None)

    def _one_root(self, embedder: Embedder) -> str:
        """The weights root of the model, which made all the vectors that there are of its signature."""
        root = weights_root(embedder.model_files())
        origins = self.vectors.origins(embedder.signature)
        if not origins:
            self.vectors.note_origin(embedder.signature, root)
        elif origins != {root}:
            raise IndexStateError(
                "vectors of this model were made with other files (tokenizer or configuration) beside the same "
                "weights, so no receipt can say which: restore those files, or delete the vector cache and the "
                "vector index, and run 'ki run'"
            )
        return root


def open_issuer(home: Home, recorder: AccessRecorder) -> ReceiptIssuer:
    """The issuer of an installation; nothing is made before the first receipt.

    Raises:
        ConfigurationError: the installation's key is missing or damaged.
    """
    key = hmac.new(home.installation_key(), _CALLER_PURPOSE, hashlib.sha256).digest()
    return ReceiptIssuer(
        KeyStore(home.keys_folder, recorder.clock),
        key,
        VisibleTrees(home.trees_folder),
        VectorCache(home.vector_cache_file),
    )


def filters_record(filters: SearchFilters) -> dict[str, Any]:
    """The filters that narrow anything, as JSON; :func:`filters_of` reads them back."""
    given = _FILTERS.dump_python(filters, mode="json", exclude=_INTERNAL_FILTERS, exclude_defaults=True)
    return {name: sorted(value) if isinstance(value, list) else value for name, value in given.items()}


def filters_of(record: dict[str, Any]) -> SearchFilters:
    """The filters that a receipt states.

    Raises:
        ValueError: this version does not know one of them.
    """
    unknown = record.keys() - (SearchFilters.__dataclass_fields__.keys() - _INTERNAL_FILTERS)
    if unknown:
        raise ValueError(f"unknown filters: {', '.join(sorted(unknown))}")
    return _FILTERS.validate_python(record)


def _object(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(b'"%s":%s' % (name.encode("ascii"), members[name]) for name in sorted(members)) + b"}"


def _place_key(hit: SearchHit) -> tuple[str, int, int]:
    return hit.hit_id.partition(".")[0], hit.start_char, hit.end_char


def _result(
    hit: SearchHit,
    place: PassagePlace,
    tree: MerkleTree,
    embeddings: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    passage_sha256 = sha256_text(hit.passage)
    leaf = passage_leaf(place.document_sha256, hit.start_char, hit.end_char, passage_sha256)
    index = tree.index_of(leaf)
    proof = () if index is None else tree.inclusion_proof(index)
    if index is None or root_of_proof(leaf, index, tree.size, proof) != tree.root:
        raise IndexStateError(
            "a passage is not in the tree over what you may see, which is damaged: delete the folder of trees in "
            "the home's cache, and search again"
        )
    return {
        "document_sha256": place.document_sha256,
        "version": {
            "status": str(hit.version_status),
            "converter": hit.converter,
            "text_sha256": hit.text_sha256,
        },
        "start_char": hit.start_char,
        "end_char": hit.end_char,
        "start_byte": place.start_byte,
        "end_byte": place.end_byte,
        "text_sha256": passage_sha256,
        "leaf": leaf.hex(),
        "leaf_index": index,
        "proof": [each.hex() for each in proof],
        "score_ppm": round(hit.score * _PPM),
        "embeddings": list(embeddings),
    }


def _answer_record(answered: Answered, hits: Sequence[SearchHit]) -> dict[str, Any]:
    ranks = {hit.hit_id: rank for rank, hit in enumerate(hits)}
    return {
        "kind": answered.kind,
        "text_sha256": sha256_text(answered.text),
        "citations": [
            {"result": ranks[each.hit_id], "start_char": each.start_char, "end_char": each.end_char}
            for each in answered.citations
        ],
    }
