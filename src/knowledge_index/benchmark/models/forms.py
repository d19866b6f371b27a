"""What a configuration is made of, hashed: two runs of one hash differ by nothing but the data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge_index.benchmark.models.candidates import CANDIDATES
from knowledge_index.benchmark.models.configurations import Configuration, FirstStage
from knowledge_index.chunking import build_chunker
from knowledge_index.chunking.windows import WINDOWS_SIGNATURE
from knowledge_index.config import AppConfig
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed import weights_root
from knowledge_index.embed.registered import open_embedder, open_reranker
from knowledge_index.embed.registry import AskedModel, embedder_card, reranker_card
from knowledge_index.evidence.canonical import canonical_sha256


@dataclass(frozen=True)
class ModelForm:
    """What makes one model's results its own, or why it cannot run; ``signature_id`` is what its caches go by."""

    signature_id: str
    parts: tuple[str, ...]
    not_run: str | None = None


@dataclass(frozen=True)
class Forms:
    """The forms of all models of a run, by registered name; nothing of them is loaded."""

    embedders: Mapping[str, ModelForm]
    rerankers: Mapping[str, ModelForm]
    config: AppConfig
    unit: str

    def not_run(self, configuration: Configuration) -> str | None:
        """Why the configuration cannot run, or None."""
        found = (each.not_run for each in self._models(configuration))
        return next((reason for reason in found if reason is not None), None)

    def sha256(self, configuration: Configuration) -> str:
        """Hex SHA-256 of all that decides the configuration's rankings but the data; empty where it cannot run."""
        if self.not_run(configuration) is not None:
            return ""
        settings = self.config.retrieval
        fusion = (
            (settings.fusion, settings.fusion_rrf_k, settings.weight_lexical, settings.weight_semantic)
            if configuration.first_stage is FirstStage.HYBRID
            else ()
        )
        return canonical_sha256(
            {
                "name": configuration.name,
                "unit": str(self.unit),
                "chunker": build_chunker(self.config.chunking).signature,
                "windows": WINDOWS_SIGNATURE if configuration.embedder else "",
                "models": [list(each.parts) for each in self._models(configuration)],
                "fusion": [str(each) for each in fusion],
                "pool": str(settings.candidate_pool) if fusion else "",
                "candidates": CANDIDATES,
            }
        )

    def without_embedder(self, name: str, reason: str) -> "Forms":
        """The forms where this embedder turned out not to run."""
        return replace(self, embedders={**self.embedders, name: ModelForm("", (), reason)})

    def without_reranker(self, name: str, reason: str) -> "Forms":
        """The forms where this reranker turned out not to run."""
        return replace(self, rerankers={**self.rerankers, name: ModelForm("", (), reason)})

    def _models(self, configuration: Configuration) -> Iterable[ModelForm]:
        if configuration.embedder is not None:
            yield self.embedders[configuration.embedder]
        if configuration.reranker is not None:
            yield self.rerankers[configuration.reranker]


def forms_of(embedders: Sequence[AskedModel], rerankers: Sequence[AskedModel], config: AppConfig, unit: str) -> Forms:
    """Look each model up in the registry and hash its files.

    Raises:
        UsageError: a model is not in the registry, or is named twice.
    """
    return Forms(
        {asked.name: _embedder(asked, config) for asked in embedders},
        {asked.name: _reranker(asked, config) for asked in rerankers},
        config,
        unit,
    )


def _embedder(asked: AskedModel, config: AppConfig) -> ModelForm:
    card = embedder_card(asked.name)
    try:
        embedder = open_embedder(card, asked, config.models, config.embedding.threads)
        signature = embedder.signature.id
        return ModelForm(signature, (asked.name, card.form_sha256, signature, weights_root(embedder.model_files())))
    except ModelError as error:
        return ModelForm("", (), str(error))


def _reranker(asked: AskedModel, config: AppConfig) -> ModelForm:
    card = reranker_card(asked.name)
    try:
        root = weights_root(open_reranker(card, asked, config.models).model_files())
    except ModelError as error:
        return ModelForm("", (), str(error))
    parts = (asked.name, card.form_sha256, root, f"{config.models.device} {config.models.precision}")
    return ModelForm("|".join(parts), parts)
