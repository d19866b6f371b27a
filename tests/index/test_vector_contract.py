"""Every vector index keeps the contract of index/base.py."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from brute_force_index import BruteForceVectorIndex, cosine, is_visible
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed.base import EmbeddingSignature
from knowledge_index.index import VectorIndex, VectorRow, open_vector_index

Opener = Callable[[Path], VectorIndex]

SIGNATURE = EmbeddingSignature("tiny", "0" * 64, 4, "mean", 256)


def open_lance(folder: Path) -> VectorIndex:
    return open_vector_index(folder, SIGNATURE)


pytestmark = pytest.mark.parametrize("open_index", [open_lance, BruteForceVectorIndex], ids=["lance", "brute"])

CLASSES = ["class-a", "class-b", "class-'; DROP"]
MATTERS = ["M-2026-0001", "", 'O\'Neil "& Söhne" \\ % _ \n']
EVERYTHING = 1_000_000
NO_FILTER = SearchFilters()


def unit(*values: float) -> np.ndarray:
    vector = np.asarray(values, dtype=np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


# Few directions, so that equal scores are common.
vectors_strategy = st.lists(st.integers(-2, 2), min_size=4, max_size=4).filter(any).map(lambda values: unit(*values))
rows_strategy = st.builds(
    VectorRow,
    row_key=st.sampled_from([f"key'{number}" for number in range(12)]),
    acl_class_id=st.sampled_from(CLASSES),
    matter_ref=st.sampled_from(MATTERS),
    vector=vectors_strategy,
)
operations_strategy = st.lists(
    st.tuples(st.sampled_from(["add", "add", "remove", "compact", "reopen"]), st.lists(rows_strategy, max_size=8)),
    max_size=5,
)


def scope_of(*acl_class_ids: str) -> Scope:
    return Scope(frozenset(), frozenset(acl_class_ids), 0)


def row(key: str, vector: np.ndarray, acl_class_id: str = "class-a", matter: str = "M-1") -> VectorRow:
    return VectorRow(key, acl_class_id, matter, vector)


def keys(found) -> list[str]:  # type: ignore[no-untyped-def]
    return [each.row_key for each in found]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    operations=operations_strategy,
    query=vectors_strategy,
    classes=st.sets(st.sampled_from(CLASSES)),
    matters=st.sets(st.sampled_from(MATTERS)),
    left_out=st.sets(st.sampled_from([f"key'{number}" for number in range(12)]), max_size=3),
    only=st.none() | st.sets(st.sampled_from([f"key'{number}" for number in range(12)])),
    pool=st.integers(1, 6),
)
def test_searches_agree_with_brute_force_after_any_writes(
    open_index, operations, query, classes, matters, left_out, only, pool
):
    scope, filters = (
        scope_of(*classes),
        SearchFilters(frozenset(matters), None if only is None else frozenset(only), frozenset(left_out)),
    )
    with tempfile.TemporaryDirectory() as name:
        index = open_index(Path(name) / "vectors")
        expected: dict[str, VectorRow] = {}
        for operation, rows in operations:
            distinct: dict[str, VectorRow] = {}
            for each in rows:
                distinct.setdefault(each.row_key, each)
            if operation == "add":
                assert index.add(rows) == len(distinct.keys() - expected.keys())
                expected = {**distinct, **expected}
            elif operation == "remove":
                index.remove([*distinct, "unknown"])
                expected = {key: each for key, each in expected.items() if key not in distinct}
            elif operation == "compact":
                index.compact()
            else:
                index = open_index(Path(name) / "vectors")
        assert index.row_keys() == expected.keys()
        assert not index.compare((each.row_key, each.acl_class_id, each.matter_ref) for each in expected.values())

        visible = [each for each in expected.values() if is_visible(each, scope, filters)]
        everything = index.search(query, scope, filters, EVERYTHING)
        assert {each.row_key: each.score for each in everything} == pytest.approx(
            {each.row_key: cosine(each.vector, query) for each in visible}, abs=2e-9
        )
        assert everything == sorted(everything, key=lambda each: (-each.score, each.row_key))
        found = index.search(query, scope, filters, pool)
        assert found == everything[: len(found)]
        assert len(found) >= min(pool, len(everything))
        if len(found) > pool:
            assert found[-1].score == found[pool - 1].score
        if len(found) < len(everything):
            assert everything[len(found)].score < found[-1].score


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(rows_strategy, min_size=2, max_size=12, unique_by=lambda each: each.row_key),
    data=st.data(),
    query=vectors_strategy,
)
def test_results_do_not_depend_on_the_order_of_insertion(open_index, rows, data, query):
    shuffled = data.draw(st.permutations(rows))
    cut_at = data.draw(st.integers(0, len(rows)))
    with tempfile.TemporaryDirectory() as name:
        at_once, in_parts = open_index(Path(name) / "at-once"), open_index(Path(name) / "in-parts")
        at_once.add(rows)
        for part in (shuffled[:cut_at], shuffled[cut_at:]):
            in_parts.add(part)
        for pool in (1, 3, EVERYTHING):
            first, second = (each.search(query, scope_of(*CLASSES), NO_FILTER, pool) for each in (at_once, in_parts))
            assert first == second


def test_an_empty_scope_finds_nothing(open_index, tmp_path):
    index = open_index(tmp_path / "vectors")
    index.add([row("k", unit(1, 0, 0, 0))])
    assert index.search(unit(1, 0, 0, 0), scope_of(), NO_FILTER, 10) == []
    assert index.search(unit(1, 0, 0, 0), scope_of("class-unknown"), NO_FILTER, 10) == []


def test_an_index_that_was_never_written_is_empty(open_index, tmp_path):
    index = open_index(tmp_path / "absent" / "vectors")
    assert index.row_keys() == set()
    assert index.search(unit(1, 0, 0, 0), scope_of("class-a"), NO_FILTER, 10) == []
    assert index.add([]) == 0
    index.remove(["k"])
    index.compact()


def test_the_boundary_keeps_its_whole_tie_group(open_index, tmp_path):
    index = open_index(tmp_path / "vectors")
    index.add([row(f"tied-{number:03}", unit(1, 1, 0, 0)) for number in range(150)])
    index.add([row("better", unit(1, 0, 0, 0)), row("worse", unit(0, 1, 0, 0))])
    found = index.search(unit(1, 0, 0, 0), scope_of("class-a"), NO_FILTER, 2)
    assert keys(found) == ["better", *(f"tied-{number:03}" for number in range(150))]
    assert keys(index.search(unit(1, 0, 0, 0), scope_of("class-a"), NO_FILTER, 1)) == ["better"]


def test_a_key_that_is_present_is_left_alone(open_index, tmp_path):
    index = open_index(tmp_path / "vectors")
    assert index.add([row("k", unit(1, 0, 0, 0)), row("k", unit(0, 1, 0, 0))]) == 1
    assert index.add([row("k", unit(0, 0, 1, 0)), row("l", unit(0, 0, 1, 0))]) == 1
    found = index.search(unit(1, 0, 0, 0), scope_of("class-a"), NO_FILTER, 9)
    assert [(each.row_key, each.score) for each in found] == [("k", 1.0), ("l", 0.0)]


def test_a_second_handle_sees_every_write(open_index, tmp_path):
    writer, reader = open_index(tmp_path / "vectors"), open_index(tmp_path / "vectors")
    assert reader.row_keys() == set()
    for number in range(3):
        writer.add([row(f"k-{number}", unit(1, number, 0, 0))])
        assert len(reader.search(unit(1, 0, 0, 0), scope_of("class-a"), NO_FILTER, 10)) == number + 1
    writer.remove(["k-0"])
    assert reader.row_keys() == {"k-1", "k-2"}
    writer.compact()
    assert keys(reader.search(unit(1, 0, 0, 0), scope_of("class-a"), NO_FILTER, 10)) == ["k-1", "k-2"]


def test_another_process_sees_and_is_seen(open_index, tmp_path):
    index = open_index(tmp_path / "vectors")
    index.add([row("here", unit(1, 0, 0, 0))])
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\n"
        f"from test_vector_contract import {open_index.__name__} as open_index, row, unit\n"
        f"index = open_index(Path({str(tmp_path / 'vectors')!r}))\n"
        "assert index.row_keys() == {'here'}\n"
        "index.add([row('there', unit(1, 0, 0, 0))])\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert keys(index.search(unit(1, 0, 0, 0), scope_of("class-a"), NO_FILTER, 10)) == ["here", "there"]
