from collections.abc import Iterator

import pytest
from catalog_builder import LATER, NOBODY, Builder, rolled_back, seen_by

from knowledge_index.access import acl_class_of
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.passage_records import ChunkRecord
from knowledge_index.catalog.records import ObjectState
from knowledge_index.catalog.status_records import QuarantinedObject, SourceStatus, Unsearchable
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal

LEASES = seen_by("group:leases")
SALES = seen_by("group:sales")
DENIED = acl_class_of([Grant(Principal.parse("group:sales"), Access.DENY)])


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path_factory.mktemp("status") / "catalog.sqlite")
    yield catalog
    catalog.close()


def status_of(builder: Builder, name: str = "dms") -> SourceStatus:
    return next(each for each in builder.session.status.sources() if each.name == name)


def test_a_source_without_objects_is_counted(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.source()
        assert session.status.sources() == [
            SourceStatus("dms", "local_fs", "/dms", None, None, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        ]
        assert session.status.index_counts() == (0, 0)


def test_every_object_is_counted_once_in_its_state(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.indexed("indexed-1.txt", LEASES)
        builder.indexed("indexed-2.txt", LEASES)
        builder.indexed("indexed-unseen.txt", NOBODY)
        builder.object("pending.txt", LEASES)
        builder.convert(builder.object("converted-only.txt", LEASES))
        builder.quarantine(builder.object("torn.docx", LEASES))
        builder.quarantine(builder.indexed("torn-later.docx", NOBODY))
        builder.end(builder.indexed("gone.txt", NOBODY))
        builder.end(builder.indexed("old.txt", LEASES), ObjectState.SUPERSEDED)
        builder.indexed("old.txt", LEASES, blob="new")
        builder.indexed("elsewhere.txt", LEASES, source="share")
        session.sources.set_synced(builder.source(), LATER)
        assert status_of(builder) == SourceStatus(
            name="dms",
            kind="local_fs",
            root="/dms",
            acl_map=None,
            last_synced_at=LATER,
            current=8,
            indexed=4,
            pending=2,
            quarantined=2,
            without_grants=2,
            superseded=1,
            tombstoned=1,
            contained=0,
            decorations=0,
        )
        assert status_of(builder, "share").current == 1
        assert [each.name for each in session.status.sources()] == ["dms", "share"]


def test_an_object_whose_grants_changed_is_pending_until_it_is_indexed_again(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.indexed("a.txt", LEASES)
        session.acl_classes.put(SALES)
        session.objects.set_acl_class(object_id, SALES.id)
        assert (status_of(builder).indexed, status_of(builder).pending) == (0, 1)
        assert session.status.unsearchable(["a.txt"]) == [Unsearchable("a.txt", "not indexed yet: ki run")]
        builder.index(object_id, [ChunkRecord("row of sales", 0, 4, "")], SALES)
        assert (status_of(builder).indexed, status_of(builder).pending) == (1, 0)
        assert session.status.unsearchable(["a.txt"]) == []


def test_index_counts_tell_passages_from_rows(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        for path in ("a.txt", "b.txt"):
            object_id = builder.object(path, LEASES)
            builder.convert(object_id)
            builder.index(object_id, [ChunkRecord("shared", 0, 4, ""), ChunkRecord(f"own {path}", 5, 9, "")], LEASES)
        assert session.status.index_counts() == (4, 3)


def test_quarantined_objects_are_listed_with_their_reason_while_they_are_current(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.quarantine(builder.object("b.docx", source="share"), "encrypted", "needs a password")
        builder.quarantine(builder.object("z.docx"), "damaged", "is torn")
        builder.quarantine(builder.object("a.docx"), "empty", "has no text")
        gone = builder.object("gone.docx")
        builder.quarantine(gone)
        builder.end(gone)
        healed = builder.object("healed.docx")
        builder.quarantine(healed)
        builder.convert(healed)
        assert session.status.quarantined() == [
            QuarantinedObject("dms", "a.docx", "empty", "has no text"),
            QuarantinedObject("dms", "z.docx", "damaged", "is torn"),
            QuarantinedObject("share", "b.docx", "encrypted", "needs a password"),
        ]


def test_wall_twins_are_identical_bytes_of_current_objects_under_several_classes(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.object("front/nda.docx", LEASES, blob="nda")
        builder.object("behind/nda.docx", SALES, blob="nda")
        builder.object("front/copy of nda.docx", LEASES, blob="nda")
        builder.object("nda.docx", NOBODY, blob="nda", source="share")
        # Copies on one side, and a twin that is gone, are nothing to look at.
        builder.object("front/a.docx", LEASES, blob="a")
        builder.object("front/b.docx", LEASES, blob="a")
        builder.object("front/c.docx", LEASES, blob="c")
        builder.end(builder.object("behind/c.docx", SALES, blob="c"))
        (twin,) = session.status.wall_twins()
        assert twin.blob_sha256 == b"nda".hex().rjust(64, "0")
        assert twin.paths == (
            "dms:behind/nda.docx",
            "dms:front/copy of nda.docx",
            "dms:front/nda.docx",
            "share:nda.docx",
        )


def test_each_reason_for_which_a_path_cannot_be_found(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.indexed("fine.txt", LEASES)
        builder.object("pending.txt", LEASES)
        builder.quarantine(builder.object("torn.docx", LEASES), "damaged")
        builder.indexed("unseen.txt", NOBODY)
        builder.end(builder.indexed("gone.txt", LEASES))
        builder.end(builder.indexed("back.txt", LEASES))
        builder.indexed("back.txt", LEASES)
        builder.end(builder.indexed("changed.txt", LEASES), ObjectState.SUPERSEDED)
        builder.object("changed.txt", LEASES, blob="new")
        paths = ["fine", "pending", "gone", "back", "changed", "never", "unseen"]
        assert session.status.unsearchable([*(f"{each}.txt" for each in paths), "torn.docx"]) == [
            Unsearchable("changed.txt", "not indexed yet: ki run"),
            Unsearchable("gone.txt", "no longer in its source"),
            Unsearchable("never.txt", "in no source: ki add-source, ki sync"),
            Unsearchable("pending.txt", "not indexed yet: ki run"),
            Unsearchable("torn.docx", "quarantined: damaged"),
            Unsearchable("unseen.txt", "no grants: visible to nobody"),
        ]
        assert session.status.unsearchable([]) == []


@pytest.mark.parametrize("searchable_first", [True, False])
def test_a_path_that_two_sources_hold_is_ambiguous(catalog: Catalog, searchable_first: bool) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        for is_indexed in (searchable_first, not searchable_first):
            if is_indexed:
                builder.indexed("a.txt", LEASES, source="dms")
            else:
                builder.object("a.txt", LEASES, source="share")
        assert session.status.unsearchable(["a.txt"]) == [
            Unsearchable("a.txt", "in two sources: evaluate in a home that has one of them")
        ]


def test_an_object_that_is_only_denied_has_grants(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.indexed("a.txt", DENIED)
        assert status_of(builder).without_grants == 0
