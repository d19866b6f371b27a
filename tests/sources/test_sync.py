import os
import sqlite3
from pathlib import Path

import pytest
from estate import AT, KEY, Estate, FakeSource, HeldFile, allow, counts, deny, sha256

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.records import SourceRecord
from knowledge_index.domain.errors import UsageError
from knowledge_index.sources import open_source
from knowledge_index.sources.acl_map import load_acl_map
from knowledge_index.sources.base import SkippedFile
from knowledge_index.sources.local_fs import LocalFolderSource
from knowledge_index.sources.sync import object_key_of


def rows(catalog_file: Path) -> list[tuple[str, str, str, str | None]]:
    """Every observed state as the table holds it: path, state, blob and the path it was moved from, oldest first."""
    connection = sqlite3.connect(catalog_file)
    try:
        return connection.execute(
            "SELECT o.path, o.state, o.blob_sha256, origin.path FROM source_object o"
            " LEFT JOIN source_object origin ON origin.id = o.moved_from_id ORDER BY o.id"
        ).fetchall()
    finally:
        connection.close()


def test_the_first_sync_finds_everything_new(estate: Estate, root: Path) -> None:
    (root / "sub").mkdir()
    (root / "a.txt").write_bytes(b"a")
    (root / "sub" / "b.txt").write_bytes(b"b")
    (root / "link").symlink_to("a.txt")
    report = estate.sync()
    assert report.source == "dms"
    assert counts(report) == {"new": 2, "hashed": 2}
    assert report.skipped == (SkippedFile("link", "symbolic links are not followed"),)
    assert report.unreadable == ()
    assert estate.blobs() == {"a.txt": sha256(b"a"), "sub/b.txt": sha256(b"b")}
    assert estate.status.last_synced_at == "2026-03-01T12:00:00+00:00"


def test_a_second_sync_reads_no_file(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {f"{number}.txt": HeldFile(b"x" * number) for number in range(5)}
    estate.sync()
    source.read_paths.clear()
    epoch = estate.epoch()
    assert counts(estate.sync()) == {"unchanged": 5}
    assert source.read_paths == []
    assert estate.epoch() == epoch


def test_a_changed_file_supersedes_its_former_state(estate: Estate, root: Path, catalog_file: Path) -> None:
    (root / "a.txt").write_bytes(b"first")
    estate.sync()
    (root / "a.txt").write_bytes(b"second state")
    assert counts(estate.sync()) == {"changed": 1, "hashed": 1}
    assert estate.blobs() == {"a.txt": sha256(b"second state")}
    assert rows(catalog_file) == [
        ("a.txt", "superseded", sha256(b"first"), None),
        ("a.txt", "current", sha256(b"second state"), None),
    ]


@pytest.mark.parametrize("hint", ["mtime_ns", "inode"])
def test_a_new_hint_over_the_same_bytes_costs_one_hash_and_changes_nothing(
    fake: tuple[Estate, FakeSource], hint: str
) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b")}
    estate.sync()
    setattr(source.files["a.txt"], hint, 99)
    assert counts(estate.sync()) == {"unchanged": 2, "hashed": 1}
    assert counts(estate.sync()) == {"unchanged": 2}
    assert (estate.status.current, estate.status.superseded) == (2, 0)


@pytest.mark.parametrize("hint", ["mtime_ns", "inode"])
def test_a_new_hint_over_other_bytes_of_the_same_size_is_a_change(fake: tuple[Estate, FakeSource], hint: str) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"old")}
    estate.sync()
    source.files["a.txt"].content = b"new"
    setattr(source.files["a.txt"], hint, 99)
    assert counts(estate.sync()) == {"changed": 1, "hashed": 1}


def test_rehash_finds_what_size_time_and_inode_hide(estate: Estate, root: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (root / name).write_bytes(b"old")
    estate.sync()
    before = (root / "a.txt").stat()
    with (root / "a.txt").open("r+b") as stream:
        stream.write(b"new")
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    after = (root / "a.txt").stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert counts(estate.sync()) == {"unchanged": 2}
    assert counts(estate.sync(rehash=True)) == {"changed": 1, "unchanged": 1, "hashed": 2}
    assert estate.blobs()["a.txt"] == sha256(b"new")


def test_a_gone_file_is_tombstoned_and_stays_in_the_catalog(estate: Estate, root: Path, catalog_file: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    (root / "other.txt").write_bytes(b"other")
    estate.sync()
    (root / "a.txt").unlink()
    assert counts(estate.sync()) == {"gone": 1, "unchanged": 1}
    assert counts(estate.sync()) == {"unchanged": 1}
    (root / "a.txt").write_bytes(b"a")
    assert counts(estate.sync()) == {"new": 1, "unchanged": 1, "hashed": 1}
    assert rows(catalog_file) == [
        ("a.txt", "tombstoned", sha256(b"a"), None),
        ("other.txt", "current", sha256(b"other"), None),
        ("a.txt", "current", sha256(b"a"), None),
    ]


def test_a_file_that_became_a_link_is_gone(estate: Estate, root: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    (root / "other.txt").write_bytes(b"other")
    estate.sync()
    (root / "a.txt").rename(root.parent / "a.txt")
    (root / "a.txt").symlink_to(root.parent / "a.txt")
    assert counts(estate.sync()) == {"gone": 1, "unchanged": 1}


def test_a_moved_file_is_known_by_its_bytes(estate: Estate, root: Path, catalog_file: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    estate.sync()
    (root / "sub").mkdir()
    (root / "a.txt").rename(root / "sub" / "b.txt")
    assert counts(estate.sync()) == {"moved": 1, "hashed": 1}
    assert rows(catalog_file) == [
        ("a.txt", "tombstoned", sha256(b"a"), None),
        ("sub/b.txt", "current", sha256(b"a"), "a.txt"),
    ]


def test_a_copy_is_no_move(estate: Estate, root: Path, catalog_file: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    estate.sync()
    (root / "copy.txt").write_bytes(b"a")
    assert counts(estate.sync()) == {"new": 1, "unchanged": 1, "hashed": 1}
    assert rows(catalog_file)[-1] == ("copy.txt", "current", sha256(b"a"), None)


def test_one_gone_file_moves_to_one_path_only_and_its_inode_says_which(
    estate: Estate, root: Path, catalog_file: Path
) -> None:
    (root / "a.txt").write_bytes(b"same")
    estate.sync()
    (root / "a.txt").rename(root / "y.txt")
    (root / "x.txt").write_bytes(b"same")
    assert counts(estate.sync()) == {"moved": 1, "new": 1, "hashed": 2}
    assert rows(catalog_file)[1:] == [
        ("x.txt", "current", sha256(b"same"), None),
        ("y.txt", "current", sha256(b"same"), "a.txt"),
    ]


def test_a_moved_file_has_the_grants_of_its_new_path(estate: Estate, root: Path) -> None:
    grants = {"open.txt": allow("group:a"), "walled.txt": (*allow("group:a"), *deny("user:bob"))}
    (root / "open.txt").write_bytes(b"a")
    estate.sync(grants)
    (root / "open.txt").rename(root / "walled.txt")
    assert counts(estate.sync(grants)) == {"moved": 1, "hashed": 1}
    assert estate.grants() == {"walled.txt": tuple(sorted(grants["walled.txt"]))}
    (root / "walled.txt").rename(root / "unlisted.txt")
    estate.sync(grants)
    assert estate.grants() == {"unlisted.txt": ()}


def test_two_files_that_change_places_are_two_changes(estate: Estate, root: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    (root / "b.txt").write_bytes(b"b")
    estate.sync()
    (root / "a.txt").rename(root / "aside")
    (root / "b.txt").rename(root / "a.txt")
    (root / "aside").rename(root / "b.txt")
    assert counts(estate.sync()) == {"changed": 2, "hashed": 2}
    assert estate.blobs() == {"a.txt": sha256(b"b"), "b.txt": sha256(b"a")}


def test_an_object_without_an_entry_is_visible_to_nobody(estate: Estate, root: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    (root / "b.txt").write_bytes(b"a")
    estate.sync({"a.txt": allow("group:a"), "not there.txt": allow("group:b")})
    assert estate.grants() == {"a.txt": allow("group:a"), "b.txt": ()}
    assert estate.status.without_grants == 1


def test_grants_apply_to_a_path_however_the_disk_spells_it(estate: Estate, root: Path, tmp_path: Path) -> None:
    (root / "Pru\u0308fung.txt").write_bytes(b"a")
    acl_map = tmp_path / "acl.json"
    acl_map.write_text(
        '{"Pr\\u00fcfung.txt": [{"principal": "group:a", "access": "allow"}]}',
        encoding="utf-8",
    )
    estate.sync(load_acl_map(acl_map))
    assert estate.grants() == {"Pr\u00fcfung.txt": allow("group:a")}


def test_grants_change_without_any_byte_being_read(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b")}
    estate.sync({"a.txt": allow("group:a")})
    epoch = estate.epoch()
    source.read_paths.clear()
    walled = {"a.txt": (*allow("group:a"), *deny("user:bob"))}
    assert counts(estate.sync(walled)) == {"unchanged": 2, "grants_changed": 1}
    assert source.read_paths == []
    assert estate.grants()["a.txt"] == tuple(sorted(walled["a.txt"]))
    assert estate.epoch() == epoch + 1
    assert counts(estate.sync(walled)) == {"unchanged": 2}
    assert estate.epoch() == epoch + 1
    assert (estate.status.current, estate.status.superseded) == (2, 0)


def test_the_order_of_an_entrys_grants_is_no_change(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a")}
    estate.sync({"a.txt": allow("group:a", "group:b")})
    assert counts(estate.sync({"a.txt": allow("group:b", "group:a", "group:b")})) == {"unchanged": 1}


def test_bytes_and_grants_that_change_together_raise_the_epoch(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a")}
    estate.sync({"a.txt": allow("group:a")})
    epoch = estate.epoch()
    source.files["a.txt"] = HeldFile(b"longer")
    assert counts(estate.sync({})) == {"changed": 1, "grants_changed": 1, "hashed": 1}
    assert estate.epoch() == epoch + 1


def test_sources_know_nothing_of_each_other(catalog: Catalog) -> None:
    one, other = (FakeSource({"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b")}) for _ in range(2))
    first, second = Estate(catalog, one, "one"), Estate(catalog, other, "other")
    first.sync({"a.txt": allow("group:a")})
    assert counts(second.sync({})) == {"new": 2, "hashed": 2}
    del one.files["a.txt"]
    assert counts(first.sync({})) == {"gone": 1, "unchanged": 1}
    # Bytes that left one source did not move into another.
    other.files["c.txt"] = HeldFile(b"a")
    assert counts(second.sync({})) == {"new": 1, "unchanged": 2, "hashed": 1}


def test_two_installations_of_the_same_estate_agree_on_everything_but_time(tmp_path: Path, root: Path) -> None:
    for name in ("z.txt", "a.txt", "m.txt"):
        (root / name).write_bytes(name.encode())
    dumps = []
    for number in range(2):
        catalog = open_catalog(tmp_path / f"{number}.sqlite")
        estate = Estate(catalog, LocalFolderSource(root))
        estate.sync({"m.txt": allow("group:a")})
        catalog.close()
        connection = sqlite3.connect(tmp_path / f"{number}.sqlite")
        dumps.append(list(connection.iterdump()))
        connection.close()
    assert dumps[0] == dumps[1]


def test_object_keys_are_keyed_hashes_of_source_and_path() -> None:
    # printf 'dms\0Mandate/Übernahme.docx' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102…1f, first 32 digits
    assert object_key_of(KEY, "dms", "Mandate/Übernahme.docx") == "362db7d96ffb79aa493eada67bd26d58"
    keys = {
        object_key_of(KEY, "dms", "a.txt"),
        object_key_of(KEY, "dms", "b.txt"),
        object_key_of(KEY, "share", "a.txt"),
        object_key_of(bytes(32), "dms", "a.txt"),
    }
    assert len(keys) == 4


def test_an_objects_key_stays_with_its_path(estate: Estate, root: Path, catalog_file: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    estate.sync()
    (root / "a.txt").write_bytes(b"longer")
    estate.sync()
    connection = sqlite3.connect(catalog_file)
    keys = connection.execute("SELECT object_key, observed_at, ended_at FROM source_object ORDER BY id").fetchall()
    connection.close()
    at = AT.isoformat(timespec="seconds")
    assert keys == [(object_key_of(KEY, "dms", "a.txt"), at, at), (object_key_of(KEY, "dms", "a.txt"), at, None)]


def test_a_source_is_opened_by_its_kind(root: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    source = open_source(SourceRecord(1, "dms", "local_fs", str(root), None, None))
    assert source.read("a.txt") == b"a"
    with pytest.raises(UsageError, match="sharepoint"):
        open_source(SourceRecord(1, "dms", "sharepoint", str(root), None, None))
