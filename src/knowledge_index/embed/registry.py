"""The form in which each known model wants to be asked, read from ``registry.toml``."""

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import UsageError

_FILE = Path(__file__).with_name("registry.toml")


class EmbedderFamily(StrEnum):
    """How an embedder is computed: by sentence-transformers from its folder, or from its last token's hidden state."""

    SENTENCE_TRANSFORMERS = "sentence-transformers"
    LAST_TOKEN = "last-token"


class RerankerFamily(StrEnum):
    """How a reranker is computed: one score from a classifier's head, or the chance of a "yes" as the next token."""

    CROSS_ENCODER = "cross-encoder"
    YES_NO = "yes-no"


class _Card(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = Field(min_length=1)
    source: str = Field(pattern="^https://")

    @property
    def form_sha256(self) -> str:
        """Hex SHA-256 of all that the card says: another prompt is another configuration."""
        return sha256_text(self.model_dump_json())


_CardType = TypeVar("_CardType", bound=_Card)


class EmbedderCard(_Card):
    """An embedder: prompts go before each query and each document; ``pooling`` is what its folder has to state.

    ``max_tokens`` is given where the folder of the family does not state it.
    """

    family: EmbedderFamily
    pooling: str
    query_prompt: str
    document_prompt: str
    max_tokens: int | None = Field(None, ge=2)

    @model_validator(mode="after")
    def _states_its_length(self) -> Self:
        if self.family is EmbedderFamily.LAST_TOKEN and self.max_tokens is None:
            raise ValueError("a last-token embedder needs max_tokens")
        return self


class RerankerCard(_Card):
    """A reranker; the texts and the limit are those of the yes-no family, and empty in the other."""

    family: RerankerFamily
    max_tokens: int | None = Field(None, ge=2)
    instruction: str = ""
    before: str = ""
    pair: str = ""
    after: str = ""

    @model_validator(mode="after")
    def _states_its_prompt(self) -> Self:
        if self.family is RerankerFamily.YES_NO and (
            self.max_tokens is None or not all(part in self.pair for part in ("{instruction}", "{query}", "{document}"))
        ):
            raise ValueError("a yes-no reranker needs max_tokens and a pair with {instruction}, {query}, {document}")
        return self


class _Registry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: tuple[EmbedderCard, ...]
    reranker: tuple[RerankerCard, ...]


@dataclass(frozen=True)
class AskedModel:
    """A registered model by its name, and the folder of its weights where the caller named one."""

    name: str
    folder: Path | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """``NAME`` or ``NAME=FOLDER``."""
        name, separator, folder = text.partition("=")
        return cls(name.strip(), Path(os.path.expanduser(folder)) if separator else None)


def registered_embedders() -> tuple[EmbedderCard, ...]:
    """All embedders, in the registry's order; the first one is the default model."""
    return _registry().embedder


def registered_rerankers() -> tuple[RerankerCard, ...]:
    """All rerankers, in the registry's order."""
    return _registry().reranker


def embedder_card(name: str) -> EmbedderCard:
    """The card of that name.

    Raises:
        UsageError: there is none.
    """
    return _find(registered_embedders(), name, "embedder")


def reranker_card(name: str) -> RerankerCard:
    """The card of that name.

    Raises:
        UsageError: there is none.
    """
    return _find(registered_rerankers(), name, "reranker")


def _find(cards: Sequence[_CardType], name: str, kind: str) -> _CardType:
    for card in cards:
        if card.name == name:
            return card
    raise UsageError(f"there is no {kind} '{name}' in the registry; it has {', '.join(card.name for card in cards)}")


@cache
def _registry() -> _Registry:
    raw = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return _Registry(
        embedder=tuple(
            EmbedderCard.model_validate(each | {"family": EmbedderFamily(each["family"])}) for each in raw["embedder"]
        ),
        reranker=tuple(
            RerankerCard.model_validate(each | {"family": RerankerFamily(each["family"])}) for each in raw["reranker"]
        ),
    )
