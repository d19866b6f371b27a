"""Every lexical index keeps the contract of index/base.py."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from brute_force_index import BruteForceLexicalIndex, is_visible, words
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import LexicalIndex, LexicalRow, open_lexical_index

Opener = Callable[[Path], LexicalIndex]

pytestmark = pytest.mark.parametrize(
    "open_index", [open_lexical_index, BruteForceLexicalIndex], ids=["compartments", "brute"]
)

# Words that no analysis changes or drops, so that set arithmetic says what a query finds.
WORDS = ["lease", "rent", "tenant", "harbour", "2019", "12", "zürich"]
CLASSES = ["class-a", "class-b", "class-c"]
MATTERS = ["M-2026-0001", "", 'O\'Neil "& Söhne" \\ %']
IDENTIFIERS = ["file:3 O 12/24", "amount:EUR 1.000,00", "date:2024-01-01"]
EVERYTHING = 1_000_000
NO_FILTER = SearchFilters()

rows_strategy = st.builds(
    LexicalRow,
    row_key=st.sampled_from([f"key-{number}" for number in range(12)]),
    acl_class_id=st.sampled_from(CLASSES),
    matter_ref=st.sampled_from(MATTERS),
    text=st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    identifiers=st.lists(st.sampled_from(IDENTIFIERS), max_size=3).map(tuple),
)
operations_strategy = st.lists(
    st.tuples(st.sampled_from(["add", "add", "remove", "rebuild", "reopen"]), st.lists(rows_strategy, max_size=8)),
    max_size=5,
)


def scope_of(*acl_class_ids: str) -> Scope:
    return Scope(frozenset(), frozenset(acl_class_ids), 0)


def row(key: str, text: str, acl_class_id: str = "class-a", matter: str = "M-1", *identifiers: str) -> LexicalRow:
    return LexicalRow(key, acl_class_id, matter, text, identifiers)


def keys(found) -> list[str]:  # type: ignore[no-untyped-def]
    return [each.row_key for each in found]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    operations=operations_strategy,
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    classes=st.sets(st.sampled_from(CLASSES)),
    matters=st.sets(st.sampled_from(MATTERS)),
    identifiers=st.sets(st.sampled_from(IDENTIFIERS)),
    left_out=st.sets(st.sampled_from([f"key-{number}" for number in range(12)]), max_size=3),
    only=st.none() | st.sets(st.sampled_from([f"key-{number}" for number in range(12)])),
    pool=st.integers(1, 6),
)
def test_searches_agree_with_set_arithmetic_after_any_writes(
    open_index, operations, query, classes, matters, identifiers, left_out, only, pool
):
    scope, filters = (
        scope_of(*classes),
        SearchFilters(frozenset(matters), None if only is None else frozenset(only), frozenset(left_out)),
    )
    with tempfile.TemporaryDirectory() as name:
        index = open_index(Path(name) / "lexical")
        expected: dict[str, LexicalRow] = {}
        for operation, rows in operations:
            distinct: dict[str, LexicalRow] = {}
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
                index = open_index(Path(name) / "lexical")
        assert index.row_keys() == expected.keys()
        assert not index.compare(expected.values())

        visible = [each for each in expected.values() if is_visible(each, scope, filters)]
        found = index.search_text(query, scope, filters, EVERYTHING)
        assert set(keys(found)) == {each.row_key for each in visible if words(query) & words(each.text)}
        found_pool = index.search_text(query, scope, filters, pool)
        assert_cut_at_a_strict_drop(found, found_pool, pool)

        found = index.search_identifiers(identifiers, scope, filters, EVERYTHING)
        assert set(keys(found)) == {each.row_key for each in visible if identifiers & set(each.identifiers)}
        assert_cut_at_a_strict_drop(found, index.search_identifiers(identifiers, scope, filters, pool), pool)


def assert_cut_at_a_strict_drop(everything, found, pool):
    assert everything == sorted(everything, key=lambda each: (-each.score, each.row_key))
    assert found == everything[: len(found)]
    assert len(found) >= min(pool, len(everything))
    if len(found) > pool:
        assert found[-1].score == found[pool - 1].score
    if len(found) < len(everything):
        assert everything[len(found)].score < found[-1].score


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(rows_strategy, min_size=2, max_size=12, unique_by=lambda each: each.row_key),
    data=st.data(),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
)
def test_results_do_not_depend_on_the_order_of_insertion(open_index, rows, data, query):
    shuffled = data.draw(st.permutations(rows))
    cut_at = data.draw(st.integers(0, len(rows)))
    with tempfile.TemporaryDirectory() as name:
        at_once, in_parts = open_index(Path(name) / "at-once"), open_index(Path(name) / "in-parts")
        at_once.rebuild(rows)
        for part in (shuffled[:cut_at], shuffled[cut_at:-1], shuffled[-1:]):
            in_parts.add(part)
        for pool in (1, 3, EVERYTHING):
            first, second = (
                each.search_text(query, scope_of(*CLASSES), NO_FILTER, pool) for each in (at_once, in_parts)
            )
            assert first == second


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60))
def test_any_query_is_taken_and_stays_inside_the_scope(open_index, tmp_path, query):
    index = open_index(tmp_path / "lexical")
    index.add([row("mine", "lease 12 rent"), row("theirs", "lease 12 rent", "class-b")])
    assert set(keys(index.search_text(query, scope_of("class-a"), NO_FILTER, 5))) <= {"mine"}
    assert index.search_identifiers([query], scope_of("class-a"), NO_FILTER, 5) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Az.: 3 O 12/24", {"reference"}),
        ('36"', {"inches"}),
        ("OR", {"logic"}),
        ("tenant AND NOT rent", {"rent"}),
        ("(", set()),
        ("*", set()),
        ("text:rent", {"rent"}),
        ("rent^5 ~ [x TO y] \\", {"rent"}),
        ("\N{PILE OF POO}", set()),
        ("\ud800", set()),
        ("\x00", set()),
        ("", set()),
        (" \t\n", set()),
        ("rent " + "x" * 100_000, {"rent"}),
        ("rent " * 20_000, {"rent"}),
        (" ".join(f"w{number}" for number in range(15_000)) + " rent", {"rent"}),
    ],
)
def test_no_character_of_a_query_is_syntax(open_index, tmp_path, query, expected):
    index = open_index(tmp_path / "lexical")
    index.add(
        [
            row("reference", "Az.: 3 O 12/24 vor dem Gericht"),
            row("inches", "a pipe of 36 inches"),
            row("logic", "whether or"),
            row("rent", "monthly rent"),
        ]
    )
    found = keys(index.search_text(query, scope_of("class-a"), NO_FILTER, 10))
    assert set(found) == expected


def test_an_empty_scope_finds_nothing(open_index, tmp_path):
    index = open_index(tmp_path / "lexical")
    index.add([row("k", "rent", "class-a", "M-1", "file:1")])
    assert index.search_text("rent", scope_of(), NO_FILTER, 10) == []
    assert index.search_identifiers(["file:1"], scope_of(), NO_FILTER, 10) == []
    assert index.search_text("rent", scope_of("class-unknown"), NO_FILTER, 10) == []


def test_an_index_that_was_never_written_is_empty(open_index, tmp_path):
    index = open_index(tmp_path / "absent" / "lexical")
    assert index.row_keys() == set()
    assert index.search_text("rent", scope_of("class-a"), NO_FILTER, 10) == []
    assert index.search_identifiers(["file:1"], scope_of("class-a"), NO_FILTER, 10) == []
    assert index.add([]) == 0


def test_the_boundary_keeps_its_whole_tie_group(open_index, tmp_path):
    index = open_index(tmp_path / "lexical")
    index.add([row(f"tied-{number:03}", "rent harbour", "class-a", "M-1", "file:1") for number in range(150)])
    index.add([row("better", "rent rent harbour tenant", "class-a", "M-1", "file:1", "file:2")])
    found = index.search_text("rent tenant", scope_of("class-a"), NO_FILTER, 2)
    assert keys(found) == ["better", *(f"tied-{number:03}" for number in range(150))]
    assert keys(index.search_text("rent tenant", scope_of("class-a"), NO_FILTER, 1)) == ["better"]
    assert len(index.search_identifiers(["file:1", "file:2"], scope_of("class-a"), NO_FILTER, 2)) == 151


def test_a_key_that_is_present_is_left_alone(open_index, tmp_path):
    index = open_index(tmp_path / "lexical")
    assert index.add([row("k", "rent"), row("k", "tenant")]) == 1
    assert index.add([row("k", "harbour"), row("l", "harbour")]) == 1
    assert keys(index.search_text("rent tenant harbour", scope_of("class-a"), NO_FILTER, 9)) == ["k", "l"]
    assert keys(index.search_text("rent", scope_of("class-a"), NO_FILTER, 9)) == ["k"]


def test_a_second_handle_sees_every_write(open_index, tmp_path):
    writer, reader = open_index(tmp_path / "lexical"), open_index(tmp_path / "lexical")
    assert reader.row_keys() == set()
    for number in range(4):
        writer.add([row(f"added-{number}", "rent")])
        assert len(reader.search_text("rent", scope_of("class-a"), NO_FILTER, 10)) == number + 1
    for number in range(3):
        writer.rebuild([row(f"rebuilt-{number}", "rent")])
        assert keys(reader.search_text("rent", scope_of("class-a"), NO_FILTER, 10)) == [f"rebuilt-{number}"]
        writer.add([row("later", "rent")])
        assert reader.row_keys() == {f"rebuilt-{number}", "later"}


def test_another_process_sees_and_is_seen(open_index, tmp_path):
    index = open_index(tmp_path / "lexical")
    index.add([row("here", "rent")])
    module, name = open_index.__module__, open_index.__name__
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\n"
        f"from {module} import {name} as open_index\n"
        "from knowledge_index.index import LexicalRow\n"
        f"index = open_index(Path({str(tmp_path / 'lexical')!r}))\n"
        "assert index.row_keys() == {'here'}\n"
        "index.add([LexicalRow('there', 'class-a', 'M-1', 'rent', ())])\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert keys(index.search_text("rent", scope_of("class-a"), NO_FILTER, 10)) == ["here", "there"]


def test_a_rebuild_that_fails_leaves_the_old_content(open_index, tmp_path):
    index = open_index(tmp_path / "lexical")
    index.add([row("old", "rent")])

    def broken():
        yield row("new", "rent")
        raise RuntimeError("the catalog went away")

    with pytest.raises(RuntimeError, match="went away"):
        index.rebuild(broken())
    assert index.row_keys() == {"old"}
    index.add([row("newer", "rent")])
    assert open_index(tmp_path / "lexical").row_keys() == {"old", "newer"}
