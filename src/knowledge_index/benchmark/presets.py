"""Named copies of the retrieval settings, applied at query time over one index."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import ValidationError

from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import UsageError


class PresetName(StrEnum):
    """The settings that a search can be measured under."""

    BM25 = "bm25"
    NAIVE_DENSE = "naive_dense"
    RRF = "rrf"
    FULL = "full"
    NO_DOCUMENT = "no_document"
    NO_MENTION = "no_mention"
    NO_EXACT = "no_exact"
    NO_CLAUSES = "no_clauses"
    NO_IDENTIFIER = "no_identifier"
    NO_LEXICAL = "no_lexical"
    NO_SEMANTIC = "no_semantic"
    NO_COLLAPSE = "no_collapse"
    RANKS = "ranks"
    NO_GERMAN = "no_german"
    NO_GERMAN_PARTS = "no_german_parts"
    NO_CONTRACT_ROWS = "no_contract_rows"


LADDER = "ladder"
ABLATIONS = "ablations"
LADDER_PRESETS = (PresetName.BM25, PresetName.NAIVE_DENSE, PresetName.RRF, PresetName.FULL)
_SERIES = {
    LADDER: LADDER_PRESETS,
    ABLATIONS: (PresetName.FULL, *(name for name in PresetName if name not in LADDER_PRESETS)),
}
_WITHOUT_DOCUMENT_CHOICE: Mapping[str, object] = {
    "weight_document": 0.0,
    "clause_library": False,
    "exact_first": False,
    "mentioned_first": False,
}
_CHANGES: Mapping[PresetName, Mapping[str, object]] = {
    PresetName.BM25: {
        "weight_lexical": 1.0,
        "weight_semantic": 0.0,
        "weight_identifier": 0.0,
        **_WITHOUT_DOCUMENT_CHOICE,
        "rerank_enabled": False,
    },
    PresetName.NAIVE_DENSE: {
        "weight_lexical": 0.0,
        "weight_semantic": 1.0,
        "weight_identifier": 0.0,
        **_WITHOUT_DOCUMENT_CHOICE,
        "version_status_boost": 0.0,
        "collapse_per_document": False,
        "rerank_enabled": False,
    },
    PresetName.RRF: {
        "weight_lexical": 1.0,
        "weight_semantic": 1.0,
        "weight_identifier": 0.0,
        "fusion": "ranks",
        # The constant of the paper that proposed the method.
        "fusion_rrf_k": 60,
        **_WITHOUT_DOCUMENT_CHOICE,
        "rerank_enabled": False,
    },
    PresetName.FULL: {},
    PresetName.NO_DOCUMENT: {"weight_document": 0.0},
    PresetName.NO_MENTION: {"mentioned_first": False},
    PresetName.NO_EXACT: {"exact_first": False},
    PresetName.NO_CLAUSES: {"clause_library": False},
    PresetName.NO_IDENTIFIER: {"weight_identifier": 0.0},
    PresetName.NO_LEXICAL: {"weight_lexical": 0.0},
    PresetName.NO_SEMANTIC: {"weight_semantic": 0.0},
    PresetName.NO_COLLAPSE: {"collapse_per_document": False},
    PresetName.RANKS: {"fusion": "ranks"},
    PresetName.NO_GERMAN: {"german_form_weight": 0.0, "german_part_weight": 0.0},
    PresetName.NO_GERMAN_PARTS: {"german_part_weight": 0.0},
    PresetName.NO_CONTRACT_ROWS: {"contract_rows": 0},
}


def presets_of(baseline: str) -> tuple[PresetName, ...]:
    """The presets that ``--baseline`` asks for: one by its name, or a series.

    ``ladder`` is from the weakest to ``full``; ``ablations`` is ``full`` and then ``full`` without one mechanism each.

    Raises:
        UsageError: there is no such baseline.
    """
    if baseline in _SERIES:
        return _SERIES[baseline]
    try:
        return (PresetName(baseline),)
    except ValueError:
        known = ", ".join([*_SERIES, *PresetName])
        raise UsageError(f"'{baseline}' is no baseline: choose one of {known}") from None


def preset(name: PresetName, shipped: RetrievalSettings) -> RetrievalSettings:
    """A copy of ``shipped``, the settings in force, changed to what the preset stands for.

    ``full`` is ``shipped`` itself. ``naive_dense`` is one embedding leg as a flat top-k; ``rrf`` is the usual hybrid,
    words and meaning by reciprocal ranks. ``bm25`` and ``rrf`` keep the collapse of ``shipped``: they are the stronger
    baselines for it and so the more honest ones. Each of the others is ``full`` with one mechanism off.

    Raises:
        UsageError: with that mechanism off nothing of the settings in force would be searched.
    """
    if not _CHANGES[name]:
        return shipped
    try:
        # Validated anew, unlike model_copy: a renamed knob must not turn a baseline into the full settings unnoticed.
        return RetrievalSettings.model_validate(shipped.model_dump() | dict(_CHANGES[name]))
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise UsageError(f"preset {name} cannot be made of the settings in force: {reason}; choose others") from error
