from collections.abc import Iterator

import pytest
from catalog_builder import Builder, rolled_back, seen_by

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.passage_records import ReadingNotes
from knowledge_index.catalog.status_records import DegradedObject
from knowledge_index.domain.documents import ConvertedDocument, PageSpan

LEASES = seen_by("group:leases")


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path_factory.mktemp("notes") / "catalog.sqlite")
    yield catalog
    catalog.close()


def document(**values: object) -> ConvertedDocument:
    return ConvertedDocument("one\n\f\nthree", None, "pdf", "1", **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(("place", "page"), [(0, 1), (2, 1), (5, 1), (6, 3), (11, 3)])
def test_a_place_is_on_the_page_that_began_last(catalog: Catalog, place: int, page: int) -> None:
    with rolled_back(catalog) as session:
        object_id = Builder(session).object("scan.pdf", LEASES)
        pages = (PageSpan(1, 0, 3), PageSpan(2, 6, 6), PageSpan(3, 6, 11))
        document_id = session.conversions.add("ab" * 32, document(pages=pages, degraded=("page 2: „Bild“",)))
        session.pipeline_objects.set_converted(object_id, document_id)
        assert session.passages.at([(object_id, place, place + 1)])[0].notes == ReadingNotes(page, ("page 2: „Bild“",))


def test_a_text_without_pages_has_none(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        object_id = builder.object("a.txt", LEASES)
        builder.convert(object_id)
        assert session.passages.at([(object_id, 3, 4)])[0].notes == ReadingNotes(None, ())


def test_degraded_papers_are_listed_while_they_are_current(catalog: Catalog) -> None:
    with rolled_back(catalog) as session:
        builder = Builder(session)
        for path, values in (("b.pdf", {"pages_without_text": 2}), ("a.pdf", {"degraded": ("x", "y")}), ("c.pdf", {})):
            document_id = session.conversions.add(path.encode().hex().rjust(64, "0"), document(**values))
            session.pipeline_objects.set_converted(builder.object(path, LEASES), document_id)
        assert session.status.degraded() == [
            DegradedObject("dms", "a.pdf", ("x", "y"), 0),
            DegradedObject("dms", "b.pdf", (), 2),
        ]
