"""Files that are saved, moved and deleted while a sync looks at them."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from estate import Estate, FakeSource, HeldFile, allow, counts, sha256

from knowledge_index.domain.errors import SourceError, VanishedFileError
from knowledge_index.sources import local_fs
from knowledge_index.sources.base import ListedFile, SkippedFile
from knowledge_index.sources.local_fs import LocalFolderSource


@contextmanager
def going_on(work: Callable[[int], None]) -> Iterator[None]:
    """Does the work over and over in a thread of its own until the block ends."""
    is_over = threading.Event()

    def go_on() -> None:
        number = 0
        while not is_over.is_set():
            work(number)
            number += 1

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_files_that_are_saved_by_renaming_all_the_time_are_never_taken_for_gone(estate: Estate, root: Path) -> None:
    names = [f"{number}.txt" for number in range(40)]
    for name in names:
        (root / name).write_bytes(b"first")

    def save(number: int) -> None:
        beside = root / f"~WRD{number % 7:04}.tmp"
        beside.write_bytes(b"state %d" % number)
        beside.replace(root / names[number % len(names)])

    estate.sync()
    with going_on(save):
        for _ in range(15):
            report = estate.sync()
            assert (report.gone, report.new, report.hold) == (0, 0, None)
            assert sorted(estate.blobs()) == sorted(names)
    estate.sync()
    assert estate.blobs() == {name: sha256((root / name).read_bytes()) for name in names}
    assert estate.status.tombstoned == 0


def test_a_file_that_moves_back_and_forth_between_folders_is_lost_by_no_sync(estate: Estate, root: Path) -> None:
    for folder in ("a", "z"):
        (root / folder).mkdir()
        for number in range(30):
            (root / folder / f"{number}.txt").write_bytes(b"%s %d" % (folder.encode(), number))
    (root / "z" / "moving.txt").write_bytes(b"moving")
    estate.sync()

    def move(number: int) -> None:
        one, other = ("z", "a") if number % 2 == 0 else ("a", "z")
        (root / one / "moving.txt").rename(root / other / "moving.txt")

    with going_on(move):
        for _ in range(10):
            assert estate.sync().hold is None
    estate.sync()
    assert sum(path.endswith("/moving.txt") for path in estate.blobs()) == 1


class PassingOver(FakeSource):
    """Misses a path in its listings, as a folder does in which something is renamed just then."""

    missed = "a.txt"

    def list_files(self) -> Iterator[ListedFile | SkippedFile]:
        return (each for each in super().list_files() if each.path != self.missed)


def test_a_known_file_that_no_listing_shows_is_looked_at_before_it_is_gone(estate: Estate) -> None:
    source = PassingOver({"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b"), "c.txt": HeldFile(b"c")})
    source.missed = ""
    racing = Estate(estate.catalog, source, "racing")
    racing.sync()
    source.missed = "a.txt"
    source.files["a.txt"] = HeldFile(b"longer")
    assert counts(racing.sync()) == {"changed": 1, "unchanged": 2, "hashed": 1}
    del source.files["a.txt"]
    assert counts(racing.sync()) == {"gone": 1, "unchanged": 2}


def test_a_file_that_goes_between_list_and_look_waits_for_the_next_sync(fake: tuple[Estate, FakeSource]) -> None:
    estate, source = fake
    source.files = {"a.txt": HeldFile(b"a"), "b.txt": HeldFile(b"b")}
    estate.sync({"a.txt": allow("group:a")})
    source.files["a.txt"] = HeldFile(b"longer")
    source.files["new.txt"] = HeldFile(b"new")
    listed = list(source.list_files())
    del source.files["a.txt"], source.files["new.txt"]
    source.list_files = lambda: iter(listed)  # type: ignore[method-assign]
    report = estate.sync({})
    assert (report.vanished, report.unreadable) == (2, ())
    # Kept as it was, but not out of reach of its wall.
    assert estate.blobs() == {"a.txt": sha256(b"a"), "b.txt": sha256(b"b")}
    assert estate.grants()["a.txt"] == ()


def test_a_hash_has_the_time_size_and_inode_of_the_bytes_that_were_hashed(root: Path) -> None:
    source = LocalFolderSource(root)
    (root / "a.txt").write_bytes(b"old")
    (listed,) = source.list_files()
    beside = root / "beside"
    beside.write_bytes(b"newer")
    beside.replace(root / "a.txt")
    status = (root / "a.txt").stat()
    hashed = source.hash("a.txt")
    assert hashed.sha256 == sha256(b"newer")
    assert hashed.file == ListedFile("a.txt", "a.txt", 5, status.st_mtime_ns, status.st_ino)
    assert hashed.file != listed
    assert source.look("a.txt") == hashed.file


def test_a_file_that_is_written_to_while_it_is_hashed_is_hashed_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = root / "a.txt"
    file.write_bytes(b"half")
    digest = local_fs.hashlib.file_digest
    writes = [b"half and", b"half and more"]

    def interrupted(stream: object, name: str) -> object:
        found = digest(stream, name)  # type: ignore[arg-type]
        if writes:
            file.write_bytes(writes.pop(0))
        return found

    monkeypatch.setattr(local_fs.hashlib, "file_digest", interrupted)
    assert LocalFolderSource(root).hash("a.txt").sha256 == sha256(b"half and more")
    writes[:] = [b"x" * number for number in range(1, 9)]
    with pytest.raises(SourceError, match="is being written to"):
        LocalFolderSource(root).hash("a.txt")


def test_what_is_not_there_is_told_from_what_cannot_be_told(root: Path, tmp_path: Path) -> None:
    source = LocalFolderSource(root)
    (root / "sub").mkdir()
    (tmp_path / "outside.txt").write_bytes(b"secret")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "linked").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    (root / "file").write_bytes(b"")
    for path in ("no.txt", "no/no.txt", "sub", "link.txt", "linked/outside.txt", "pipe", "file/below.txt"):
        assert source.look(path) is None
    for path in ("no.txt", "no/no.txt", "file/below.txt"):
        with pytest.raises(VanishedFileError):
            source.hash(path)
    with pytest.raises(SourceError, match="outside"):
        source.look("../outside.txt")
    root.rename(tmp_path / "unmounted")
    for ask in (source.look, source.hash):
        with pytest.raises(SourceError, match="mounted") as caught:
            ask("file")
        assert not isinstance(caught.value, VanishedFileError)


def test_a_folder_that_goes_while_it_is_listed_does_not_stop_the_sync(
    estate: Estate, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("keep", "goes"):
        (root / folder).mkdir()
        (root / folder / "a.txt").write_bytes(folder.encode())
    estate.sync()
    scandir = os.scandir

    def deleting(path: str) -> object:
        if str(path).endswith("/goes/") and (root / "goes").exists():
            (root / "goes" / "a.txt").unlink()
            (root / "goes").rmdir()
        return scandir(path)

    monkeypatch.setattr(local_fs.os, "scandir", deleting)
    assert counts(estate.sync()) == {"gone": 1, "unchanged": 1}


def test_a_root_that_is_mounted_over_while_it_is_listed_stops_the_sync(
    estate: Estate, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "b.txt"):
        (root / name).write_bytes(b"")
    estate.sync()
    scandir = os.scandir

    def mounting(path: str) -> object:
        if root.with_name("aside").exists():
            return scandir(path)
        root.rename(root.with_name("aside"))
        root.mkdir()
        (root / "a.txt").write_bytes(b"")
        return scandir(path)

    monkeypatch.setattr(local_fs.os, "scandir", mounting)
    with pytest.raises(SourceError, match="became another folder"):
        estate.sync()
    assert sorted(estate.blobs()) == ["a.txt", "b.txt"]
