import unicodedata

from evaluation_fakes import gold_query, hit
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.benchmark.rankings import group_id, group_ranks, rank_hits


def test_a_later_hit_of_a_group_takes_a_place_and_is_numbered() -> None:
    query = gold_query("q", ("a", "a-final"), ("b",))
    group_a, group_b = map(group_id, query.groups)
    ranking = rank_hits(query, [hit("a-final"), hit("x"), hit("a"), hit("x"), hit("a"), hit("b")])
    outside = ranking.hits[1].document_id
    assert [each.document_id for each in ranking.hits] == [
        group_a,
        outside,
        f"{group_a}#2",
        f"{outside}#2",
        f"{group_a}#3",
        group_b,
    ]
    assert group_ranks(query, ranking) == [1, 6]


def test_a_group_that_was_not_found_has_no_rank() -> None:
    query = gold_query("q", ("a",), ("b",))
    assert group_ranks(query, rank_hits(query, [hit("b")])) == [None, 1]
    assert group_ranks(query, rank_hits(query, [])) == [None, None]


def test_the_same_path_of_two_sources_outside_the_gold_is_two_documents() -> None:
    ranking = rank_hits(gold_query("q", ("a",)), [hit("x", source="one"), hit("x", source="two")])
    assert "#" not in "".join(each.document_id for each in ranking.hits)
    assert len({each.document_id for each in ranking.hits}) == 2


def test_umlauts_spelt_either_way_name_one_path() -> None:
    query = gold_query("q", (unicodedata.normalize("NFD", "Mandate/Verträge/Übergabe.docx"),))
    assert group_ranks(query, rank_hits(query, [hit("Mandate/Verträge/Übergabe.docx")])) == [1]


@given(st.lists(st.sampled_from(["a", "a2", "b", "x y", "z"])))
def test_every_hit_keeps_its_place_under_an_id_of_its_own_without_blanks(paths: list[str]) -> None:
    query = gold_query("q", ("a", "a2"), ("b",))
    ranking = rank_hits(query, [hit(path) for path in paths])
    ids = [each.document_id for each in ranking.hits]
    assert [each.path for each in ranking.hits] == paths
    assert len(set(ids)) == len(ids)
    assert all(each.split() == [each] for each in ids)
    firsts = [
        min((paths.index(path) + 1 for path in group.paths if path in paths), default=None) for group in query.groups
    ]
    assert group_ranks(query, ranking) == firsts
