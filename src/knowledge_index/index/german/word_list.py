"""The shipped list of parts of compounds, and the version of all that German words are analysed by."""

import hashlib
from functools import lru_cache
from importlib.resources import files

from knowledge_index.domain.languages import LANGUAGE_RULES_VERSION, folded_german

# Raised whenever a word may get another key or other parts by a change of code.
_RULES_VERSION = 1
_LIST_NAME = "parts.txt"


def _content() -> str:
    return files(__package__).joinpath(_LIST_NAME).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def listed_words() -> tuple[str, ...]:
    """The words of the list, as they are written."""
    return tuple(word for line in _content().splitlines() if not line.startswith("#") for word in line.split())


@lru_cache(maxsize=1)
def listed_parts() -> frozenset[str]:
    """The words of the list, folded."""
    return frozenset(map(folded_german, listed_words()))


GERMAN_SIGNATURE = (
    f"german-{LANGUAGE_RULES_VERSION}.{_RULES_VERSION}-{hashlib.sha256(_content().encode()).hexdigest()[:12]}"
)
