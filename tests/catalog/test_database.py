import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.passage_records import ChunkRecord
from knowledge_index.domain.errors import IndexStateError, UsageError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "catalog.sqlite"


def epoch_of(catalog: Catalog) -> int:
    with catalog.transaction() as session:
        return session.meta.policy_epoch()


def test_a_catalog_keeps_what_it_was_told_when_opened_again(file: Path) -> None:
    first = open_catalog(file)
    with first.transaction() as session:
        session.sources.add("dms", "local_fs", "/estate", "/acl.json")
        session.meta.raise_policy_epoch()
        session.meta.set_embedding_signature("model")
    first.close()
    again = open_catalog(file)
    with again.transaction() as session:
        (source,) = session.sources.all()
        assert (source.name, source.kind, source.root, source.acl_map) == ("dms", "local_fs", "/estate", "/acl.json")
        assert source.last_synced_at is None
        assert session.meta.policy_epoch() == 1
        assert session.meta.embedding_signature() == "model"
        assert not session.meta.index_write_open()
    again.close()


def test_two_can_have_a_catalog_open(file: Path) -> None:
    one, other = open_catalog(file), open_catalog(file)
    with one.transaction() as session:
        session.meta.raise_policy_epoch()
    assert epoch_of(other) == 1
    one.close()
    other.close()


def test_opening_for_a_search_waits_for_no_writer(file: Path) -> None:
    writer = open_catalog(file)
    with writer.transaction() as session:
        session.meta.raise_policy_epoch()
        start = time.monotonic()
        reader = open_catalog(file)
        assert epoch_of(reader) == 0
        assert time.monotonic() - start < 5
    assert epoch_of(reader) == 1
    reader.close()
    writer.close()


def test_first_openings_at_the_same_moment_make_one_catalog(file: Path) -> None:
    failures: list[BaseException] = []

    def open_once() -> None:
        try:
            open_catalog(file).close()
        except IndexStateError as error:
            failures.append(error)

    threads = [threading.Thread(target=open_once) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []


def test_a_transaction_that_raises_leaves_nothing(file: Path) -> None:
    catalog = open_catalog(file)

    def fail_half_way() -> None:
        with catalog.transaction() as session:
            session.sources.add("dms", "local_fs", "/estate", None)
            session.meta.raise_policy_epoch()
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        fail_half_way()
    with catalog.transaction() as session:
        assert session.sources.all() == []
        assert session.meta.policy_epoch() == 0
    catalog.close()


def test_a_row_that_refers_to_nothing_is_refused(file: Path) -> None:
    catalog = open_catalog(file)
    with catalog.transaction() as session, pytest.raises(IntegrityError, match="FOREIGN KEY"):
        session.passages.replace_chunks(7, [], ChunkRecord("no such row", 0, 1, ""))
    catalog.close()


def schema_of(file: Path) -> list[str]:
    connection = sqlite3.connect(file)
    try:
        return [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
    finally:
        connection.close()


@pytest.mark.parametrize("version", ["0", "1", "2", "99", "", "one"])
def test_another_schema_version_is_refused_and_left_alone(file: Path, version: str) -> None:
    open_catalog(file).close()
    connection = sqlite3.connect(file)
    connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (version,))
    connection.execute("DROP TABLE chunk")
    connection.commit()
    connection.close()
    before = schema_of(file)
    with pytest.raises(IndexStateError, match="schema") as error:
        open_catalog(file)
    assert str(file) in str(error.value)
    assert "another --home" in str(error.value)
    assert schema_of(file) == before


def test_principals_spelled_by_another_canonicaliser_are_refused(file: Path) -> None:
    open_catalog(file).close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'canonical_version'")
        connection.commit()
    with pytest.raises(IndexStateError, match="canonical version 0"):
        open_catalog(file)


def test_the_policy_epoch_counts_from_one(file: Path) -> None:
    catalog = open_catalog(file)
    with catalog.transaction() as session:
        epochs = [session.meta.policy_epoch()]
        for _ in range(11):
            session.meta.raise_policy_epoch()
            epochs.append(session.meta.policy_epoch())
    catalog.close()
    assert epochs == list(range(12))


def test_a_database_of_another_program_is_refused_and_left_alone(file: Path) -> None:
    file.parent.mkdir()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE invoices (id INTEGER)")
    connection.commit()
    connection.close()
    with pytest.raises(IndexStateError, match="no catalog"):
        open_catalog(file)
    assert schema_of(file) == ["invoices"]


@pytest.mark.parametrize("content", [b"not a database, though long enough to be looked at as one" * 20, b""])
def test_a_file_that_is_no_database_is_refused_and_left_alone(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(IndexStateError, match="restore it from a backup") as error:
        open_catalog(file)
    assert str(file) in str(error.value)
    assert not content or file.read_bytes() == content


def test_a_catalog_damaged_behind_its_head_says_so_when_it_is_read(file: Path) -> None:
    catalog = open_catalog(file)
    with catalog.transaction() as session:
        for number in range(200):
            session.sources.add(f"source {number}", "local_fs", "/" + "x" * 500, None)
    catalog.close()
    content = file.read_bytes()
    page = 4096
    first_pages = content[: page * 2]
    file.write_bytes(first_pages + b"\xff" * (len(content) - len(first_pages)))

    def read() -> None:
        with open_catalog(file).transaction() as session:
            session.sources.all()

    with pytest.raises(IndexStateError, match="backup"):
        read()


def test_a_cut_off_catalog_is_refused(file: Path) -> None:
    catalog = open_catalog(file)
    catalog.close()
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(IndexStateError):
        open_catalog(file)


def test_a_folder_in_the_catalogs_place_is_refused(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(IndexStateError):
        open_catalog(file)


def test_a_source_name_is_taken_once(file: Path) -> None:
    catalog = open_catalog(file)
    with catalog.transaction() as session:
        session.sources.add("b", "local_fs", "/b", None)
        session.sources.add("a", "local_fs", "/a", None)
        with pytest.raises(UsageError, match="'a'"):
            session.sources.add("a", "local_fs", "/elsewhere", None)
        session.sources.set_synced(session.sources.all()[0].id, "2026-01-01")
        assert [(each.name, each.root, each.last_synced_at) for each in session.sources.all()] == [
            ("a", "/a", "2026-01-01"),
            ("b", "/b", None),
        ]
    catalog.close()


def test_marks_of_the_installation(file: Path) -> None:
    catalog = open_catalog(file)
    with catalog.transaction() as session:
        assert session.meta.embedding_signature() is None
        for is_open in (True, True, False):
            session.meta.set_index_write_open(is_open)
            assert session.meta.index_write_open() is is_open
    catalog.close()


def test_a_full_disk_is_called_that(file: Path) -> None:
    catalog = open_catalog(file)

    def fill() -> None:
        with catalog.transaction() as session:
            # The engine's own limit on pages gives the error that a disk without space gives.
            session.meta._connection.exec_driver_sql("PRAGMA max_page_count = 1")
            for number in range(2000):
                session.sources.add(f"source {number}", "local_fs", "/" + "x" * 500, None)

    with pytest.raises(IndexStateError, match="disk is full") as error:
        fill()
    assert "backup" not in str(error.value)
    catalog.close()


def test_a_catalog_that_cannot_be_opened_is_not_called_damaged(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(IndexStateError, match="permission") as error:
        open_catalog(file)
    assert "backup" not in str(error.value)


def test_a_home_that_is_a_file_is_told(file: Path) -> None:
    file.parent.write_bytes(b"")
    with pytest.raises(IndexStateError, match="another --home"):
        open_catalog(file)
