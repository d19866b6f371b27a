"""Rerankers that are language models asked for "yes" or "no", such as Qwen3-Reranker."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from knowledge_index.config.settings import ModelSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed.base import ModelFile
from knowledge_index.embed.devices import torch_device, torch_dtype
from knowledge_index.embed.model_files import snapshot_files, weights_sha256
from knowledge_index.embed.quiet import silence_model_libraries
from knowledge_index.embed.registry import RerankerCard


class YesNoReranker:
    """Keeps :class:`~knowledge_index.embed.base.Reranker`: a score is the chance of "yes" against "no", from 0 to 1.

    The model is asked one pair at a time, and for the logits of the last position alone: those of all positions would
    be positions times vocabulary, gigabytes for one long passage.
    """

    def __init__(self, card: RerankerCard, folder: Path, settings: ModelSettings) -> None:
        self._card = card
        self._folder = folder
        self._settings = settings
        self._lock = threading.Lock()
        self._files: tuple[ModelFile, ...] | None = None
        self._model: Any = None

    @property
    def name(self) -> str:
        """See :attr:`Reranker.name`."""
        return self._card.name

    def model_files(self) -> tuple[ModelFile, ...]:
        """See :meth:`Reranker.model_files`; hashed once."""
        if self._files is None:
            self._files = snapshot_files(self._folder)
        return self._files

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See :meth:`Reranker.score`.

        Raises:
            ModelError: the model cannot be loaded, or the query leaves no room for the prompt.
        """
        if not passages:
            return []
        self._load()
        return [self._probability(query, passage) for passage in passages]

    def token_ids(self, query: str, passage: str) -> list[int]:
        """What the model reads: the card's prompt around the pair, the pair cut at its end where it is too long.

        Marks of the prompt that stand in a query or passage are text: a document cannot end its own turn.
        """
        self._load()
        body = self._card.pair.format(instruction=self._card.instruction, query=query, document=passage)
        assert self._card.max_tokens is not None, "the registry refuses such a card"
        room = self._card.max_tokens - len(self._before) - len(self._after)
        ids = self._body_tokenizer.encode(body.encode("utf-8", "replace").decode(), add_special_tokens=False).ids
        return [*self._before, *ids[:room], *self._after]

    def _probability(self, query: str, passage: str) -> float:
        torch = self._torch
        ids = torch.tensor([self.token_ids(query, passage)], device=self._device)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, logits_to_keep=1, use_cache=False).logits
        assert logits.shape[1] == 1, "the model was asked for one position"
        pair = logits[0, 0, [self._no, self._yes]].float()
        return float(torch.softmax(pair, dim=0)[1])

    def _load(self) -> None:
        with self._lock:
            if self._model is not None:
                return
            # Refuses a folder without safetensors before a model library is imported.
            weights_sha256(self._folder)
            import torch
            from tokenizers import Tokenizer
            from transformers import AutoModelForCausalLM

            silence_model_libraries()
            self._torch: Any = torch
            self._device = torch_device(self._settings)
            try:
                tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
                tokenizer.no_truncation()
                tokenizer.no_padding()
                self._before = tokenizer.encode(self._card.before, add_special_tokens=False).ids
                self._after = tokenizer.encode(self._card.after, add_special_tokens=False).ids
                self._yes, self._no = tokenizer.token_to_id("yes"), tokenizer.token_to_id("no")
                self._body_tokenizer: Any = tokenizer
                # Not before: the marks of the prompt itself have to be read as marks.
                self._body_tokenizer.encode_special_tokens = True
                model: Any = AutoModelForCausalLM.from_pretrained(
                    str(self._folder), local_files_only=True, use_safetensors=True, dtype=torch_dtype(self._settings)
                )
            except Exception as error:
                raise ModelError(f"{self._folder}: cannot be loaded as a yes-no reranker ({error})") from error
            if self._yes is None or self._no is None:
                raise ModelError(f"{self._folder}: its tokenizer has no token 'yes' or 'no'")
            self._model = model.to(self._device).eval()
