"""The German papers and questions: that the set is what it says, and that its questions find their papers."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

from fake_embedder import FakeEmbedder
from knowledge_index.benchmark.presets import PresetName, preset
from knowledge_index.catalog import open_catalog
from knowledge_index.config import AppConfig, RetrievalSettings
from knowledge_index.embed import build_embedder
from knowledge_index.retrieval import open_retrieval

_FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "german_set.py"
_SPEC = importlib.util.spec_from_file_location("german_set", _FILE)
german_set = importlib.util.module_from_spec(_SPEC)
sys.modules["german_set"] = german_set
_SPEC.loader.exec_module(german_set)

# No model: words, identifiers and document choice alone.
WITHOUT_MODEL = RetrievalSettings.model_validate({"weight_semantic": 0.0, "clause_library": False})


def successes(home, embedder, settings):
    """Success at 5 on the questions for development and on those held back."""
    questions = german_set.read_questions()
    catalog = open_catalog(home.catalog_file)
    try:
        service = open_retrieval(home, catalog, AppConfig(), embedder)
        places = german_set.ranks(service, catalog, settings, questions)
    finally:
        catalog.close()
    halves = [
        [place for place, each in zip(places, questions, strict=True) if each.held_back is held_back]
        for held_back in (False, True)
    ]
    return [german_set.success(half) for half in halves]


def test_the_set_has_the_papers_and_questions_that_it_promises():
    papers, questions = german_set.read_papers(), german_set.read_questions()
    assert len(papers) >= 40
    assert len(questions) >= 60
    assert len({each.query for each in questions}) == len(questions)
    assert sum(each.held_back for each in questions) == len(questions) // 2
    for each in questions:
        for part in each.documents:
            assert any(part in path for path in papers), part
    templates = Counter(path.rsplit("/", 1)[1].split(" ")[0] for path in papers)
    assert templates.most_common(1)[0][1] >= 3


def test_no_compound_question_has_its_papers_own_words_alone():
    papers = german_set.read_papers()
    compounds = [each for each in german_set.read_questions() if each.kind == "compound"]
    told_otherwise = [
        each
        for each in compounds
        if any(
            len(word) > 4 and not any(word in text for path, text in papers.items() if each.documents[0] in path)
            for word in each.query.replace(",", "").replace(":", "").split()
        )
    ]
    assert len(told_otherwise) >= 0.9 * len(compounds)


def test_without_a_model_the_right_paper_is_among_the_first_five_and_compounds_help(tmp_path):
    embedder = FakeEmbedder()
    home = german_set.ingest(tmp_path, embedder)
    with_german = successes(home, embedder, WITHOUT_MODEL)
    without = successes(home, embedder, preset(PresetName.NO_GERMAN, WITHOUT_MODEL))
    assert min(with_german) >= 0.9
    assert sum(with_german) > sum(without)


@pytest.mark.slow
def test_with_the_default_settings_the_right_paper_is_among_the_first_five(tmp_path):
    embedder = build_embedder(AppConfig().embedding)
    home = german_set.ingest(tmp_path, embedder)
    assert min(successes(home, embedder, AppConfig().retrieval)) >= 0.9
