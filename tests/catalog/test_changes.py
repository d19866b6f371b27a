"""Tracked changes and states come back as they were stored, and deleted words only within the scope."""

import dataclasses
from pathlib import Path

import pytest
from catalog_builder import LATER, Builder, seen_by

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.records import ObjectState
from knowledge_index.domain.documents import ChangeKind, ConvertedDocument, TextState, TrackedChange
from knowledge_index.domain.principals import parse_principals

CHANGES = (
    TrackedChange(ChangeKind.DELETION, "A. Muster", "2026-03-02T09:15:00Z", 4, 4, "old"),
    TrackedChange(ChangeKind.INSERTION, None, None, 4, 7, "new"),
    TrackedChange(ChangeKind.MOVED_FROM, "B. Beispiel", None, 7, 7, "away"),
)
DOCUMENT = ConvertedDocument(
    "The new", None, "plain", "1", original_text="The old away", marked_text="The [-old-][+new+]", changes=CHANGES
)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return open_catalog(tmp_path / "catalog.sqlite")


def test_changes_and_states_come_back_as_stored(catalog: Catalog) -> None:
    with catalog.transaction() as session:
        builder = Builder(session)
        changed, plain = builder.object("a.docx", seen_by("user:a")), builder.object("b.txt", seen_by("user:a"))
        blob = b"a.docx".hex().rjust(64, "0")
        session.pipeline_objects.set_converted(changed, session.conversions.add(blob, DOCUMENT))
        builder.convert(plain, "as it is")
        assert tuple(session.changes.of_object(changed)) == CHANGES
        assert [session.changes.text(changed, state) for state in TextState] == [
            "The new",
            "The old away",
            "The [-old-][+new+]",
        ]
        assert session.changes.of_object(plain) == []
        assert {session.changes.text(plain, state) for state in TextState} == {"as it is"}


def test_deleted_words_are_those_of_current_objects_in_the_scope(catalog: Catalog) -> None:
    with catalog.transaction() as session:
        builder = Builder(session)
        for path, principal in (("seen.docx", "user:a"), ("walled.docx", "user:b"), ("gone.docx", "user:a")):
            object_id = builder.object(path, seen_by(principal))
            builder.convert(object_id, path)
            document = dataclasses.replace(DOCUMENT, converter_name="other")
            document_id = session.conversions.add(path.encode().hex().rjust(64, "0"), document)
            session.pipeline_objects.set_converted(object_id, document_id)
            if path == "gone.docx":
                session.objects.end([object_id], ObjectState.TOMBSTONED, LATER)
        scope = compile_scope(session, parse_principals("user:a"))
        found = [(each.path, each.change) for each in session.changes.deleted_words(scope)]
        assert found == [("seen.docx", CHANGES[0]), ("seen.docx", CHANGES[2])]
        nobody = compile_scope(session, parse_principals("user:nobody"))
        assert list(session.changes.deleted_words(nobody)) == []
