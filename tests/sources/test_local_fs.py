import os
import re
import socket
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge_index.domain.errors import SourceError
from knowledge_index.sources import local_fs
from knowledge_index.sources.base import ListedFile, SkippedFile
from knowledge_index.sources.local_fs import LocalFolderSource

COMPOSED, DECOMPOSED = "\u00fc", "u\u0308"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "estate"
    root.mkdir()
    return root


def put(file: Path, content: str = "text") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return file


def listed(root: Path) -> list[ListedFile]:
    return [each for each in LocalFolderSource(root).list_files() if isinstance(each, ListedFile)]


def skipped(root: Path) -> dict[str, str]:
    return {each.path: each.reason for each in LocalFolderSource(root).list_files() if isinstance(each, SkippedFile)}


def test_files_come_sorted_by_path_with_their_hints(root: Path) -> None:
    for path in ("b.txt", "a/z.txt", "a-1.txt", "a/b/c.txt", "Z.txt", ".hidden", "ä.txt"):
        put(root / path, path)
    (root / "empty folder").mkdir()
    found = listed(root)
    assert [each.path for each in found] == [
        ".hidden",
        "Z.txt",
        "a-1.txt",
        "a/b/c.txt",
        "a/z.txt",
        "b.txt",
        "ä.txt",
    ]
    for each in found:
        status = (root / each.disk_path).stat()
        assert (each.size_bytes, each.mtime_ns, each.inode) == (status.st_size, status.st_mtime_ns, status.st_ino)
    assert skipped(root) == {}


def test_paths_are_nfc_and_disk_paths_as_the_disk_spells_them(root: Path) -> None:
    put(root / f"{DECOMPOSED}bung" / f"Pr{DECOMPOSED}fung.txt", "decomposed")
    (only,) = listed(root)
    assert only.path == f"{COMPOSED}bung/Pr{COMPOSED}fung.txt"
    assert only.disk_path == f"{DECOMPOSED}bung/Pr{DECOMPOSED}fung.txt"
    assert LocalFolderSource(root).read(only.disk_path) == b"decomposed"


names = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", categories=("L", "M", "N", "P", "Zs")),
    min_size=1,
    max_size=4,
).filter(lambda name: name not in (".", ".."))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.frozensets(st.tuples(names, names), min_size=1, max_size=5))
def test_every_file_is_listed_once_under_a_distinct_path(
    tmp_path_factory: pytest.TempPathFactory, paths: frozenset[tuple[str, str]]
) -> None:
    root = tmp_path_factory.mktemp("estate")
    for folder, name in paths:
        put(root / folder / name)
    found = listed(root)
    expected = {unicodedata.normalize("NFC", f"{folder}/{name}") for folder, name in paths}
    assert [each.path for each in found] == sorted(expected)
    assert len(list(LocalFolderSource(root).list_files())) == len(paths)
    assert found == listed(root)


@pytest.mark.parametrize("in_folder", [False, True])
def test_of_two_files_with_one_name_in_two_unicode_forms_one_is_listed(root: Path, in_folder: bool) -> None:
    for form in (COMPOSED, DECOMPOSED):
        put(root / form / "x.txt" if in_folder else root / f"{form}.txt", form)
    (only,) = listed(root)
    assert only.disk_path.startswith(DECOMPOSED)
    assert skipped(root) == {only.path: "another file here has the same name in another Unicode form"}


def test_a_link_does_not_hide_a_file_whose_name_it_has_in_another_unicode_form(root: Path) -> None:
    put(root / f"{COMPOSED}.txt")
    (root / f"{DECOMPOSED}.txt").symlink_to("elsewhere")
    assert [each.disk_path for each in listed(root)] == [f"{COMPOSED}.txt"]
    assert skipped(root) == {f"{COMPOSED}.txt": "symbolic links are not followed"}


def test_symbolic_links_are_skipped_wherever_they_lead(root: Path, tmp_path: Path) -> None:
    put(root / "folder" / "inside.txt")
    secret = put(tmp_path / "outside" / "secret.txt")
    links = {
        "to-file-inside": root / "folder" / "inside.txt",
        "to-file-outside": secret,
        "to-folder-inside": root / "folder",
        "to-folder-outside": secret.parent,
        "to-itself": root / "to-itself",
        "dangling": root / "nowhere",
        "folder/to-its-parent": root,
        "folder/relative": Path("../../outside/secret.txt"),
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    assert [each.path for each in listed(root)] == ["folder/inside.txt"]
    assert skipped(root) == dict.fromkeys(links, "symbolic links are not followed")


def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    put(root / "a" / "b.txt", "b")
    (tmp_path / "mounted").symlink_to(root)
    assert [each.path for each in listed(tmp_path / "mounted")] == ["a/b.txt"]
    assert LocalFolderSource(tmp_path / "mounted").read("a/b.txt") == b"b"


def test_what_is_no_regular_file_is_skipped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root / "file.txt")
    os.mkfifo(root / "pipe")
    # A socket's address is short, so it is bound from within.
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    assert [each.path for each in listed(root)] == ["file.txt"]
    assert skipped(root) == {"pipe": "is no regular file", "socket": "is no regular file"}


def test_names_that_are_not_utf8_are_skipped_and_can_be_printed(root: Path) -> None:
    put(root / "fine.txt")
    folder = os.fsencode(root)
    try:
        Path(os.fsdecode(folder + b"/Pr\xfcfung.txt")).write_bytes(b"latin-1")
        Path(os.fsdecode(folder + b"/\xc4rger")).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    Path(os.fsdecode(folder + b"/\xc4rger/inside.txt")).write_bytes(b"")
    assert [each.path for each in listed(root)] == ["fine.txt"]
    found = skipped(root)
    assert set(found.values()) == {"its name is not UTF-8"}
    assert len(found) == 2
    assert all(path.encode("utf-8") for path in found)


def make_nested(root: Path, name: str, depth: int) -> None:
    """Folders in folders, made one from the other, since the whole path may be longer than a call takes."""
    descriptor = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)


def test_folders_may_lie_deep(root: Path) -> None:
    depth = 1050
    if os.pathconf(root, "PC_PATH_MAX") < 3 * depth:
        pytest.skip("this system's paths are too short")
    path = "/".join("d" * depth)
    try:
        make_nested(root, "d", depth)
        put(root / path / "x.txt", "deep")
        (only,) = listed(root)
        assert only.path == f"{path}/x.txt"
        assert LocalFolderSource(root).read(only.disk_path) == b"deep"
    finally:
        # Python's own removal, which clears old temporary folders, would run out of stack.
        subprocess.run(["rm", "-rf", str(root)], check=True)


def test_a_folder_that_cannot_be_listed_fails_the_whole_source(root: Path) -> None:
    put(root / "a.txt")
    # Longer than any path may be: even root cannot list it, where a mere mode would not stop root.
    make_nested(root, "x" * 250, 20)
    with pytest.raises(SourceError, match="cannot be listed"):
        listed(root)


def test_a_missing_root_fails_instead_of_being_empty(tmp_path: Path) -> None:
    for root in (tmp_path / "nowhere", put(tmp_path / "file")):
        with pytest.raises(SourceError, match=re.escape(str(root))):
            listed(root)


def swap_file_for_link_inside(root: Path) -> None:
    (root / "a" / "x.txt").unlink()
    (root / "a" / "x.txt").symlink_to(root / "b" / "x.txt")


def swap_file_for_link_outside(root: Path) -> None:
    (root / "a" / "x.txt").unlink()
    (root / "a" / "x.txt").symlink_to(root.parent / "outside" / "x.txt")


def swap_folder_for_link_inside(root: Path) -> None:
    (root / "a").rename(root / "was-a")
    (root / "a").symlink_to(root / "b")


def swap_folder_for_link_outside(root: Path) -> None:
    (root / "a").rename(root / "was-a")
    (root / "a").symlink_to(root.parent / "outside")


def swap_file_for_pipe(root: Path) -> None:
    (root / "a" / "x.txt").unlink()
    os.mkfifo(root / "a" / "x.txt")


def swap_file_for_folder(root: Path) -> None:
    (root / "a" / "x.txt").unlink()
    (root / "a" / "x.txt").mkdir()


def delete_file(root: Path) -> None:
    (root / "a" / "x.txt").unlink()


def make_file_huge(root: Path) -> None:
    os.truncate(root / "a" / "x.txt", 512 * 1024 * 1024 + 1)


@pytest.mark.parametrize(
    "change",
    [
        swap_file_for_link_inside,
        swap_file_for_link_outside,
        # Another folder's file under this folder's name would come under this folder's grants.
        swap_folder_for_link_inside,
        swap_folder_for_link_outside,
        swap_file_for_pipe,
        swap_file_for_folder,
        delete_file,
        make_file_huge,
    ],
)
def test_what_was_swapped_in_after_listing_is_not_read(root: Path, change: Callable[[Path], None]) -> None:
    put(root / "a" / "x.txt", "mine")
    put(root / "b" / "x.txt", "behind a wall")
    put(root.parent / "outside" / "x.txt", "outside")
    source = LocalFolderSource(root)
    assert source.read("a/x.txt") == b"mine"
    change(root)
    with pytest.raises(SourceError, match=re.escape(str(root / "a" / "x.txt"))):
        source.read("a/x.txt")


@pytest.mark.parametrize(
    "path", ["..", "../outside.txt", "a/../../outside.txt", "a/../b.txt", "./../outside.txt", "", ".", "/", "a", "a/"]
)
def test_a_path_that_leaves_the_root_or_names_no_file_is_not_read(root: Path, path: str) -> None:
    put(root / "a" / "x.txt")
    put(root / "b.txt")
    put(root.parent / "outside.txt")
    with pytest.raises(SourceError):
        LocalFolderSource(root).read(path)


def test_an_absolute_path_is_not_read_even_within_the_root(root: Path) -> None:
    for file in (put(root / "a.txt"), put(root.parent / "outside.txt")):
        with pytest.raises(SourceError, match="outside"):
            LocalFolderSource(root).read(str(file))


def test_a_source_is_never_written_to(root: Path) -> None:
    for path in ("a.txt", "b/c.txt"):
        put(root / path)

    def tree() -> list[tuple[str, int, int]]:
        return sorted((str(each), each.stat().st_mtime_ns, each.stat().st_mode) for each in [root, *root.rglob("*")])

    before = tree()
    for each in listed(root):
        LocalFolderSource(root).read(each.disk_path)
    assert tree() == before


class _EntryOfAnotherFileSystem:
    """A folder's entry with a time and an inode that this machine's file systems may not hold."""

    name = "a.txt"

    def __init__(self, time_ns: int, inode: int) -> None:
        self.st_mtime_ns, self.st_ino, self.st_size = time_ns, inode, 4

    def is_symlink(self) -> bool:
        return False

    def is_file(self, *, follow_symlinks: bool) -> bool:
        return True

    def stat(self, *, follow_symlinks: bool) -> "_EntryOfAnotherFileSystem":
        return self


@given(st.integers(-(2**70), 2**70), st.integers(0, 2**64 - 1))
def test_hints_beyond_what_a_catalog_stores_are_wrapped_into_its_range(time_ns: int, inode: int) -> None:
    found = local_fs._seen("a.txt", _EntryOfAnotherFileSystem(time_ns, inode))  # type: ignore[arg-type]
    assert isinstance(found, ListedFile)
    for hint, value in ((found.mtime_ns, time_ns), (found.inode, inode)):
        assert -(2**63) <= hint < 2**63
        assert (hint - value) % 2**64 == 0
        assert hint == value or not -(2**63) <= value < 2**63
