"""The form of a receipt: every field, none more."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_RESULTS = 1000
MAX_CALLS = 100_000
_MAX_INTEGER = 2**53 - 1

Sha256 = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
_Count = Annotated[int, Field(ge=0, le=_MAX_INTEGER)]
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
_Word = Annotated[str, Field(max_length=10_000)]
# Booleans before numbers, and integers before floats: the first type that fits is taken.
_Scalar = bool | int | float | _Word | None
_Parameters = dict[_Name, int | _Word]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class ModelRecord(_Part):
    """A model; ``weights_root`` is the hash over the files that it was loaded from, file by file.

    None where it ran elsewhere, so that nobody here has seen its weights.
    """

    model: _Name
    weights_root: Sha256 | None
    parameters: _Parameters


class ModelCall(ModelRecord):
    """The receipt of one call of a model: one embedded text, one reranking, one attempt at wording an answer."""

    type: Literal["ki.model-call.v1"]
    kind: Literal["embed", "rerank", "answer"]
    item_count: Annotated[int, Field(ge=1, le=_MAX_INTEGER)]
    input_sha256: Sha256
    output_sha256: Sha256


class IndexRecord(_Part):
    """What the caller could see, and how it was made: the Merkle root over its passages and their number."""

    merkle_root: Sha256
    chunk_count: _Count
    chunker: _Name
    embedder: ModelRecord
    format: _Name


class VersionRecord(_Part):
    """The version of the paper that a result stands in: its status, and the converted text that offsets count in."""

    status: Literal["draft", "final", "executed", "unknown"]
    converter: _Name
    text_sha256: Sha256


class ResultRecord(_Part):
    """One passage, its place, and the proof that it belongs to the index."""

    document_sha256: Sha256
    version: VersionRecord
    start_char: _Count
    end_char: _Count
    start_byte: _Count
    end_byte: _Count
    text_sha256: Sha256
    leaf: Sha256
    leaf_index: _Count
    proof: Annotated[list[Sha256], Field(max_length=64)]
    score_ppm: Annotated[int, Field(ge=-_MAX_INTEGER, le=_MAX_INTEGER)]
    embeddings: Annotated[list[ModelCall], Field(max_length=MAX_CALLS)]


class CitationRecord(_Part):
    """Words that an answer cites: characters of a result's converted text. ``result`` counts from 0."""

    result: _Count
    start_char: _Count
    end_char: _Count


class AnswerRecord(_Part):
    """What a question was answered with."""

    kind: Literal["extractive", "model", "not_said"]
    text_sha256: Sha256
    citations: Annotated[list[CitationRecord], Field(max_length=MAX_RESULTS)]


class SearchRecord(_Part):
    """All of a receipt but its signature."""

    type: Literal["ki.search-receipt.v1"]
    kind: Literal["search", "ask"]
    time: Annotated[str, Field(pattern=r"\A\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}\+00:00\z")]
    product_version: _Name
    caller: Sha256
    query_sha256: Sha256
    settings: dict[_Name, _Scalar | list[_Word]]
    filters: dict[_Name, _Scalar | list[_Word]]
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS)]
    index: IndexRecord
    index_sha256: Sha256
    reranker: ModelRecord | None
    query_calls: Annotated[list[ModelCall], Field(max_length=MAX_CALLS)]
    results: Annotated[list[ResultRecord], Field(max_length=MAX_RESULTS)]
    answer: AnswerRecord | None


class SignatureRecord(_Part):
    """Ed25519 over the canonical JSON of the receipt without its signature."""

    algorithm: Literal["Ed25519"]
    key_id: Sha256
    value: Annotated[str, Field(pattern=r"\A[0-9a-f]{128}\z")]


class SearchReceipt(SearchRecord):
    """A whole receipt."""

    signature: SignatureRecord
