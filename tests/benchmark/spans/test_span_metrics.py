import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_sets import places, query, ranked

from knowledge_index.benchmark.spans.eval_set import EvalDocument, EvalSet
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.metrics import chunking_statistics, mean_metrics, score_ranking
from knowledge_index.benchmark.spans.ranking import ChunkPlace

# Ten chunks of 100 characters.
CHUNKS = places(*((start, start + 100) for start in range(0, 1000, 100)))


def test_every_metric_of_one_ranking() -> None:
    # Gold: 60 characters in chunk 2, and 80 that lie half in chunk 6, half in chunk 7: three relevant chunks.
    asked = query((220, 280), (660, 740))
    order = [CHUNKS[0], CHUNKS[2], CHUNKS[1], CHUNKS[3], CHUNKS[4], CHUNKS[7], *CHUNKS[8:]]
    found = score_ranking(asked, ranked(*order), CHUNKS)
    assert found.precision_at_5 == pytest.approx(1 / 5)
    assert found.recall_at_10 == pytest.approx(2 / 3)
    assert found.mrr == pytest.approx(1 / 2)
    assert found.span_coverage_at_5 == pytest.approx(60 / 140)
    assert found.span_recall_at_5 == pytest.approx(1 / 2)
    assert found.complete_grounding_at_5 == 0


def test_coverage_may_be_high_where_grounding_fails() -> None:
    # A long passage is found whole, a short one not at all.
    found = score_ranking(query((0, 100), (950, 960)), ranked(*CHUNKS[:5]), CHUNKS)
    assert found.span_coverage_at_5 == pytest.approx(100 / 110)
    assert found.complete_grounding_at_5 == 0


def test_grounding_may_be_complete_where_coverage_is_half() -> None:
    # Half of the one passage that there is.
    found = score_ranking(query((50, 150)), ranked(CHUNKS[0], *CHUNKS[2:6]), CHUNKS)
    assert found.span_coverage_at_5 == pytest.approx(1 / 2)
    assert found.complete_grounding_at_5 == 1


def test_a_little_less_than_half_is_no_grounding() -> None:
    found = score_ranking(query((51, 152)), ranked(CHUNKS[0], *CHUNKS[2:6]), CHUNKS)
    assert found.span_coverage_at_5 == pytest.approx(49 / 101)
    assert found.complete_grounding_at_5 == 0


def test_precision_is_divided_by_k_also_where_fewer_came() -> None:
    assert score_ranking(query((0, 10)), ranked(CHUNKS[0]), CHUNKS).precision_at_5 == pytest.approx(1 / 5)


def test_a_character_that_two_chunks_hold_is_counted_once() -> None:
    windows = places((0, 100), (50, 150))
    assert score_ranking(query((40, 160)), ranked(*windows), windows).span_coverage_at_5 == pytest.approx(110 / 120)


def test_a_chunk_of_another_document_is_never_relevant() -> None:
    found = score_ranking(query((0, 100)), ranked(*places((0, 100), doc_id="b")), CHUNKS)
    assert (found.precision_at_5, found.mrr, found.span_coverage_at_5) == (0, 0, 0)


def test_recall_without_a_relevant_chunk_is_undefined_and_left_out_of_the_mean() -> None:
    nothing = score_ranking(query((0, 10)), (), places((10, 20)))
    everything = score_ranking(query((0, 10)), ranked(*places((0, 10))), places((0, 10)))
    assert nothing.recall_at_10 is None
    assert mean_metrics([nothing, everything]).recall_at_10 == 1
    assert mean_metrics([nothing, everything]).mrr == pytest.approx(1 / 2)


def test_statistics_before_any_retrieval() -> None:
    text = "x" * 1000
    # Spans of 1, 2 and 7 relevant chunks.
    queries = (query((10, 90)), query((150, 250), query_id="q2"), query((0, 610), query_id="q3"))
    eval_set = EvalSet("set", "", (EvalDocument("a", "", text, {}),), queries)
    found = chunking_statistics(eval_set, CHUNKS, 0.25)
    assert found.chunks == 10
    assert found.median_chars == 100
    assert found.spans_intact == pytest.approx(1 / 3)
    assert found.relevant_per_query == pytest.approx((1 + 2 + 7) / 3)
    assert found.precision_ceiling == pytest.approx((1 / 5 + 2 / 5 + 1) / 3)
    assert found.truncated == 0.25


SPAN = st.tuples(st.integers(0, 60), st.integers(1, 25)).map(lambda each: (each[0], each[0] + each[1]))


@given(st.lists(SPAN, min_size=1, max_size=4, unique=True), st.lists(SPAN, min_size=1, max_size=12, unique=True))
def test_metrics_agree_with_counting_character_by_character(
    gold: list[tuple[int, int]], chunks: list[tuple[int, int]]
) -> None:
    found = score_ranking(query(*gold), ranked(*places(*chunks)), places(*chunks))
    gold_characters = [set(range(*span)) for span in gold]
    everything = set().union(*gold_characters)
    top = set().union(*(set(range(*chunk)) for chunk in chunks[:5]))
    relevant = [bool(set(range(*chunk)) & everything) for chunk in chunks]
    assert found.precision_at_5 == pytest.approx(sum(relevant[:5]) / 5)
    assert found.span_coverage_at_5 == pytest.approx(len(everything & top) / len(everything))
    enough = [2 * len(each & top) >= len(each) for each in gold_characters]
    assert found.span_recall_at_5 == pytest.approx(sum(enough) / len(enough))
    assert found.complete_grounding_at_5 == all(enough)
    assert found.recall_at_10 == (sum(relevant[:10]) / sum(relevant) if any(relevant) else None)
    assert found.mrr == (1 / (relevant.index(True) + 1) if any(relevant) else 0)


def test_a_chunk_place_has_a_name() -> None:
    assert ChunkPlace("a", Span(5, 9)).chunk_id == "a:5-9"
