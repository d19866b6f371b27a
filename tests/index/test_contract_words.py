"""Rows of contracts at large, counted beside those that a caller may see."""

from math import log

import pytest

from knowledge_index.domain.search import SearchFilters
from knowledge_index.index.analysis import query_terms
from knowledge_index.index.base import Expansion, LexicalRow, ScoredRow
from knowledge_index.index.bm25 import PooledSegments
from knowledge_index.index.contract_words import contract_rows
from knowledge_index.index.segment import build_segment

TEXTS = {
    "name": "Nordwind Nordwind renewal",
    "boilerplate": "agreement agreement renewal",
    "both": "Nordwind agreement hereby",
    "neither": "lamps chairs tables",
}
K1, B = 1.2, 0.75


def searched(query: str, rows: int) -> dict[str, float]:
    segment = build_segment([LexicalRow(key, "class", "M-1", text, ()) for key, text in TEXTS.items()])
    expansion = Expansion((), 0.0, contract_rows=rows)
    found: list[ScoredRow] = PooledSegments([segment], ()).search_text(
        query_terms(query), SearchFilters(), 10, expansion
    )
    return {row.row_key: row.score for row in found}


def shares(*words: str) -> list[float]:
    """Of 1,000,000 rows, in what share each word's stem stands."""
    return [contract_rows([["agreement"], [word]], 1_000_000).holding(word) / 1_000_000 for word in words]


def test_what_every_contract_says_is_common_and_what_few_say_is_rare() -> None:
    agreement, indemnify, abide = shares("agreement", "indemnifi", "abid")
    assert 1 > agreement > 0.3 > indemnify > abide > 0.001


def test_a_word_that_is_in_no_table_is_rarer_than_any_that_is() -> None:
    name, *listed = shares("nordwind", "abid", "abandon", "zone")
    assert name < min(listed) / 10


def test_a_word_is_as_rare_as_visible_rows_and_contracts_together_say() -> None:
    """BM25 as published, worked out here; all rows have three words, so that lengths do not enter."""
    (agreement, nordwind), rows = shares("agreement", "nordwind"), 1000

    def idf(visible: int, share: float) -> float:
        holding = visible + rows * share
        return log(1 + (len(TEXTS) + rows - holding + 0.5) / (holding + 0.5))

    def counted(times: int) -> float:
        return (K1 + 1) * times / (times + K1)

    found = searched("nordwind's agreement, please", rows)
    assert found == pytest.approx(
        {
            "name": idf(2, nordwind) * counted(2),
            "boilerplate": idf(2, agreement) * counted(2),
            "both": (idf(2, nordwind) + idf(2, agreement)) * counted(1),
        },
        abs=1e-9,
    )


def test_a_name_that_few_visible_matters_repeat_outweighs_what_every_contract_says() -> None:
    """In these four rows the two are equally common; nowhere else are they."""
    alone = searched("agreement nordwind", 0)
    assert alone["name"] == alone["boilerplate"]
    beside = searched("agreement nordwind", 1000)
    assert beside["name"] > 4 * beside["boilerplate"]


@pytest.mark.parametrize(
    "query",
    [
        "Nordwind",
        "Nordwind Kraftwerk Zweite Verwaltung agreement",
        "Welche Frist gilt für die Kündigung des Vertrags mit Nordwind",
        "17 Ca 402/25",
        "§ 433 Abs. 1 S. 2",
    ],
)
def test_of_a_name_a_reference_or_a_german_question_the_table_says_nothing(query: str) -> None:
    assert searched(query, 10_000) == searched(query, 0)
