"""Receipts of model calls: one for each embedded text, however it was embedded, and for each call of a query."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import permutations
from typing import Any

import pytest
import rfc8785
from receipt_world import NOON, ReceiptWorld, record_of

from knowledge_index.answers.answer import CitedSpan, Draft, DraftSentence, Evidence
from knowledge_index.answers.gateway import Gateway
from knowledge_index.answers.receipts import answer_with_receipt
from knowledge_index.answers.validator import Fault
from knowledge_index.chunking.windows import window_texts
from knowledge_index.config import AppConfig, GatewaySettings, RetrievalSettings
from knowledge_index.domain.errors import IndexStateError, PreconditionError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed import ModelFile
from knowledge_index.evidence.issuing import open_issuer
from knowledge_index.evidence.verifying import verify_receipt
from small_firm import CORPORATE, SUPPLY_TERMS, SmallFirm, WordEmbedder

QUERY = "secrecy of the content of this paper"


def hex_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def output_of(text: str) -> str:
    return sha256(struct.pack("<16f", *WordEmbedder().embed([text])[0])).hexdigest()


def weights_root_of(files: Sequence[ModelFile]) -> str:
    return hex_of("".join(f"{each.sha256}  {each.path}\n" for each in files))


def test_each_window_of_each_result_has_a_receipt_of_its_own(world: ReceiptWorld) -> None:
    result, receipt = world.search(QUERY, CORPORATE)
    record = record_of(receipt)
    root = weights_root_of(WordEmbedder().model_files())
    for hit, stated in zip(result.hits, record["results"], strict=True):
        texts = window_texts(hit.heading, hit.passage)
        assert [each["input_sha256"] for each in stated["embeddings"]] == [hex_of(text) for text in texts]
        assert [each["output_sha256"] for each in stated["embeddings"]] == [output_of(text) for text in texts]
        assert {(each["item_count"], each["weights_root"], each["kind"]) for each in stated["embeddings"]} == {
            (1, root, "embed")
        }
    assert record["index"]["embedder"]["weights_root"] == root


def test_the_query_has_its_own_and_nothing_of_the_ingest_shows(world: ReceiptWorld) -> None:
    plain = RetrievalSettings(clause_library=False, mentioned_first=False)
    record = record_of(world.search(QUERY, CORPORATE, settings=plain)[1])
    (call,) = record["query_calls"]
    assert (call["input_sha256"], call["output_sha256"]) == (hex_of(QUERY), output_of(QUERY))
    assert call["input_sha256"] == record["query_sha256"]
    words_alone = RetrievalSettings(weight_semantic=0)
    assert record_of(world.search(QUERY, CORPORATE, settings=words_alone)[1])["query_calls"] == []


def test_wordings_that_were_mixed_into_the_query_are_among_its_calls(world: ReceiptWorld) -> None:
    query = "governing law"
    record = record_of(world.search(query, CORPORATE)[1])
    inputs = [each["input_sha256"] for each in record["query_calls"]]
    assert hex_of(query) in inputs
    assert len(inputs) == len(set(inputs)) > 3
    # Served from the cache the second time, and receipted alike.
    assert record_of(world.search(query, CORPORATE)[1])["query_calls"] == record["query_calls"]


@dataclass(frozen=True)
class Lengths:
    """Keeps ``Reranker``."""

    name: str = "lengths"

    def model_files(self) -> tuple[ModelFile, ...]:
        return (ModelFile("model.safetensors", "7" * 64, 9),)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        return [len(each) / 8 for each in passages]


def test_a_reranking_is_one_call_over_its_pairs(world: ReceiptWorld) -> None:
    reranking = ReceiptWorld(world.firm, replace(world.service, reranker=Lengths()))
    settings = RetrievalSettings(rerank_enabled=True, rerank_model="lengths", weight_semantic=0)
    result, receipt = reranking.search(QUERY, CORPORATE, 40, settings)
    record = record_of(receipt)
    (call,) = record["query_calls"]
    assert (call["kind"], call["item_count"]) == ("rerank", len(result.hits))
    assert record["reranker"]["weights_root"] == call["weights_root"] == weights_root_of(Lengths().model_files())
    pairs = [(each.passage, len(each.passage) / 8) for each in result.hits]
    # In the order in which fusion had them.
    stated = {
        tuple(
            sha256(rfc8785.dumps(part)).hexdigest()
            for part in ([hex_of(QUERY), *(hex_of(passage) for passage, _ in order)], [score for _, score in order])
        )
        for order in permutations(pairs)
    }
    assert (call["input_sha256"], call["output_sha256"]) in stated
    assert verify_receipt(receipt, world.trusted_keys()).passed


@dataclass(frozen=True)
class QuotingGateway(Gateway):
    """A gateway whose model repeats the first words of the first passage."""

    def draft_answer(self, question: str, retrieved: Sequence[Evidence], faults: Sequence[Fault]) -> Draft:
        first = retrieved[0]
        words = first.text[:30]
        span = CitedSpan(first.hit.hit_id, first.hit.start_char, first.hit.start_char + 30, words)
        return Draft((DraftSentence(words, (span,)),))


def test_a_models_answer_is_a_call_without_a_weights_root(world: ReceiptWorld) -> None:
    recorder = world.recorder
    key: Any = None
    made = answer_with_receipt(
        world.service,
        recorder,
        open_issuer(world.firm.home, recorder),
        parse_principals(CORPORATE),
        QUERY,
        AppConfig().retrieval,
        SearchFilters(),
        3,
        QuotingGateway(GatewaySettings(url="https://models.example/v1", model="writer-1"), key),
    )
    record = record_of(made.receipt)
    calls = [each for each in record["query_calls"] if each["kind"] == "answer"]
    assert calls
    assert {(each["model"], each["weights_root"]) for each in calls} == {("writer-1", None)}
    assert record["answer"]["kind"] == made.answer.kind
    assert record["answer"]["text_sha256"] == hex_of(made.answer.text)
    assert "models.example" not in made.receipt.decode()
    assert verify_receipt(made.receipt, world.trusted_keys()).passed


@pytest.fixture
def own_firm(firm: SmallFirm) -> SmallFirm:
    firm.sync_and_run()
    return firm


def test_a_lost_cache_costs_time_and_changes_nothing(own_firm: SmallFirm) -> None:
    with own_firm.retrieval() as service:
        before = ReceiptWorld(own_firm, service).search(QUERY, CORPORATE)[1]
    for file in own_firm.home.vector_cache_file.parent.glob("vectors.sqlite*"):
        file.unlink()
    with own_firm.retrieval() as service:
        assert ReceiptWorld(own_firm, service).search(QUERY, CORPORATE)[1] == before


class OtherTokenizer(WordEmbedder):
    """The same weights and the same signature, beside another file."""

    def model_files(self) -> tuple[ModelFile, ...]:
        return (*super().model_files(), ModelFile("tokenizer.json", "3" * 64, 1))


def test_vectors_of_other_files_are_not_receipted(own_firm: SmallFirm) -> None:
    own_firm.embedder = OtherTokenizer()
    with own_firm.retrieval() as service, pytest.raises(IndexStateError, match="tokenizer"):
        ReceiptWorld(own_firm, service).search(QUERY, CORPORATE)


def test_what_was_taken_away_while_it_was_searched_is_not_receipted(own_firm: SmallFirm) -> None:
    moments = iter(range(100))

    def clock() -> Any:
        # The log's entry is the last reading of the clock before the receipt's own: a wall goes up right then.
        if next(moments) == 2:
            own_firm.grant(SUPPLY_TERMS, "user:partner")
            own_firm.sync()
        return NOON

    with own_firm.retrieval() as service:
        whole = RetrievalSettings(collapse_per_document=False)
        hits = ReceiptWorld(own_firm, service).search(QUERY, CORPORATE, 20, whole)[0].hits
        assert SUPPLY_TERMS in {hit.path for hit in hits}
        with pytest.raises(PreconditionError, match="search again"):
            ReceiptWorld(own_firm, service, clock).search(QUERY, CORPORATE, 20, whole)
        result, receipt = ReceiptWorld(own_firm, service).search(QUERY, CORPORATE, 20, whole)
    assert SUPPLY_TERMS not in {hit.path for hit in result.hits}
    assert record_of(receipt)["index"]["chunk_count"] > 0
