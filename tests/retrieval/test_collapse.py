"""One place a paper, or every version for itself, and what decides between equals."""

from pathlib import Path
from random import Random

import pytest
from ranked_corpus import EVERYONE, Corpus, RankedIndex, class_of, object_key

from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.search import Leg, LegRank, SearchHit
from knowledge_index.domain.versions import VersionStatus

DRAFT, FINAL, EXECUTED = "M-1/a_draft.txt", "M-1/a_final.txt", "M-1/a_executed.txt"
PAPER = "dms:M-1/a"
# All weights 1, so that a fused score is the sum of 21 / (20 + rank) over the legs, ranks counting passages.
COLLAPSED = RetrievalSettings(
    weight_lexical=1, weight_semantic=1, weight_identifier=1, weight_document=0, fusion="ranks", fusion_rrf_k=20
)
FLAT = COLLAPSED.model_copy(update={"collapse_per_document": False})


def lexical(**scores: float) -> RankedIndex:
    return RankedIndex(text=scores, identifiers={}, vectors={})


def paths(hits: tuple[SearchHit, ...]) -> list[str]:
    return [hit.path for hit in hits]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A paper of three versions: ``shared`` stands in all, ``old`` in the draft, ``new`` in the later two."""
    corpus = Corpus(tmp_path)
    corpus.add(DRAFT, "shared", "old", paper=PAPER, status=VersionStatus.DRAFT, order="0000.0001.0000")
    corpus.add(FINAL, "shared", "new", paper=PAPER, status=VersionStatus.FINAL, order="0002.0000.0000")
    corpus.add(EXECUTED, "shared", "new", paper=PAPER, status=VersionStatus.EXECUTED, order="0003.0000.0000")
    corpus.add("M-1/letter.txt", "letter")
    return corpus


def test_a_paper_takes_one_place_with_its_most_binding_version(corpus: Corpus) -> None:
    hits = corpus.search(lexical(shared=5.0, old=4.0, letter=3.0), COLLAPSED)
    assert paths(hits) == [EXECUTED, "M-1/letter.txt"]
    assert hits[0].passage == f"shared of {EXECUTED}."


def test_a_passage_is_shown_in_a_version_that_holds_it(corpus: Corpus) -> None:
    """The executed version no longer says so: quoting it for the draft's clause would be wrong."""
    (hit,) = corpus.search(lexical(old=5.0), COLLAPSED)
    assert (hit.path, hit.passage, hit.version_status) == (DRAFT, f"old of {DRAFT}.", VersionStatus.DRAFT)


def test_the_most_binding_version_is_chosen_among_those_that_the_caller_sees(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    seen, unseen = class_of(EVERYONE), class_of("user:partner")
    corpus.add(DRAFT, "in class one", acl=seen, paper=PAPER, status=VersionStatus.DRAFT)
    corpus.add(EXECUTED, "in class two", acl=unseen, paper=PAPER, status=VersionStatus.EXECUTED)
    index = lexical(**{"in class one": 1.0, "in class two": 2.0})
    assert paths(corpus.search(index, COLLAPSED)) == [DRAFT]
    assert paths(corpus.search(index, COLLAPSED, caller="user:partner")) == [EXECUTED]


def test_the_latest_of_two_drafts_is_shown(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    for number in (2, 10, 9):
        order = f"0000.{number:04d}.0000"
        corpus.add(f"M-1/a_v{number}.txt", "shared", paper=PAPER, status=VersionStatus.DRAFT, order=order)
    assert paths(corpus.search(lexical(shared=1.0), COLLAPSED)) == ["M-1/a_v10.txt"]


def test_a_paper_may_take_more_places(corpus: Corpus) -> None:
    index = lexical(shared=5.0, letter=4.0, new=3.0, old=2.0)
    settings = COLLAPSED.model_copy(update={"max_chunks_per_document": 2})
    hits = corpus.search(index, settings)
    assert [(hit.path, hit.passage.split()[0]) for hit in hits] == [
        (EXECUTED, "shared"),
        ("M-1/letter.txt", "letter"),
        (EXECUTED, "new"),
    ]
    assert [hit.score for hit in hits] == pytest.approx([1, 21 / 22, 21 / 23])


def test_a_paper_is_as_good_as_its_best_passage(corpus: Corpus) -> None:
    index = RankedIndex(text={"shared": 9, "new": 8, "old": 7, "letter": 6}, identifiers={}, vectors={"letter": 0.9})
    hits = corpus.search(index, COLLAPSED)
    by_path = {hit.path: hit for hit in hits}
    assert by_path["M-1/letter.txt"].legs == (LegRank(Leg.LEXICAL, 4, 6), LegRank(Leg.SEMANTIC, 1, 0.9))
    assert by_path["M-1/letter.txt"].score == pytest.approx(21 / 24 + 1)
    assert by_path[EXECUTED].score == pytest.approx(1)


def test_scores_are_added_as_shares_of_the_best(corpus: Corpus) -> None:
    index = RankedIndex(text={"shared": 8.0, "letter": 6.0}, identifiers={}, vectors={"letter": 0.8, "shared": 0.2})
    hits = corpus.search(index, COLLAPSED.model_copy(update={"fusion": "scores"}))
    assert [(hit.path, hit.score) for hit in hits] == [
        ("M-1/letter.txt", pytest.approx(0.75 + 1)),
        (EXECUTED, pytest.approx(1 + 0.25)),
    ]


def test_the_better_paper_comes_first_when_the_documents_are_weighed(corpus: Corpus) -> None:
    index = RankedIndex(
        text={"shared": 8.0, "letter": 7.0}, identifiers={}, vectors={}, documents={"profile of M-1/letter.txt": 3.0}
    )
    weighed = COLLAPSED.model_copy(update={"fusion": "scores", "weight_document": 0.5})
    hits = corpus.search(index, weighed)
    assert [(hit.path, hit.score) for hit in hits] == [("M-1/letter.txt", pytest.approx(7 / 8 + 0.5)), (EXECUTED, 1.0)]
    assert LegRank(Leg.DOCUMENT, 1, 3.0) in hits[0].legs
    assert paths(corpus.search(index, COLLAPSED)) == [EXECUTED, "M-1/letter.txt"]


def test_flat_every_version_is_a_hit_of_its_own(corpus: Corpus) -> None:
    hits = corpus.search(lexical(shared=5.0, old=4.0), FLAT)
    assert set(paths(hits)[:3]) == {DRAFT, FINAL, EXECUTED}
    assert paths(hits)[3] == DRAFT
    assert all(hit.passage == corpus.text(hit.path)[hit.start_char : hit.end_char] for hit in hits)


def test_equal_scores_are_ordered_by_object_key_alone(tmp_path: Path) -> None:
    names = [f"M-1/paper {number}.txt" for number in range(12)]
    expected = sorted(names, key=object_key)
    assert expected != names
    for seed in range(4):
        order = list(enumerate(names))
        Random(seed).shuffle(order)
        folder = tmp_path / str(seed)
        folder.mkdir()
        corpus = Corpus(folder)
        for _, name in order:
            corpus.add(name, f"row of {name}")
        index = RankedIndex(
            text={f"row of {name}": 1.0 for _, name in order},
            identifiers={},
            vectors={f"row of {name}": 0.5 for _, name in reversed(order)},
        )
        assert paths(corpus.search(index, FLAT)) == expected
        assert paths(corpus.search(index, COLLAPSED)) == expected


def test_status_breaks_a_tie_between_papers_and_moves_nothing_else(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    for name, status in (("x", VersionStatus.DRAFT), ("y", VersionStatus.EXECUTED), ("z", VersionStatus.UNKNOWN)):
        corpus.add(f"M-1/{name}.txt", name, status=status)
    assert paths(corpus.search(lexical(x=3.0, y=2.0, z=1.0), COLLAPSED)) == [*("M-1/x.txt", "M-1/y.txt", "M-1/z.txt")]
    # x first in one leg and second in the other, y the other way round: their fused scores are equal.
    tie = RankedIndex(text={"x": 2.0, "y": 1.0}, identifiers={}, vectors={"x": 0.1, "y": 0.2})
    assert paths(corpus.search(tie, COLLAPSED)) == ["M-1/y.txt", "M-1/x.txt"]


@pytest.mark.parametrize("collapse", [True, False])
def test_the_boost_multiplies_the_score_of_final_and_executed_papers(tmp_path: Path, collapse: bool) -> None:
    corpus = Corpus(tmp_path)
    for name, status in zip("abcd", [*VersionStatus], strict=True):
        corpus.add(f"M-1/{name}.txt", name, status=status)
    settings = (COLLAPSED if collapse else FLAT).model_copy(update={"version_status_boost": 0.5})
    hits = corpus.search(lexical(a=4.0, b=3.0, c=2.0, d=1.0), settings)
    assert {hit.version_status: hit.score for hit in hits} == {
        VersionStatus.DRAFT: pytest.approx(21 / 21),
        VersionStatus.FINAL: pytest.approx(1.5 * 21 / 22),
        VersionStatus.EXECUTED: pytest.approx(1.5 * 21 / 23),
        VersionStatus.UNKNOWN: pytest.approx(21 / 24),
    }
    assert paths(hits) == ["M-1/b.txt", "M-1/c.txt", "M-1/a.txt", "M-1/d.txt"]


def test_the_limit_cuts_the_list_and_changes_nothing_before_the_cut(corpus: Corpus) -> None:
    index = lexical(shared=5.0, letter=4.0, new=3.0, old=2.0)
    for settings in (FLAT, COLLAPSED.model_copy(update={"max_chunks_per_document": 3})):
        whole = corpus.search(index, settings)
        for limit in range(1, len(whole) + 2):
            assert corpus.search(index, settings, limit=limit) == whole[:limit]
