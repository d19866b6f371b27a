"""Where do words and vectors lie, and how are they found? The lexical and the vector index."""

import json
from dataclasses import asdict
from pathlib import Path

from knowledge_index.domain.errors import IndexStateError
from knowledge_index.embed.base import EmbeddingSignature
from knowledge_index.index.base import (
    LexicalIndex,
    LexicalRow,
    ProfileIndex,
    ProfileMatches,
    ProfileRow,
    RowDifferences,
    ScoredRow,
    VectorIndex,
    VectorRow,
)
from knowledge_index.index.durable import write_durably

__all__ = [
    "LexicalIndex",
    "LexicalRow",
    "ProfileIndex",
    "ProfileMatches",
    "ProfileRow",
    "RowDifferences",
    "ScoredRow",
    "VectorIndex",
    "VectorRow",
    "holds_indexes",
    "index_format",
    "open_lexical_index",
    "open_profile_index",
    "open_vector_index",
]

_SIGNATURE_NAME = "signature.json"


def holds_indexes(lexical_folder: Path, profile_folder: Path, vector_folder: Path) -> bool:
    """Whether all three folders hold an index; one that was made and never written to does not count."""
    from knowledge_index.index.compartments import holds_manifest
    from knowledge_index.index.lance_vector import holds_table

    return holds_manifest(lexical_folder) and holds_manifest(profile_folder) and holds_table(vector_folder)


def index_format() -> str:
    """The forms in which the indexes lie on disk, in one line."""
    from knowledge_index.index.compartments import FORMAT

    return f"compartments-{FORMAT} lance"


def open_lexical_index(folder: Path) -> LexicalIndex:
    """The lexical index in ``folder``, which need not exist yet."""
    from knowledge_index.index.compartments import CompartmentedLexicalIndex

    return CompartmentedLexicalIndex(folder)


def open_profile_index(folder: Path) -> ProfileIndex:
    """The index of documents' profiles in ``folder``, which need not exist yet."""
    from knowledge_index.index.profiles import CompartmentedProfileIndex

    return CompartmentedProfileIndex(folder)


def open_vector_index(folder: Path, signature: EmbeddingSignature) -> VectorIndex:
    """The vector index in ``folder``, which need not exist yet, for vectors of ``signature``.

    The signature lies beside the table, as ``signature.json``, and binds it from the first vector on.

    Raises:
        IndexStateError: the index was made with another signature, or its signature cannot be read.
    """
    from knowledge_index.index.lance_vector import LanceVectorIndex, holds_table

    file = folder / _SIGNATURE_NAME
    if holds_table(folder):
        stored = _read_signature(file)
        if stored != signature:
            raise IndexStateError(
                f"{folder}: the vector index was made with '{stored.id}', the settings name '{signature.id}': "
                "go back to the embedding model it was made with, or delete the folder and run 'ki run', "
                "which embeds everything with the new one"
            )
    else:
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(file, (json.dumps(asdict(signature), indent=2) + "\n").encode())
    return LanceVectorIndex(folder, signature.dimensions)


def _read_signature(file: Path) -> EmbeddingSignature:
    try:
        return EmbeddingSignature(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise IndexStateError(
            f"{file}: the signature of the vector index cannot be read ({error}): "
            f"delete the folder {file.parent} and run 'ki run', which makes it anew"
        ) from error
