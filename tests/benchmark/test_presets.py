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


NO_DOCUMENT_CHOICE = {"weight_document": 0.0, "clause_library": False, "exact_first": False, "mentioned_first": False}


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
        **NO_DOCUMENT_CHOICE,
        "version_status_boost": 0.0,
        "collapse_per_document": False,
        "rerank_enabled": False,
    }


def test_bm25_is_the_lexical_leg_alone_with_the_shipped_collapse() -> None:
    assert changes(PresetName.BM25) == {
        "weight_lexical": 1.0,
        "weight_semantic": 0.0,
        "weight_identifier": 0.0,
        **NO_DOCUMENT_CHOICE,
        "rerank_enabled": False,
    }


def test_rrf_is_words_and_meaning_by_reciprocal_ranks_with_the_shipped_collapse() -> None:
    assert changes(PresetName.RRF) == {
        "weight_lexical": 1.0,
        "weight_semantic": 1.0,
        "weight_identifier": 0.0,
        **NO_DOCUMENT_CHOICE,
        "fusion": "ranks",
        "fusion_rrf_k": 60,
        "rerank_enabled": False,
    }


@pytest.mark.parametrize("name", [name for name in presets_of("ablations") if name is not PresetName.FULL])
def test_an_ablation_is_full_with_one_mechanism_off(name: PresetName) -> None:
    changed = changes(name)
    assert all(value in (0.0, False, "ranks") for value in changed.values())
    # Parts of German compounds are never weighed without the other forms of its words.
    assert frozenset(changed) in {
        *map(
            frozenset,
            ({"weight_document"}, {"mentioned_first"}, {"exact_first"}, {"clause_library"}, {"weight_identifier"}),
        ),
        *map(frozenset, ({"weight_lexical"}, {"weight_semantic"}, {"collapse_per_document"}, {"fusion"})),
        *map(frozenset, ({"german_form_weight", "german_part_weight"}, {"german_part_weight"}, {"contract_rows"})),
    }


def test_the_ablations_switch_off_every_mechanism_once() -> None:
    ablations = presets_of("ablations")
    assert ablations[0] is PresetName.FULL
    assert len({frozenset(changes(name)) for name in ablations}) == len(ablations)
    assert len({setting for name in ablations for setting in changes(name)}) == len(ablations) - 1 == 12


def test_an_ablation_that_leaves_nothing_to_search_is_refused() -> None:
    lexical_only = RetrievalSettings(weight_lexical=1, weight_semantic=0, weight_identifier=0)
    with pytest.raises(UsageError, match=r"no_lexical cannot be made of the settings in force: .*nothing would be"):
        preset(PresetName.NO_LEXICAL, lexical_only)


def test_a_leg_that_is_configured_off_still_makes_its_baseline() -> None:
    lexical_only = RetrievalSettings(weight_lexical=1, weight_semantic=0, weight_identifier=0)
    assert preset(PresetName.NAIVE_DENSE, lexical_only).weight_semantic == 1.0


def test_ladder_runs_from_the_weakest_to_full_and_a_name_runs_itself() -> None:
    assert presets_of("ladder") == (PresetName.BM25, PresetName.NAIVE_DENSE, PresetName.RRF, PresetName.FULL)
    assert presets_of("bm25") == (PresetName.BM25,)


def test_an_unknown_baseline_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'best' is no baseline: choose one of ladder, ablations, bm25, "):
        presets_of("best")
