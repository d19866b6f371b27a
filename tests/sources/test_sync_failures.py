"""What a sync makes of sources, files and maps that cannot be read: nothing is taken for gone, no wall stays down."""

from pathlib import Path

import pytest
from estate import AT, KEY, Estate, FakeSource, HeldFile, allow, counts, deny, sha256

from knowledge_index.domain.errors import PermissionMapError, SourceError, UsageError
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.pipeline import remove_source
from knowledge_index.sources.acl_map import load_acl_map
from knowledge_index.sources.sync import sync_source


def test_a_missing_root_tombstones_nothing(estate: Estate, root: Path) -> None:
    (root / "a.txt").write_bytes(b"a")
    estate.sync()
    root.rename(root.with_name("unmounted"))
    before = estate.record
    with pytest.raises(SourceError, match="mounted"):
        estate.sync()
    assert estate.blobs() == {"a.txt": sha256(b"a")}
    assert estate.record == before


def test_a_source_that_fails_half_way_through_its_list_changes_nothing(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b")}
    estate.sync({"a.txt": allow("group:a")})
    before = (estate.blobs(), estate.grants(), estate.epoch(), estate.record)
    source.files["a.txt"] = HeldFile(b"longer")
    source.fails_after = 1
    with pytest.raises(SourceError, match="connection"):
        estate.sync()
    assert (estate.blobs(), estate.grants(), estate.epoch(), estate.record) == before


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"a.txt": [{"principal": "group:a", "access": "read"}]}',
        '{"a.txt": [], "a.txt": []}',
        '{"\\u00fc": [], "u\\u0308": []}',
        '{"a.txt": [{"principal": "group:a", "access": "allow", "note": ""}]}',
    ],
)
def test_a_malformed_map_changes_nothing(estate: Estate, root: Path, tmp_path: Path, content: str) -> None:
    (root / "a.txt").write_bytes(b"a")
    estate.sync({"a.txt": allow("group:a")})
    before = (estate.blobs(), estate.grants(), estate.epoch(), estate.record)
    (root / "a.txt").unlink()
    acl_map = tmp_path / "acl.json"
    acl_map.write_text(content, encoding="utf-8")
    with pytest.raises(PermissionMapError):
        estate.sync(load_acl_map(acl_map))
    assert (estate.blobs(), estate.grants(), estate.epoch(), estate.record) == before


def test_an_unreadable_file_keeps_its_state(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b")}
    estate.sync({"a.txt": allow("group:a")})
    source.files["a.txt"] = HeldFile(b"longer", is_readable=False)
    source.files["new.txt"] = HeldFile(b"new", is_readable=False)
    report = estate.sync({"a.txt": allow("group:a")})
    assert counts(report) == {"unchanged": 1}
    assert [each.path for each in report.unreadable] == ["a.txt", "new.txt"]
    assert all("permission denied" in each.reason for each in report.unreadable)
    assert estate.blobs() == {"a.txt": sha256(b"a"), "b.txt": sha256(b"b")}
    assert estate.grants()["a.txt"] == allow("group:a")
    source.files["a.txt"].is_readable = source.files["new.txt"].is_readable = True
    assert counts(estate.sync({"a.txt": allow("group:a")})) == {"changed": 1, "new": 1, "unchanged": 1, "hashed": 2}


def test_a_wall_goes_up_before_a_file_that_cannot_be_read(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b")}
    estate.sync({"a.txt": allow("group:a"), "b.txt": allow("group:a")})
    epoch = estate.epoch()
    source.files["a.txt"] = HeldFile(b"longer", is_readable=False)
    # The new class is that of no other file.
    walled = {"a.txt": (*allow("group:a"), *deny("user:bob")), "b.txt": allow("group:a")}
    assert counts(estate.sync(walled)) == {"unchanged": 1, "grants_changed": 1}
    assert estate.grants()["a.txt"] == tuple(sorted(walled["a.txt"]))
    assert estate.epoch() == epoch + 1
    # An entry that is taken away leaves the file to nobody, read or not.
    assert counts(estate.sync({"b.txt": allow("group:a")})) == {"unchanged": 1, "grants_changed": 1}
    assert estate.grants()["a.txt"] == ()


def test_what_no_one_may_read_is_not_taken_for_a_move(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a"), "other.txt": HeldFile(b"other")}
    estate.sync()
    source.files["b.txt"] = HeldFile(source.files.pop("a.txt").content, is_readable=False)
    report = estate.sync()
    assert counts(report) == {"gone": 1, "unchanged": 1}
    assert [each.path for each in report.unreadable] == ["b.txt"]


def test_a_source_that_was_removed_meanwhile_does_not_come_back(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a")}
    estate.sync({"a.txt": allow("group:a")})
    record = estate.record
    assert remove_source(estate.catalog, record, clock=lambda: AT) == 1
    with pytest.raises(UsageError, match="has been removed"):
        sync_source(
            estate.catalog,
            record,
            source,
            {"a.txt": allow("group:a")},
            installation_key=KEY,
            rehash=False,
            clock=lambda: AT,
            progress=SilentProgress(),
        )
    assert estate.grants() == {}
