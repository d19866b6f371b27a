"""Named copies of the retrieval settings, applied at query time over one index."""

from enum import StrEnum

from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import UsageError


class PresetName(StrEnum):
    """The settings that a search can be measured under."""

    BM25 = "bm25"
    NAIVE_DENSE = "naive_dense"
    FULL = "full"


LADDER = "ladder"
_WITHOUT_DOCUMENT_CHOICE: dict[str, object] = {
    "weight_document": 0.0,
    "clause_library": False,
    "exact_first": False,
    "mentioned_first": False,
}
_LADDER_PRESETS = (PresetName.BM25, PresetName.NAIVE_DENSE, PresetName.FULL)


def presets_of(baseline: str) -> tuple[PresetName, ...]:
    """The presets that ``--baseline`` asks for, weakest first: one by its name, or all three for ``ladder``.

    Raises:
        UsageError: there is no such baseline.
    """
    if baseline == LADDER:
        return _LADDER_PRESETS
    try:
        return (PresetName(baseline),)
    except ValueError:
        known = ", ".join([LADDER, *PresetName])
        raise UsageError(f"'{baseline}' is no baseline: choose one of {known}") from None


def preset(name: PresetName, shipped: RetrievalSettings) -> RetrievalSettings:
    """A copy of ``shipped``, the settings in force, changed to what the preset stands for.

    ``full`` is ``shipped`` itself. ``naive_dense`` is one embedding leg as a flat top-k. ``bm25`` keeps the collapse of
    ``shipped``: it is the stronger baseline and so the more honest one.
    """
    changes: dict[str, object]
    match name:
        case PresetName.FULL:
            return shipped
        case PresetName.NAIVE_DENSE:
            changes = {
                "weight_lexical": 0.0,
                "weight_semantic": 1.0,
                "weight_identifier": 0.0,
                **_WITHOUT_DOCUMENT_CHOICE,
                "version_status_boost": 0.0,
                "collapse_per_document": False,
                "rerank_enabled": False,
            }
        case PresetName.BM25:
            changes = {
                "weight_lexical": 1.0,
                "weight_semantic": 0.0,
                "weight_identifier": 0.0,
                **_WITHOUT_DOCUMENT_CHOICE,
                "rerank_enabled": False,
            }
    # Validated anew, unlike model_copy: a renamed knob must not turn a baseline into the full settings unnoticed.
    return RetrievalSettings.model_validate(shipped.model_dump() | changes)
