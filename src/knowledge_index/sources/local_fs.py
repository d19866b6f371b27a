"""A folder of this machine, or a mounted share, as a source."""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from knowledge_index.domain.errors import SourceError
from knowledge_index.sources.base import ListedFile, SkippedFile

_MAX_FILE_BYTES = 512 * 1024 * 1024


class LocalFolderSource:
    """Lists and reads a folder; keeps :class:`SyncSource`.

    Symbolic links are not followed, neither to files nor to folders: a link inside the root names a file that is
    listed under its own path already, and one that leaves the root must not be followed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def list_files(self) -> Iterator[ListedFile | SkippedFile]:
        """Every regular file, sorted by NFC path; what is no regular file is skipped with its reason."""
        if not self._root.is_dir():
            raise SourceError(f"{self._root}: is no folder that can be read; is the share mounted?")
        found = sorted(self._walk(self._root, ""), key=lambda each: (each.path, getattr(each, "disk_path", "")))
        previous = None
        for each in found:
            if isinstance(each, ListedFile) and each.path == previous:
                yield SkippedFile(each.path, "another file here has the same name in another Unicode form")
                continue
            previous = each.path
            yield each

    def read(self, disk_path: str) -> bytes:
        """The bytes of a regular file below the root."""
        file = self._root / disk_path
        try:
            resolved = file.parent.resolve(strict=True)
            if not resolved.is_relative_to(self._root.resolve(strict=True)):
                raise SourceError(f"{file}: lies outside the source's root; it is not read")
            # O_NOFOLLOW and O_NONBLOCK: the name may have become a link or a pipe since it was listed.
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as stream:
                status = os.fstat(stream.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise SourceError(f"{file}: is no regular file; it is not read")
                if status.st_size > _MAX_FILE_BYTES:
                    raise SourceError(f"{file}: is larger than {_MAX_FILE_BYTES >> 20} MiB; it is not read")
                return stream.read()
        except OSError as error:
            reason = "is a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
            raise SourceError(f"{file}: cannot be read: {reason}") from error

    def _walk(self, folder: Path, prefix: str) -> Iterator[ListedFile | SkippedFile]:
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            # A folder that cannot be listed would look like one whose files are all gone.
            raise SourceError(f"{folder}: cannot be listed: {error.strerror or error}; nothing was changed") from error
        for entry in entries:
            disk_path = prefix + entry.name
            path = unicodedata.normalize("NFC", disk_path)
            try:
                path.encode("utf-8")
            except UnicodeEncodeError:
                yield SkippedFile(path.encode("utf-8", "backslashreplace").decode("utf-8"), "its name is not UTF-8")
                continue
            if entry.is_symlink():
                yield SkippedFile(path, "symbolic links are not followed")
            elif entry.is_dir(follow_symlinks=False):
                yield from self._walk(Path(entry.path), disk_path + "/")
            elif entry.is_file(follow_symlinks=False):
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                yield ListedFile(path, disk_path, status.st_size, status.st_mtime_ns, status.st_ino)
            else:
                yield SkippedFile(path, "is no regular file")
