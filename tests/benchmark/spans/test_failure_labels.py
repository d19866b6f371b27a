import pytest
from span_sets import places, query, ranked

from knowledge_index.benchmark.spans.failure_labels import FailureLabel, label_failure
from knowledge_index.benchmark.spans.ranking import ChunkPlace

TEXT = "word " * 800
CHUNKS = places(*((start, start + 100) for start in range(0, 4000, 100)))


def label(
    gold: list[tuple[int, int]], order: list[ChunkPlace], chunks: list[ChunkPlace] = CHUNKS
) -> FailureLabel | None:
    failure = label_failure(query(*gold), TEXT, ranked(*order), chunks)
    return failure.label if failure else None


def test_complete_grounding_has_no_label() -> None:
    assert label([(110, 190)], CHUNKS[:30]) is None


def test_a_passage_below_the_pool_is_a_retrieval_miss() -> None:
    assert label([(3510, 3590)], CHUNKS[:30]) is FailureLabel.RETRIEVAL_MISS


def test_a_passage_in_the_pool_and_below_k_is_a_rank_miss() -> None:
    assert label([(510, 590)], CHUNKS[:30]) is FailureLabel.RANK_MISS


def test_a_passage_over_a_boundary_is_severed_wherever_it_ranks() -> None:
    assert label([(560, 640)], CHUNKS[:30]) is FailureLabel.CHUNK_SEVERANCE
    assert label([(3560, 3640)], CHUNKS[:30]) is FailureLabel.CHUNK_SEVERANCE


def test_white_space_behind_a_boundary_severs_nothing() -> None:
    # Character 499 of "word word …" is a blank, as is every fifth.
    assert (
        label([(604, 690)], [*CHUNKS[:5], CHUNKS[6]], places((0, 604), (605, 700))) is not FailureLabel.CHUNK_SEVERANCE
    )


def test_a_window_that_shows_less_than_half_of_a_passage_is_partial_grounding() -> None:
    windows = places((0, 100), (70, 170), *((start, start + 100) for start in range(200, 2000, 100)))
    # The passage stands whole in the second window, which ranks 6th; the first holds 10 of its 60 characters.
    order = [windows[0], *windows[2:6], windows[1]]
    assert label([(90, 150)], order, windows) is FailureLabel.PARTIAL_GROUNDING


def test_nothing_is_to_be_fixed_where_every_relevant_chunk_is_shown() -> None:
    # No chunk holds the passage's second part, as where a chunker leaves something out.
    chunks = places((0, 100), (160, 260), (260, 360), (360, 460), (460, 560), (560, 660))
    assert label([(90, 155)], chunks, chunks) is FailureLabel.CEILING_BOUND


def test_the_first_label_that_fits_is_given() -> None:
    severed, missed, low = (560, 640), (3510, 3590), (1510, 1590)
    assert label([low], CHUNKS[:30]) is FailureLabel.RANK_MISS
    assert label([low, missed], CHUNKS[:30]) is FailureLabel.RETRIEVAL_MISS
    assert label([low, missed, severed], CHUNKS[:30]) is FailureLabel.CHUNK_SEVERANCE


def test_only_the_spans_that_failed_are_judged() -> None:
    # The severed passage is found, so the other one decides.
    found_and_severed = (50, 140)
    assert label([found_and_severed, (3510, 3590)], CHUNKS[:30]) is FailureLabel.RETRIEVAL_MISS


def test_evidence_says_where_the_chunks_are() -> None:
    failure = label_failure(query((110, 190), (560, 640)), TEXT, ranked(*CHUNKS[:6]), CHUNKS)
    assert failure is not None
    (span,) = failure.failed_spans
    assert (span.span, span.intact) == ((560, 640), False)
    assert span.coverage == 0
    assert span.opening_words.startswith("word word")
    assert [(each.place.span, each.rank) for each in span.chunks] == [((500, 600), 6), ((600, 700), None)]


@pytest.mark.parametrize("gold", [(560, 640), (510, 590), (3510, 3590)])
def test_a_chunk_of_another_document_at_the_same_place_is_no_hit(gold: tuple[int, int]) -> None:
    elsewhere = places(*(tuple(each.span) for each in CHUNKS[:30]), doc_id="b")
    assert label([gold], elsewhere) in (FailureLabel.RETRIEVAL_MISS, FailureLabel.CHUNK_SEVERANCE)
