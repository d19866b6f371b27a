"""What each mechanism is worth on the span sets: the table, and searches under other knobs over one index."""

import importlib.util
import sys
from pathlib import Path

from span_sets import small_workshop

from knowledge_index.benchmark.presets import PresetName
from knowledge_index.benchmark.spans.configurations import SCOPED_CONFIGURATIONS, select_configurations
from knowledge_index.config import RetrievalSettings

_FILE = Path(__file__).resolve().parents[3] / "benchmarks" / "span_ablations.py"
_SPEC = importlib.util.spec_from_file_location("span_ablations", _FILE)
span_ablations = importlib.util.module_from_spec(_SPEC)
sys.modules["span_ablations"] = span_ablations
_SPEC.loader.exec_module(span_ablations)

CLUSTERS = [f"d{number}" for number in range(20)]


def cells(full: list[float], **others: list[float]) -> dict[str, str]:
    """The cell of each preset in a table of one metric."""
    values = {PresetName.FULL: {"MRR": full}, **{PresetName(name): {"MRR": each} for name, each in others.items()}}
    rows = span_ablations.comparison_rows(values, CLUSTERS, 3)
    assert rows[0].split(" | ")[1].removesuffix(" |") == f"MRR {sum(full) / len(full):.3f}"
    return {row.split("`")[1]: row.split(" | ")[1].removesuffix(" |") for row in rows[2:]}


def test_a_loss_in_every_question_is_told_with_its_sign_and_resolved() -> None:
    found = cells([0.75] * 20, no_lexical=[0.5] * 20, no_german=[0.75] * 20)
    # Of 10,000 resamples none lies at 0 or above: 2 * 1 / 10,001, times the 2 of the family.
    assert found["no_lexical"] == "-0.250 (-0.250 to -0.250), p 0.0004"
    assert found["no_german"] == "+0.000 (+0.000 to +0.000), not resolvable"


def test_one_better_question_of_twenty_is_not_resolvable() -> None:
    found = cells([0.5] * 20, no_clauses=[1.0, *[0.5] * 19])
    assert found["no_clauses"].startswith("+0.025 (+0.000 to ")
    assert found["no_clauses"].endswith("not resolvable")


def test_an_interval_that_leaves_0_out_is_not_enough_where_the_family_is_large() -> None:
    # Five of twenty lose: alone that is resolved, among eleven it is not.
    some = [*[0.0] * 5, *[0.5] * 15]
    alone = cells([0.5] * 20, no_exact=some)
    names = [name for name in PresetName if name.startswith("no_")]
    family = cells([0.5] * 20, **{name: some if name is PresetName.NO_EXACT else [0.5] * 20 for name in names})
    assert alone["no_exact"].split(", ")[1].startswith("p ")
    assert family["no_exact"].split(", ")[0] == alone["no_exact"].split(", ")[0]
    assert family["no_exact"].endswith("not resolvable")


def test_other_knobs_search_the_same_index(tmp_path: Path) -> None:
    (full,) = select_configurations(SCOPED_CONFIGURATIONS, ["full"])
    with small_workshop(tmp_path) as (eval_set, workshop), workshop.ranker(full) as ranker:
        asked = eval_set.queries[0]
        own = frozenset({asked.doc_id})
        shipped = workshop.config.retrieval
        by_words = RetrievalSettings.model_validate(
            {"weight_semantic": 0.0, "weight_document": 0.0, "clause_library": False}
        )
        assert ranker.rank_under(shipped, asked.query, own, 30) == ranker.rank(asked.query, own, 30)
        found = ranker.rank_under(by_words, asked.query, own, 30)
        every = {each.place for each in ranker.rank(asked.query, own, 30)}
        assert {each.place for each in found} <= every
        assert [each.score for each in found] != [each.score for each in ranker.rank(asked.query, own, 30)]
