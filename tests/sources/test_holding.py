"""A mass disappearance, as when a share is unmounted, is held; what is held stays as it was."""

import itertools
import sqlite3
import unicodedata
from pathlib import Path

import pytest
from estate import AT, Estate, FakeSource, HeldFile, allow, counts, deny

from knowledge_index.catalog.records import FindingKind, HeldDeletion, ScanFinding

NOW = AT.isoformat(timespec="seconds")


def fill(root: Path, count: int) -> list[Path]:
    files = [root / f"{number:03}.txt" for number in range(count)]
    for file in files:
        file.write_bytes(file.name.encode())
    return files


def held(estate: Estate) -> list[HeldDeletion]:
    with estate.catalog.transaction() as session:
        return session.status.held_deletions()


@pytest.mark.parametrize("count", [1, 5, 30])
def test_an_emptied_mount_is_believed_at_the_third_sync(estate: Estate, root: Path, count: int) -> None:
    files = fill(root, count)
    estate.sync()
    for file in files:
        file.unlink()
    for scans in (1, 2):
        report = estate.sync()
        assert (counts(report), report.hold and report.hold.scans) == ({}, scans)
        assert held(estate) == [HeldDeletion("dms", count, NOW, scans)]
        assert len(estate.blobs()) == count
    assert counts(estate.sync()) == {"gone": count}
    assert (held(estate), estate.blobs(), estate.status.tombstoned) == ([], {}, count)


def test_a_share_that_comes_back_is_as_it_was_and_reads_nothing(estate: Estate, root: Path) -> None:
    fill(root, 30)
    estate.sync()
    root.rename(root.with_name("aside"))
    root.mkdir()
    estate.sync()
    estate.sync()
    root.rmdir()
    root.with_name("aside").rename(root)
    assert counts(estate.sync()) == {"unchanged": 30}
    assert (held(estate), estate.status.tombstoned) == ([], 0)
    # Nothing of the old hold is left to count on.
    root.rename(root.with_name("aside"))
    root.mkdir()
    assert (report := estate.sync()).hold
    assert report.hold.scans == 1


def test_more_than_half_of_many_is_held_and_half_is_not(estate: Estate, root: Path) -> None:
    files = fill(root, 30)
    estate.sync()
    for file in files[:15]:
        file.unlink()
    assert counts(estate.sync()) == {"gone": 15, "unchanged": 15}
    files = fill(root, 30)
    estate.sync()
    for file in files[:16]:
        file.unlink()
    report = estate.sync()
    assert (counts(report), len(report.hold.object_ids) if report.hold else 0) == ({"unchanged": 14}, 16)


def test_deletions_are_confirmed_by_a_person(estate: Estate, root: Path) -> None:
    files = fill(root, 30)
    estate.sync()
    for file in files:
        file.unlink()
    assert estate.sync().hold
    report = estate.sync(confirm_deletions=True)
    assert (counts(report), report.hold, held(estate)) == ({"gone": 30}, None, [])


def test_a_wall_goes_up_before_what_is_held(estate: Estate, root: Path) -> None:
    (file,) = fill(root, 1)
    estate.sync({file.name: allow("group:a")})
    file.unlink()
    walled = {file.name: (*allow("group:a"), *deny("user:bob"))}
    epoch = estate.epoch()
    report = estate.sync(walled)
    assert (counts(report), bool(report.hold)) == ({"grants_changed": 1}, True)
    assert estate.grants() == {file.name: tuple(sorted(walled[file.name]))}
    assert estate.epoch() == epoch + 1
    # Its entry is no entry without a file: the file is only held to be missing.
    assert report.grants_without_file == ()


def test_a_renamed_top_folder_is_a_move_and_no_disappearance(estate: Estate, root: Path) -> None:
    (root / "2025").mkdir()
    fill(root / "2025", 30)
    estate.sync()
    (root / "2025").rename(root / "2026")
    report = estate.sync()
    assert (counts(report), report.hold) == ({"moved": 30, "hashed": 30}, None)


def test_scans_that_do_not_count_let_no_hold_run_out(estate: Estate, root: Path) -> None:
    (file,) = fill(root, 1)
    estate.sync()
    file.unlink()
    for _ in range(5):
        assert estate.sync(scan_counts=False).gone == 0
    assert [estate.sync().gone for _ in range(2)] == [0, 1]


def test_what_an_operator_has_to_look_at_is_kept_until_the_next_sync(estate: Estate, root: Path) -> None:
    fill(root, 2)
    (root / "link").symlink_to("000.txt")
    (root / "Thumbs.db").write_bytes(b"")
    report = estate.sync({"001.txt": allow("group:a"), "nowhere.txt": allow("group:a"), "link": (), "Thumbs.db": ()})
    assert report.grants_without_file == ("nowhere.txt",)
    assert (report.without_grants, report.noise) == (("000.txt",), 1)
    with estate.catalog.transaction() as session:
        assert [(each.kind, each.path) for each in session.status.findings()] == [
            ("grants_without_file", "nowhere.txt"),
            ("skipped", "link"),
        ]
        assert [(each.source, each.path) for each in session.status.without_grants()] == [("dms", "000.txt")]
    (root / "link").unlink()
    estate.sync({"000.txt": allow("group:a"), "001.txt": allow("group:a")})
    with estate.catalog.transaction() as session:
        assert (session.status.findings(), session.status.without_grants()) == ([], [])


def test_a_new_file_that_cannot_be_read_is_kept_for_status(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"new.txt": HeldFile(b"", is_readable=False)}
    estate.sync()
    with estate.catalog.transaction() as session:
        assert session.status.findings() == [
            ScanFinding("dms", FindingKind.UNREADABLE, "new.txt", "new.txt: cannot be read: permission denied")
        ]


def test_a_move_to_where_nobody_has_grants_is_named(estate: Estate, root: Path) -> None:
    (file,) = fill(root, 1)
    estate.sync({file.name: allow("group:a")})
    file.rename(root / "elsewhere.txt")
    report = estate.sync({file.name: allow("group:a")})
    assert [(each.origin.path, each.to) for each in report.moved_out_of_sight] == [(file.name, "elsewhere.txt")]
    assert estate.grants() == {"elsewhere.txt": ()}


def test_a_moved_file_is_the_same_file_over_all_its_places(estate: Estate, root: Path, catalog_file: Path) -> None:
    places = ["a.txt", "Prüfung.txt", unicodedata.normalize("NFD", "Prüfung.txt"), "A.txt", "sub/a.txt"]
    (root / "sub").mkdir()
    (root / places[0]).write_bytes(b"paper")
    estate.sync()
    moved = []
    for here, there in itertools.pairwise(places):
        (root / here).rename(root / there)
        moved.append(counts(estate.sync()))
    step = {"moved": 1, "hashed": 1}
    # Another spelling of the same name is no move at all.
    assert moved == [step, {"unchanged": 1, "hashed": 1}, step, step]
    connection = sqlite3.connect(catalog_file)
    chain = connection.execute(
        "WITH RECURSIVE file(id, path, origin) AS ("
        " SELECT id, path, moved_from_id FROM source_object WHERE state = 'current'"
        " UNION ALL SELECT o.id, o.path, o.moved_from_id FROM source_object o JOIN file ON o.id = file.origin"
        ") SELECT path FROM file"
    ).fetchall()
    connection.close()
    assert [path for (path,) in chain] == ["sub/a.txt", "A.txt", "Prüfung.txt", "a.txt"]


def test_names_that_differ_in_case_are_two_files_where_the_disk_says_so(estate: Estate, root: Path) -> None:
    (root / "lease.txt").write_bytes(b"a")
    (root / "LEASE.txt").write_bytes(b"b")
    if len(list(root.iterdir())) == 1:
        pytest.skip("this file system does not tell letters of different case apart")
    estate.sync({"lease.txt": allow("group:a")})
    assert estate.grants() == {"lease.txt": allow("group:a"), "LEASE.txt": ()}
