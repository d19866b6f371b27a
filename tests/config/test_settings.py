import pytest

from knowledge_index.config import AppConfig


@pytest.mark.parametrize("section", sorted(AppConfig.model_fields))
def test_every_setting_says_what_it_is_for(section: str) -> None:
    fields = type(getattr(AppConfig(), section)).model_fields
    assert fields
    assert all(field.description for field in fields.values())


def test_the_knobs_of_a_search_are_those_that_were_asked_for() -> None:
    assert set(type(AppConfig().retrieval).model_fields) == {
        "weight_lexical",
        "weight_semantic",
        "weight_identifier",
        "weight_document",
        "fusion",
        "fusion_rrf_k",
        "exact_first",
        "mentioned_first",
        "version_status_boost",
        "collapse_per_document",
        "max_chunks_per_document",
        "rerank_enabled",
        "rerank_model",
        "candidate_pool",
        "clause_files",
        "clause_library",
        "clause_name_weight",
        "clause_own_share",
        "german_form_weight",
        "german_part_weight",
        "contract_rows",
    }


def test_no_reranker_is_asked_for_by_default() -> None:
    retrieval = AppConfig().retrieval
    assert not retrieval.rerank_enabled
    assert retrieval.rerank_model is None
