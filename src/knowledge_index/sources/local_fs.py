"""A folder of this machine, or a mounted share, as a source."""

import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from knowledge_index.domain.errors import SourceError, VanishedFileError
from knowledge_index.sources.base import HashedFile, ListedFile, SkippedFile

_MAX_FILE_BYTES = 512 * 1024 * 1024
_HINT_RANGE = 2**64
_HASH_ATTEMPTS = 3
# A file that is not there, or a part of its path that is no folder (any more).
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR})


class LocalFolderSource:
    """Lists and reads a folder; keeps :class:`SyncSource`.

    Symbolic links are not followed, neither to files nor to folders: a link inside the root names a file that is
    listed under its own path already, and one that leaves the root must not be followed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def list_files(self) -> Iterator[ListedFile | SkippedFile]:
        """Every regular file, sorted by NFC path; what is no regular file is skipped with its reason."""
        mounted = self._identity()
        found = sorted(self._walk(), key=lambda each: (each.path, getattr(each, "disk_path", "")))
        if self._identity() != mounted:
            raise SourceError(f"{self._root}: became another folder while it was listed; nothing was changed")
        taken = None
        for each in found:
            if isinstance(each, ListedFile):
                if each.path == taken:
                    yield SkippedFile(each.path, "another file here has the same name in another Unicode form")
                    continue
                taken = each.path
            yield each

    def _identity(self) -> tuple[int, int]:
        try:
            status = self._root.stat()
        except OSError as error:
            raise self._unmounted() from error
        if not stat.S_ISDIR(status.st_mode):
            raise self._unmounted()
        return status.st_dev, status.st_ino

    def _unmounted(self) -> SourceError:
        return SourceError(f"{self._root}: is no folder that can be read; is the share mounted?")

    def look(self, disk_path: str) -> ListedFile | None:
        """The regular file at a path below the root, if one is there; links are not followed."""
        try:
            folder, name = self._open_folder(disk_path)
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno in _NOT_THERE or error.errno == errno.ELOOP:
                return None
            raise self._unreadable(disk_path, error) from error
        return _listed(disk_path, status) if stat.S_ISREG(status.st_mode) else None

    def hash(self, disk_path: str) -> HashedFile:
        """Hashes a regular file below the root, again where it was written to meanwhile."""
        for _ in range(_HASH_ATTEMPTS):
            with self._opened(disk_path) as stream:
                before = _listed(disk_path, os.fstat(stream.fileno()))
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
                after = _listed(disk_path, os.fstat(stream.fileno()))
                if before == after and stream.tell() == after.size_bytes:
                    return HashedFile(after, sha256)
        raise SourceError(f"{self._root}/{disk_path}: is being written to; sync again when that has ended")

    def read(self, disk_path: str) -> bytes:
        """The bytes of a regular file below the root; no part of its path may be a link or lead upwards."""
        with self._opened(disk_path) as stream:
            return stream.read()

    @contextmanager
    def _opened(self, disk_path: str) -> Iterator[BufferedReader]:
        file = f"{self._root}/{disk_path}"
        try:
            with os.fdopen(self._open(disk_path), "rb") as stream:
                status = os.fstat(stream.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise SourceError(f"{file}: is no regular file; it is not read")
                if status.st_size > _MAX_FILE_BYTES:
                    raise SourceError(f"{file}: is larger than {_MAX_FILE_BYTES >> 20} MiB; it is not read")
                yield stream
        except OSError as error:
            raise self._unreadable(disk_path, error) from error

    def _unreadable(self, disk_path: str, error: OSError) -> SourceError:
        reason = "is a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
        kind = VanishedFileError if error.errno in _NOT_THERE else SourceError
        return kind(f"{self._root}/{disk_path}: cannot be read: {reason}")

    def _open(self, disk_path: str) -> int:
        folder, name = self._open_folder(disk_path)
        try:
            # O_NONBLOCK: the name may have become a pipe, which would be waited for.
            return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)

    def _open_folder(self, disk_path: str) -> tuple[int, str]:
        """A descriptor of the file's folder, opened step by step: any may have become a link since; and its name."""
        parts = disk_path.split("/")
        if not all(parts) or {".", ".."} & set(parts):
            raise SourceError(f"{self._root}/{disk_path}: is no path below the source's root, or leads outside of it")
        try:
            folder = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            # Without its root a source says nothing about a file, not even that it is gone.
            raise self._unmounted() from error
        try:
            for part in parts[:-1]:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                os.close(folder)
                folder = below
        except OSError:
            os.close(folder)
            raise
        return folder, parts[-1]

    def _walk(self) -> Iterator[ListedFile | SkippedFile]:
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            folder = f"{self._root}/{prefix}"
            try:
                with os.scandir(folder) as scan:
                    for entry in scan:
                        if entry.is_dir(follow_symlinks=False) and _is_utf8(entry.name):
                            waiting.append(f"{prefix}{entry.name}/")
                        else:
                            yield _seen(prefix + entry.name, entry)
            except OSError as error:
                if prefix and error.errno in _NOT_THERE:
                    continue
                # A folder that cannot be listed would look like one whose files are all gone.
                raise SourceError(
                    f"{folder}: cannot be listed: {error.strerror or error}; nothing was changed"
                ) from error


def _seen(disk_path: str, entry: os.DirEntry[str]) -> ListedFile | SkippedFile:
    path = unicodedata.normalize("NFC", disk_path)
    if not _is_utf8(path):
        return SkippedFile(path.encode("utf-8", "backslashreplace").decode("utf-8"), "its name is not UTF-8")
    if entry.is_symlink():
        return SkippedFile(path, "symbolic links are not followed")
    if not entry.is_file(follow_symlinks=False):
        return SkippedFile(path, "is no regular file")
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return SkippedFile(path, "was gone before it could be looked at")
    return _listed(disk_path, status)


def _listed(disk_path: str, status: os.stat_result) -> ListedFile:
    path = unicodedata.normalize("NFC", disk_path)
    return ListedFile(path, disk_path, status.st_size, _hint(status.st_mtime_ns), _hint(status.st_ino))


def _hint(value: int) -> int:
    """A time or inode within the signed 64 bits that a catalog stores: a file system may hold dates beyond 2262."""
    half = _HINT_RANGE // 2
    return (value + half) % _HINT_RANGE - half


def _is_utf8(name: str) -> bool:
    """Whether a name holds none of the surrogates that stand for bytes that are no UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in name)
