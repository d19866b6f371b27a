import pytest

from knowledge_index.benchmark.presets import PresetName, preset, presets_of
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import UsageError

SHIPPED = RetrievalSettings(
    weight_lexical=0.7,
    weight_semantic=0.3,
    weight_identifier=2.0,
    fusion_rrf_k=33,
    version_status_boost=0.2,
    collapse_per_document=True,
    max_chunks_per_document=2,
    candidate_pool=77,
    rerank_model="some/cross-encoder",
    rerank_enabled=True,
)


def changes(name: PresetName) -> dict[str, object]:
    shipped, copied = SHIPPED.model_dump(), preset(name, SHIPPED).model_dump()
    return {key: value for key, value in copied.items() if value != shipped[key]}


def test_full_is_what_is_configured() -> None:
    assert preset(PresetName.FULL, SHIPPED) == SHIPPED


def test_naive_dense_is_one_leg_and_a_flat_list() -> None:
    assert changes(PresetName.NAIVE_DENSE) == {
        "weight_lexical": 0.0,
        "weight_semantic": 1.0,
        "weight_identifier": 0.0,
        "version_status_boost": 0.0,
        "collapse_per_document": False,
        "rerank_enabled": False,
    }


def test_bm25_is_the_lexical_leg_alone_with_the_shipped_collapse() -> None:
    assert changes(PresetName.BM25) == {
        "weight_lexical": 1.0,
        "weight_semantic": 0.0,
        "weight_identifier": 0.0,
        "rerank_enabled": False,
    }


def test_a_leg_that_is_configured_off_still_makes_its_baseline() -> None:
    lexical_only = RetrievalSettings(weight_lexical=1, weight_semantic=0, weight_identifier=0)
    assert preset(PresetName.NAIVE_DENSE, lexical_only).weight_semantic == 1.0


def test_ladder_runs_all_three_and_a_name_runs_itself() -> None:
    assert presets_of("ladder") == (PresetName.BM25, PresetName.NAIVE_DENSE, PresetName.FULL)
    assert presets_of("bm25") == (PresetName.BM25,)


def test_an_unknown_baseline_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'best' is no baseline: choose one of ladder, bm25, naive_dense, full"):
        presets_of("best")
