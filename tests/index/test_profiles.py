"""The profile index keeps the contract of index/base.py."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import open_profile_index
from knowledge_index.index.base import OPENING_CHARS, ProfileIndex, ProfileMatches, ProfileRow
from knowledge_index.index.profiles import name_terms

# Words that no analysis changes or drops.
WORDS = ["charter", "rent", "tenant", "harbour", "2019", "quay"]
CLASSES = ["class-a", "class-b", "class-c"]
MATTERS = ["M-1", "M-2"]
KEYS = [f"key-{number}" for number in range(10)]
EVERYTHING = 1_000_000
NO_FILTER = SearchFilters()

texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
rows_strategy = st.builds(
    ProfileRow,
    row_key=st.sampled_from(KEYS),
    acl_class_id=st.sampled_from(CLASSES),
    matter_ref=st.sampled_from(MATTERS),
    names=texts,
    text=texts,
)


def scope_of(*acl_class_ids: str) -> Scope:
    return Scope(frozenset(), frozenset(acl_class_ids), 0)


def row(key: str, names: str, text: str, acl_class_id: str = "class-a", matter: str = "M-1") -> ProfileRow:
    return ProfileRow(key, acl_class_id, matter, names, text)


def keys(found: ProfileMatches) -> list[str]:
    return [each.row_key for each in found.rows]


@pytest.fixture
def index(tmp_path: Path) -> ProfileIndex:
    return open_profile_index(tmp_path / "profiles")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    operations=st.lists(
        st.tuples(st.sampled_from(["add", "add", "remove", "rebuild", "reopen"]), st.lists(rows_strategy, max_size=8)),
        max_size=5,
    ),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    classes=st.sets(st.sampled_from(CLASSES)),
    matters=st.sets(st.sampled_from(MATTERS)),
    left_out=st.sets(st.sampled_from(KEYS), max_size=3),
)
def test_searches_agree_with_set_arithmetic_after_any_writes(operations, query, classes, matters, left_out):  # type: ignore[no-untyped-def]
    scope = scope_of(*classes)
    filters = SearchFilters(frozenset(matters), None, frozenset(left_out))
    with tempfile.TemporaryDirectory() as name:
        index = open_profile_index(Path(name) / "profiles")
        expected: dict[str, ProfileRow] = {}
        for operation, rows in operations:
            distinct: dict[str, ProfileRow] = {}
            for each in rows:
                distinct.setdefault(each.row_key, each)
            if operation == "add":
                assert index.add(rows) == len(distinct.keys() - expected.keys())
                expected = {**distinct, **expected}
            elif operation == "remove":
                index.remove([*distinct, "unknown"])
                expected = {key: each for key, each in expected.items() if key not in distinct}
            elif operation == "rebuild":
                index.rebuild(iter(distinct.values()))
                expected = distinct
            else:
                index = open_profile_index(Path(name) / "profiles")
        assert index.row_keys() == expected.keys()
        assert not index.compare(expected.values())

        found = index.search(query, scope, filters, EVERYTHING)
        counted = [each for each in expected.values() if each.acl_class_id in classes and each.row_key not in left_out]
        asked = set(query.split())
        in_matter = [each for each in counted if not matters or each.matter_ref in matters]
        assert set(keys(found)) == {
            each.row_key for each in in_matter if asked & {*each.names.split(), *each.text.split()}
        }
        assert list(found.rows) == sorted(found.rows, key=lambda each: (-each.score, each.row_key))
        if classes:
            # A matter narrows what is ranked; how common a word is, all visible documents say.
            assert found.documents == len(counted)
            assert found.share_of == {
                word: pytest.approx(
                    sum(word in {*each.names.split(), *each.text.split()} for each in counted) / max(1, len(counted))
                )
                for word in asked
            }


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(rows_strategy, min_size=1, max_size=10, unique_by=lambda each: each.row_key),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    pool=st.sampled_from([1, 3, EVERYTHING]),
)
def test_documents_that_are_hidden_change_nothing(rows, query, pool):  # type: ignore[no-untyped-def]
    """Neither those of other classes, nor those that are left out, nor those that were there once."""
    scope = scope_of("class-a")
    gone = [each.row_key for each in rows if each.matter_ref == "M-2" and each.acl_class_id == "class-a"]
    with tempfile.TemporaryDirectory() as name:
        alone, among, after = (open_profile_index(Path(name) / each) for each in ("alone", "among", "after"))
        alone.rebuild(each for each in rows if each.acl_class_id == "class-a" and each.row_key not in gone)
        among.add(rows)
        after.add(rows)
        after.remove(gone)
        expected = alone.search(query, scope, NO_FILTER, pool)
        assert among.search(query, scope, SearchFilters(excluded_row_keys=frozenset(gone)), pool) == expected
        assert after.search(query, scope, NO_FILTER, pool) == expected


def test_an_empty_scope_finds_and_counts_nothing(index: ProfileIndex) -> None:
    index.add([row("k", "Lease", "rent")])
    found = index.search("lease rent", scope_of(), NO_FILTER, 10)
    assert (found.rows, found.documents) == ((), 0)
    assert not any(found.share_of.values())


def test_a_name_counts_more_than_the_opening_and_the_opening_more_than_the_rest(index: ProfileIndex) -> None:
    filler = "tenant " * OPENING_CHARS
    index.add(
        [
            row("named", "Nordkai lease", "rent"),
            row("opened", "lease", f"between Nordkai and others {filler}"),
            row("told", "lease", f"{filler} as Nordkai wants it"),
            row("other", "lease", "harbour"),
        ]
    )
    found = index.search("Nordkai", scope_of("class-a"), NO_FILTER, 10)
    assert keys(found) == ["named", "opened"]
    assert found.rows[1].score == pytest.approx(0.6 * found.rows[0].score, abs=1e-8)
    assert found.share_of == {"nordkai": pytest.approx(3 / 4)}


def test_a_rare_word_names_a_paper_more_than_a_common_one(index: ProfileIndex) -> None:
    index.add([row(f"lease-{number}", f"Lease {number}", "rent") for number in range(5)])
    index.add([row("nordkai", "Nordkai", "quay")])
    found = index.search("the Nordkai lease", scope_of("class-a"), NO_FILTER, 10)
    assert keys(found)[0] == "nordkai"
    assert "the" not in found.share_of


def test_words_written_together_are_found_apart_and_together() -> None:
    assert {"copacc", "cop", "acc", "nda", "topmentor", "mentor"} <= name_terms("CopAcc_NDA-ToPMentors")
    assert {"master", "lease"} & name_terms("Master%20Charter") == {"master"}


def test_the_boundary_keeps_its_whole_tie_group(index: ProfileIndex) -> None:
    index.add([row(f"tied-{number:03}", "rent", "x") for number in range(50)])
    assert len(keys(index.search("rent", scope_of("class-a"), NO_FILTER, 2))) == 50
