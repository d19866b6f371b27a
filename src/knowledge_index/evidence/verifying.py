"""Checks a receipt with nothing but the receipt, trusted public keys, and what the receipt is said to be about."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from knowledge_index.domain.documents import sha256_text
from knowledge_index.evidence.canonical import (
    MalformedJsonError,
    NotCanonicalError,
    canonical,
    canonical_sha256,
    parse_json,
    refuse_not_canonical,
)
from knowledge_index.evidence.keys import is_signed
from knowledge_index.evidence.merkle import passage_leaf, root_of_proof
from knowledge_index.evidence.receipt import ModelCall, ModelRecord, ResultRecord, SearchReceipt

_MAX_UTF8_BYTES = 4


class CheckName(StrEnum):
    """The checks, in the order in which they are made; the page ``verifier.html`` makes all but the last."""

    JSON = "json"
    CANONICAL = "canonical"
    FIELDS = "fields"
    KEY = "key"
    SIGNATURE = "signature"
    INDEX = "index"
    LEAF = "leaf"
    PROOF = "proof"
    OFFSETS = "offsets"
    MODELS = "models"
    TEXT = "text"
    DOCUMENT = "document"
    CONVERTED = "converted"


@dataclass(frozen=True)
class Check:
    """One check; ``detail`` says what was found, or exactly what is wrong."""

    name: CheckName
    passed: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """All checks that were made; ``receipt`` is None where its form is not a receipt's."""

    checks: tuple[Check, ...]
    receipt: SearchReceipt | None

    @property
    def passed(self) -> bool:
        """Whether every check was passed."""
        return all(each.passed for each in self.checks)


class FailedError(Exception):
    """A check is not passed; ``detail`` says exactly what is wrong."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


def verify_receipt(
    data: bytes, trusted_keys: Mapping[str, bytes], text: str | None = None, document: bytes | None = None
) -> Verification:
    """Check a receipt under ``trusted_keys`` (raw public keys by their ids), which never come from the receipt.

    ``text`` is a passage or the whole converted text that it stands in, ``document`` the bytes of a file; each has to
    be what a result is about. Checks after the first that a receipt fails in form, key or signature are not made: they
    would say something of a receipt that nobody signed.
    """
    checks: list[Check] = []
    receipt: SearchReceipt | None = None
    try:
        value = parse_json(data)
        checks.append(Check(CheckName.JSON, True, "JSON without a key twice"))
        refuse_not_canonical(data, value)
        checks.append(Check(CheckName.CANONICAL, True, "canonical form (RFC 8785)"))
        receipt = SearchReceipt.model_validate(value)
        checks.append(Check(CheckName.FIELDS, True, f"{receipt.type}: every field known, none missing"))
    except MalformedJsonError as error:
        checks.append(Check(CheckName.JSON, False, str(error)))
    except NotCanonicalError as error:
        checks.append(Check(CheckName.CANONICAL, False, str(error)))
    except ValidationError as error:
        checks.append(Check(CheckName.FIELDS, False, _first_fault(error)))
    if receipt is None:
        return Verification(tuple(checks), None)
    signed = _check_signature(receipt, value, trusted_keys)
    checks.extend(signed)
    if not all(each.passed for each in signed):
        return Verification(tuple(checks), receipt)
    checks += [
        _made(CheckName.INDEX, lambda: _check_index(receipt)),
        _made(CheckName.LEAF, lambda: _check_leaves(receipt)),
        _made(CheckName.PROOF, lambda: _check_proofs(receipt)),
        _made(CheckName.OFFSETS, lambda: _check_offsets(receipt)),
        _made(CheckName.MODELS, lambda: _check_models(receipt)),
    ]
    if text is not None:
        checks.append(_made(CheckName.TEXT, lambda: _check_text(receipt, text)))
    if document is not None:
        checks.append(_made(CheckName.DOCUMENT, lambda: _check_document(receipt, document)))
    return Verification(tuple(checks), receipt)


def _made(name: CheckName, check: Callable[[], str]) -> Check:
    try:
        return Check(name, True, check())
    except FailedError as error:
        return Check(name, False, error.detail)


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'receipt'}: {fault['msg']}"


def _check_signature(receipt: SearchReceipt, value: Any, trusted_keys: Mapping[str, bytes]) -> list[Check]:
    key_id = receipt.signature.key_id
    key = trusted_keys.get(key_id)
    if key is None:
        return [Check(CheckName.KEY, False, f"it names key {key_id}, which is none of those given as trusted")]
    found = Check(CheckName.KEY, True, f"key {key_id} is one of those given as trusted")
    signed = canonical({name: part for name, part in value.items() if name != "signature"})
    if not is_signed(key, signed, bytes.fromhex(receipt.signature.value)):
        return [found, Check(CheckName.SIGNATURE, False, "the signature is not that key's over this receipt")]
    return [found, Check(CheckName.SIGNATURE, True, f"signed by that key at {receipt.time}")]


def _check_index(receipt: SearchReceipt) -> str:
    index = receipt.index
    if canonical_sha256(index.model_dump(mode="json")) != receipt.index_sha256:
        raise FailedError("index_sha256 is not the hash of index")
    if not index.chunk_count and index.merkle_root != hashlib.sha256().hexdigest():
        raise FailedError("index.merkle_root is not that of a tree without leaves")
    if len(receipt.results) > receipt.limit:
        raise FailedError(f"{len(receipt.results)} results where {receipt.limit} were asked for")
    return f"index {receipt.index_sha256} over {index.chunk_count} passages"


def _check_leaves(receipt: SearchReceipt) -> str:
    for place, each in enumerate(receipt.results):
        leaf = passage_leaf(each.document_sha256, each.start_char, each.end_char, each.text_sha256)
        if leaf.hex() != each.leaf:
            raise FailedError(f"result {place}: leaf is not the hash of its document, offsets and text")
    return f"{len(receipt.results)} leaves are those of document, offsets and text"


def _check_proofs(receipt: SearchReceipt) -> str:
    for place, each in enumerate(receipt.results):
        path = [bytes.fromhex(sibling) for sibling in each.proof]
        root = root_of_proof(bytes.fromhex(each.leaf), each.leaf_index, receipt.index.chunk_count, path)
        if root is None or root.hex() != receipt.index.merkle_root:
            raise FailedError(f"result {place}: the proof does not lead from leaf {each.leaf_index} to the root")
    return f"{len(receipt.results)} proofs lead to the root"


def _check_offsets(receipt: SearchReceipt) -> str:
    for place, each in enumerate(receipt.results):
        chars, size_bytes = each.end_char - each.start_char, each.end_byte - each.start_byte
        before = each.start_char <= each.start_byte <= _MAX_UTF8_BYTES * each.start_char
        if not (0 < chars <= size_bytes <= _MAX_UTF8_BYTES * chars and before):
            raise FailedError(f"result {place}: its offsets in characters and in bytes cannot both be right")
    for place, cited in enumerate(receipt.answer.citations if receipt.answer else ()):
        if cited.result >= len(receipt.results) or cited.start_char >= cited.end_char:
            raise FailedError(f"citation {place}: it cites no words of a result")
    return "offsets in characters and bytes agree"


def _check_models(receipt: SearchReceipt) -> str:
    if (receipt.kind == "ask") != (receipt.answer is not None):
        raise FailedError(f"a receipt of kind {receipt.kind} {'without' if receipt.answer is None else 'with'} answer")
    embedder = receipt.index.embedder
    if embedder.weights_root is None:
        raise FailedError("index.embedder has no weights root")
    count = 0
    for where, call in _calls(receipt):
        count += 1
        if call.kind == "embed":
            expected: ModelRecord | None = embedder
            if call.item_count != 1:
                raise FailedError(f"{where}: {call.item_count} items in the receipt of one embedded text")
        elif call.kind == "rerank":
            expected = receipt.reranker
        elif call.weights_root is None:
            continue
        else:
            raise FailedError(f"{where}: a weights root of a model that ran elsewhere")
        if expected is None or _model(call) != _model(expected):
            raise FailedError(f"{where}: is of another model than the receipt's")
    return f"{count} model calls, each of the receipt's own models"


def _calls(receipt: SearchReceipt) -> Iterator[tuple[str, ModelCall]]:
    for place, call in enumerate(receipt.query_calls):
        yield f"query call {place}", call
    for rank, result in enumerate(receipt.results):
        if not result.embeddings:
            raise FailedError(f"result {rank}: has no embedding receipt")
        for place, call in enumerate(result.embeddings):
            if call.kind != "embed":
                raise FailedError(f"result {rank}: embedding {place} is of kind {call.kind}")
            yield f"result {rank}, embedding {place}", call


def _model(record: ModelRecord) -> tuple[str, str | None, dict[str, int | str]]:
    return record.model, record.weights_root, record.parameters


def _check_text(receipt: SearchReceipt, text: str) -> str:
    digest = sha256_text(text)
    passages = [place for place, each in enumerate(receipt.results) if each.text_sha256 == digest]
    for place in passages:
        each = receipt.results[place]
        if (len(text), len(_utf8(text))) != (each.end_char - each.start_char, each.end_byte - each.start_byte):
            raise FailedError(f"result {place}: the text is the passage's, and its length is not that of the offsets")
    inside = [place for place, each in enumerate(receipt.results) if each.version.text_sha256 == digest]
    for place in inside:
        check_span(place, receipt.results[place], text)
    if passages:
        return f"it is the passage of {_named(passages)}"
    if inside:
        return f"it is the converted text of {_named(inside)}, with each passage at its offsets"
    raise FailedError(f"no result is about a text of SHA-256 {digest}, neither as a passage nor as the whole text")


def check_span(place: int, each: ResultRecord, text: str) -> None:
    """Compare a result with the converted text that it stands in.

    Raises:
        FailedError: another passage stands at its offsets.
    """
    if sha256_text(text[each.start_char : each.end_char]) != each.text_sha256:
        raise FailedError(f"result {place}: another passage stands at its offsets in characters")
    if hashlib.sha256(_utf8(text)[each.start_byte : each.end_byte]).hexdigest() != each.text_sha256:
        raise FailedError(f"result {place}: another passage stands at its offsets in bytes")


def _check_document(receipt: SearchReceipt, document: bytes) -> str:
    digest = hashlib.sha256(document).hexdigest()
    found = [place for place, each in enumerate(receipt.results) if each.document_sha256 == digest]
    if not found:
        raise FailedError(f"no result is from a file of SHA-256 {digest}")
    return f"it is the file of {_named(found)}"


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _named(places: list[int]) -> str:
    return f"result{'s' if len(places) > 1 else ''} {', '.join(map(str, places))}"
