from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from catalog_builder import Builder, rolled_back, seen_by
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.passage_records import ChunkRecord, IndexRowRecord, RowKind
from knowledge_index.catalog.records import ObjectState
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.versions import VersionStatus

CLASSES = [seen_by("group:a"), seen_by("group:b"), seen_by("group:a", "group:b"), seen_by()]
CALLER = frozenset({Principal.parse("group:a")})
TEXT = "0123456789" * 3


def scope_of(*acl_class_ids: str) -> Scope:
    return Scope(CALLER, frozenset(acl_class_ids), 0)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path_factory.mktemp("passages") / "catalog.sqlite")
    yield catalog
    catalog.close()


@dataclass(frozen=True)
class Placement:
    """Where one object lies and what stands in it.

    ``rows`` may name rows of a class that is not the object's: after a wall went up and before the next run.
    """

    acl_class: int
    state: ObjectState
    has_text: bool
    rows: tuple[int, ...]


placements = st.builds(
    Placement,
    st.integers(0, len(CLASSES) - 1),
    st.sampled_from([ObjectState.CURRENT, ObjectState.CURRENT, ObjectState.SUPERSEDED, ObjectState.TOMBSTONED]),
    st.sampled_from([True, True, True, False]),
    st.lists(st.integers(0, 5), max_size=4).map(tuple),
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(placements, max_size=6),
    st.frozensets(st.integers(0, 6), max_size=7),
    st.frozensets(st.integers(0, len(CLASSES) - 1)),
)
def test_occurrences_are_those_of_current_objects_in_the_scope(
    catalog: Catalog, placed: list[Placement], asked: frozenset[int], visible: frozenset[int]
) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        expected = set()
        for number, each in enumerate(placed):
            object_id = builder.object(f"{number}.txt", CLASSES[each.acl_class])
            builder.convert(object_id, TEXT)
            chunks = [ChunkRecord(f"row {row}", ordinal, ordinal + 5, "") for ordinal, row in enumerate(each.rows)]
            # Rows belong to the class that wrote them first, whatever class the object has now.
            builder.index(object_id, chunks, CLASSES[0])
            if not each.has_text:
                builder.quarantine(object_id)
            if each.state is not ObjectState.CURRENT:
                builder.end(object_id, each.state)
            if each.state is ObjectState.CURRENT and each.has_text and each.acl_class in visible:
                expected |= {
                    (object_id, ordinal, f"row {row}") for ordinal, row in enumerate(each.rows) if row in asked
                }
        scope = scope_of(*(CLASSES[each].id for each in visible))
        found = session.occurrences.of_rows([f"row {row}" for row in asked], scope)
        assert len(found) == len(expected)
        assert {(each.object_id, each.start_char, each.row_key) for each in found} == expected
        again = session.occurrences.of_rows([f"row {row}" for row in sorted(asked, reverse=True)], scope)
        assert again == found
        for number, each in enumerate(placed):
            for ordinal, row in enumerate(each.rows):
                span = session.occurrences.at_span(f"key of dms {number}.txt", ordinal, ordinal + 5, scope)
                visible_here = each.state is ObjectState.CURRENT and each.has_text and each.acl_class in visible
                assert (span.row_key if span else None) == (f"row {row}" if visible_here else None)


def test_an_empty_scope_is_nothing_never_everything(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.indexed("a.txt", CLASSES[0])
        key = f"row {CLASSES[0].id} a.txt"
        assert len(session.occurrences.of_rows([key], scope_of(CLASSES[0].id))) == 1
        assert session.occurrences.of_rows([key], scope_of()) == []
        assert session.occurrences.at_span("key of dms a.txt", 0, 4, scope_of()) is None


def test_a_wall_holds_from_the_sync_on_without_a_run(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.indexed("a.txt", CLASSES[0])
        session.acl_classes.put(CLASSES[1])
        session.objects.set_acl_class(object_id, CLASSES[1].id)
        assert session.occurrences.of_rows([f"row {CLASSES[0].id} a.txt"], scope_of(CLASSES[0].id)) == []


def test_a_new_state_of_a_path_takes_the_old_ones_passages_out_of_sight(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        old = builder.indexed("a.txt", CLASSES[0], blob="old")
        builder.end(old, ObjectState.SUPERSEDED)
        new = builder.object("a.txt", CLASSES[0], blob="new")
        scope = scope_of(CLASSES[0].id)
        assert session.occurrences.at_span("key of dms a.txt", 0, 4, scope) is None
        builder.convert(new)
        builder.index(new, [ChunkRecord("new row", 0, 4, "Term")], CLASSES[0])
        found = session.occurrences.at_span("key of dms a.txt", 0, 4, scope)
        assert found is not None
        assert (found.object_id, found.row_key, found.heading) == (new, "new row", "Term")


def test_an_occurrence_says_where_it_stands(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.object("Lease/draft.docx", CLASSES[0], source="share")
        builder.convert(object_id, "Ä 😀 text")
        builder.index(object_id, [ChunkRecord("row", 2, 8, "1. Term")], CLASSES[0])
        (found,) = session.occurrences.of_rows(["row"], scope_of(CLASSES[0].id))
        assert (found.source, found.path, found.object_key) == (
            "share",
            "Lease/draft.docx",
            "key of share Lease/draft.docx",
        )
        assert (found.title, found.version_status, found.matter_ref) == (
            f"Paper {object_id}",
            VersionStatus.DRAFT,
            "M-1",
        )
        # printf 'Ä 😀 text' | sha256sum
        assert found.text_sha256 == "0fd114899c063174e89130def1752debf73a1d84f97ab1245ab2b9b2b1d47742"
        assert found.converter == "plain 1"
        # Offsets count code points, not bytes and not UTF-16 units.
        assert session.passages.text_between(object_id, found.start_char, found.end_char) == "😀 text"


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30), st.integers(0, 30), st.integers(0, 30)
)
@settings(deadline=None, max_examples=60)
def test_text_between_offsets_is_the_slice(catalog: Catalog, text: str, one: int, other: int) -> None:
    start, end = sorted((one, other))
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.object("a.txt", CLASSES[0])
        builder.convert(object_id, text)
        assert session.passages.text_between(object_id, start, end) == text[start:end]


def test_many_rows_and_many_classes_fit(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.object("a.txt", CLASSES[0])
        builder.convert(object_id, "x" * 3000)
        chunks = [ChunkRecord(f"row {number:04}", number, number + 1, "") for number in range(1500)]
        builder.index(object_id, chunks, CLASSES[0])
        keys = [each.row_key for each in chunks]
        scope = scope_of(CLASSES[0].id, *(f"{number:064}" for number in range(40_000)))
        assert [each.row_key for each in session.occurrences.of_rows(keys, scope)] == keys
        assert session.passages.known_row_keys([*keys, "none"]) == set(keys)
        session.passages.replace_chunks(object_id, chunks[:10], builder.profile(object_id, CLASSES[0]))
        assert session.passages.unused_rows() == dict.fromkeys(keys[10:], 1)
        session.passages.delete_rows(keys[10:])
        assert session.passages.row_keys(RowKind.PASSAGE) == set(keys[:10])


def test_rows_come_with_the_text_of_their_passage(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        first = builder.object("a.txt", CLASSES[0])
        builder.convert(first, "AAAA shared")
        second = builder.object("b.txt", CLASSES[0])
        builder.convert(second, "shared BBBB")
        builder.index(first, [ChunkRecord("a", 0, 4, ""), ChunkRecord("shared", 5, 11, "")], CLASSES[0])
        builder.index(second, [ChunkRecord("shared", 0, 6, ""), ChunkRecord("b", 7, 11, "")], CLASSES[0])
        assert [(row.row_key, text) for row, text in session.passages.rows_with_text(RowKind.PASSAGE)] == [
            ("a", "AAAA"),
            ("b", "BBBB"),
            ("shared", "shared"),
        ]
        # A version that left the estate takes nothing from those that stay.
        builder.end(first)
        session.pipeline_objects.unindex([first])
        assert session.passages.unused_rows() == {"a": 1, f"profile {first}": 0}
        assert [(row.row_key, text) for row, text in session.passages.rows_with_text(RowKind.PASSAGE)] == [
            ("b", "BBBB"),
            ("shared", "shared"),
        ]


def test_a_row_is_kept_as_it_was_first_stored(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.object("a.txt", CLASSES[0])
        builder.convert(object_id)
        row = IndexRowRecord("row", RowKind.PASSAGE, CLASSES[0].id, "M-1", "Kopf: Übernahme", 2, ("§ 5", "hrb 12345"))
        session.passages.put_rows([row])
        session.passages.put_rows([IndexRowRecord("row", RowKind.PASSAGE, CLASSES[0].id, "M-2", "other", 1, ())])
        session.passages.put_rows([])
        session.passages.replace_chunks(
            object_id, [ChunkRecord("row", 0, 4, "")], builder.profile(object_id, CLASSES[0])
        )
        assert list(session.passages.rows_with_text(RowKind.PASSAGE)) == [(row, "some")]
