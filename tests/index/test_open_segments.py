"""What is kept open of segments, and what is let go of."""

import gc
import weakref

import pytest

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import LexicalRow, open_lexical_index
from knowledge_index.index.compartments import CompartmentedLexicalIndex

CLASSES = ("class-a", "class-b", "class-c")
SCOPE = Scope(frozenset(), frozenset(CLASSES), 0)
NO_FILTER = SearchFilters()


def row(key: str, acl_class_id: str, text: str) -> LexicalRow:
    return LexicalRow(key, acl_class_id, "M-1", text, ())


@pytest.fixture
def index(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([row(f"{each}-{number}", each, "rent due " * (number + 1)) for each in CLASSES for number in range(4)])
    return index


def searched(index: CompartmentedLexicalIndex):  # type: ignore[no-untyped-def]
    return index.search_text("rent due", SCOPE, NO_FILTER, 5)


def test_a_small_scope_is_merged_after_what_one_search_asks_for_and_answers_alike(index):
    visible = [index._visible(SCOPE) for _ in range(6)]
    assert [len(segments) for segments in visible] == [3, 3, 3, 3, 1, 1]
    assert visible[4][0] is visible[5][0]
    fresh = open_lexical_index(index._folder)
    assert searched(index) == searched(fresh)
    assert searched(index)


def test_a_large_scope_of_few_segments_is_never_merged(index, monkeypatch):
    monkeypatch.setattr("knowledge_index.index.open_segments._MAX_SMALL_SCOPE_ROWS", 11)
    assert {len(index._visible(SCOPE)) for _ in range(9)} == {3}


@pytest.mark.parametrize("by_another", [False, True])
def test_segments_that_are_no_longer_in_force_are_let_go_of(index, by_another):
    for _ in range(6):
        searched(index)
    held = [weakref.ref(index._visible(SCOPE)[0])]
    held += [weakref.ref(each) for each in index._segments._open.values()]
    assert len(held) == 4
    writer = open_lexical_index(index._folder) if by_another else index
    writer.rebuild([row("new", "class-a", "rent due")])
    assert [each.row_key for each in searched(index)] == ["new"]
    gc.collect()
    assert [each() for each in held] == [None] * 4


def test_what_is_removed_is_found_no_more_by_a_scope_that_was_merged(index):
    for _ in range(6):
        before = searched(index)
    open_lexical_index(index._folder).remove([before[0].row_key])
    assert before[0].row_key not in {each.row_key for each in searched(index)}


def test_only_so_many_merged_scopes_are_kept(index, monkeypatch):
    monkeypatch.setattr("knowledge_index.index.open_segments._MAX_MERGED_SMALL_SCOPES", 1)
    other = Scope(frozenset(), frozenset(CLASSES[:2]), 0)
    for scope in (SCOPE, other):
        for _ in range(5):
            merged = index._visible(scope)
        assert len(merged) == 1
    assert len(index._visible(SCOPE)) == 3
