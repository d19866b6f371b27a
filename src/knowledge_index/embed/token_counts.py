"""How many tokens a text has for an embedding model, without loading the model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from knowledge_index.config.settings import EmbeddingSettings
from knowledge_index.embed.model_files import model_folder

_BATCH = 256


class TokenCounter(Protocol):
    """Counts tokens."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text, the model's own marks at its ends included, nothing cut off."""
        ...


def build_token_counter(settings: EmbeddingSettings) -> TokenCounter | None:
    """The counter of the model that the settings name, or None where its folder holds no ``tokenizer.json``.

    Raises:
        ModelError: the model cannot be had.
    """
    file = model_folder(settings.model) / "tokenizer.json"
    return _TokenizerFile(file) if file.is_file() else None


class _TokenizerFile:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._tokenizer: Any = None

    def count(self, texts: Sequence[str]) -> list[int]:
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_file(str(self._file))
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
        counts: list[int] = []
        for start in range(0, len(texts), _BATCH):
            batch = [text.encode("utf-8", "replace").decode("utf-8") for text in texts[start : start + _BATCH]]
            counts.extend(len(each.ids) for each in self._tokenizer.encode_batch(batch))
        return counts
