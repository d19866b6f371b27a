from collections.abc import Iterator

import pytest
from catalog_builder import LATER, Builder, rolled_back, seen_by
from sqlalchemy.exc import IntegrityError

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.passage_records import StoredIdentifier
from knowledge_index.catalog.records import ObjectState, Relation
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.versions import VersionStatus

LEASES = seen_by("group:leases")


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path_factory.mktemp("pipeline") / "catalog.sqlite")
    yield catalog
    catalog.close()


def test_an_object_passes_from_observed_to_indexed(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.object("Lease/draft.docx", LEASES)
        (observed,) = session.pipeline_objects.current()
        assert (observed.id, observed.source, observed.path) == (object_id, "dms", "Lease/draft.docx")
        assert observed.acl_class_id == LEASES.id
        assert observed.converted_document_id is observed.relation is observed.index_fingerprint is None
        session.pipeline_objects.set_quarantined(object_id, "damaged", "is torn", "plain 0")
        (torn,) = session.pipeline_objects.current()
        assert (torn.quarantine_class, torn.quarantine_converter) == ("damaged", "plain 0")
        document = ConvertedDocument("text", "Stated title", "plain", "1")
        document_id = session.conversions.add(observed.blob_sha256, document)
        session.pipeline_objects.set_converted(object_id, document_id)
        relation = Relation("Lease/draft", "Lease", VersionStatus.EXECUTED, "2", "M-1", "Matter")
        session.pipeline_objects.set_relations({object_id: relation})
        session.pipeline_objects.set_relations({})
        session.pipeline_objects.set_indexed(object_id, "fingerprint")
        (done,) = session.pipeline_objects.current()
        assert (done.quarantine_class, done.quarantine_converter) == (None, None)
        assert (done.converted_document_id, done.converter_name, done.converter_version) == (document_id, "plain", "1")
        assert (done.text_sha256, done.stated_title) == (document.text_sha256, "Stated title")
        assert done.relation == relation
        assert done.index_fingerprint == "fingerprint"


def test_objects_come_by_source_and_path_and_only_while_current(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.object("a.txt", source="share")
        builder.object("b.txt")
        builder.object("Ä.txt")
        builder.object("a.txt")
        builder.end(builder.object("gone.txt"))
        assert [(each.source, each.path) for each in session.pipeline_objects.current()] == [
            ("dms", "a.txt"),
            ("dms", "b.txt"),
            ("dms", "Ä.txt"),
            ("share", "a.txt"),
        ]


def test_what_left_the_estate_or_lost_its_text_is_to_be_taken_out_of_the_indexes(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.indexed("stays.txt", LEASES)
        gone = builder.indexed("gone.txt", LEASES)
        builder.end(gone)
        old = builder.indexed("changed.txt", LEASES)
        builder.end(old, ObjectState.SUPERSEDED)
        builder.object("changed.txt", LEASES, blob="new")
        torn = builder.indexed("torn.txt", LEASES)
        builder.quarantine(torn)
        builder.end(builder.object("never indexed.txt", LEASES))
        assert session.pipeline_objects.to_unindex() == [gone, old, torn]
        session.pipeline_objects.unindex([gone, old, torn])
        assert session.pipeline_objects.to_unindex() == []
        assert session.status.index_counts() == (1, 4)
        assert len(session.passages.unused_rows()) == 6


def test_ended_objects_keep_their_row_with_its_dates(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.end(builder.object("a.txt"), ObjectState.SUPERSEDED)
        builder.end(builder.object("a.txt", blob="second"), ObjectState.TOMBSTONED)
        (status,) = session.status.sources()
        assert (status.current, status.superseded, status.tombstoned) == (0, 1, 1)


def test_a_path_is_current_only_once(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        builder.object("a.txt")
        builder.object("a.txt", source="share")
        with pytest.raises(IntegrityError, match="UNIQUE"):
            builder.object("a.txt", blob="other")


def test_a_conversion_is_found_by_bytes_and_converter(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        document = ConvertedDocument("Straße\n\u0000x😀", None, "plain", "1")
        document_id = session.conversions.add("ab" * 32, document)
        assert session.conversions.find("ab" * 32, "plain", "1") == document_id
        for other in (("cd" * 32, "plain", "1"), ("ab" * 32, "docx", "1"), ("ab" * 32, "plain", "2")):
            assert session.conversions.find(*other) is None
        assert session.conversions.text(document_id) == document.text


def test_identifiers_are_replaced_as_a_whole_and_come_by_place(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        document_id = session.conversions.add("ab" * 32, ConvertedDocument("x" * 50, None, "plain", "1"))
        first = StoredIdentifier("date", "1. Mai 2026", "2026-05-01", 10, 21)
        second = StoredIdentifier("amount", "5 EUR", "5.00 eur", 30, 35)
        session.conversions.set_enriched(document_id, "1", [second, first])
        assert session.conversions.identifiers(document_id) == [first, second]
        session.conversions.set_enriched(document_id, "2", [second])
        assert session.conversions.identifiers(document_id) == [second]
        session.conversions.set_enriched(document_id, "3", [])
        assert session.conversions.identifiers(document_id) == []


def test_the_enricher_version_comes_with_the_object(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        document_id = builder.convert(builder.object("a.txt"))
        assert session.pipeline_objects.current()[0].enricher_version is None
        session.conversions.set_enriched(document_id, "7", [])
        assert session.pipeline_objects.current()[0].enricher_version == "7"


def test_observed_hints_are_kept_up_to_date(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.object("a.txt", LEASES)
        source_id = builder.source()
        (before,) = session.objects.current(source_id)
        assert before.id == object_id
        session.objects.end([], ObjectState.TOMBSTONED, LATER)
        assert session.objects.current(source_id) == [before]
        assert session.objects.current(source_id + 1) == []
