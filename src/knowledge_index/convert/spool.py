"""Bytes that wait on disk until they are wanted."""

import os
import tempfile
from collections.abc import Iterable

from knowledge_index.domain.documents import Content
from knowledge_index.domain.errors import PreconditionError


class Spool:
    """A file without a name, for this process alone, which goes with the last content that lies in it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  closed when nothing refers to it any more
        self._size_bytes = 0

    def put(self, pieces: Iterable[bytes]) -> Content:
        """Keep bytes.

        Raises:
            PreconditionError: there is no room for them.
        """
        start = self._size_bytes
        for piece in pieces:
            view = memoryview(piece)
            try:
                while view:
                    view = view[self._file.write(view) or 0 :]
            except OSError as error:
                raise PreconditionError(
                    f"a file inside another cannot be kept in {tempfile.gettempdir()} while it is read: "
                    f"{error.strerror}; make room there, or name another folder in TMPDIR"
                ) from error
            self._size_bytes += len(piece)
        return _Spooled(self, start, self._size_bytes - start)

    def read(self, start: int, size_bytes: int) -> bytes:
        """Bytes from a place in the file on; safe from several threads."""
        return os.pread(self._file.fileno(), size_bytes, start)


class _Spooled:
    def __init__(self, spool: Spool, start: int, size_bytes: int) -> None:
        self._spool = spool
        self._start = start
        self._size_bytes = size_bytes

    def __len__(self) -> int:
        return self._size_bytes

    def __getitem__(self, part: slice, /) -> bytes:
        first, last, step = part.indices(self._size_bytes)
        # A read may give less than it was asked for.
        pieces: list[bytes] = []
        while first < last and (piece := self._spool.read(self._start + first, last - first)):
            pieces.append(piece)
            first += len(piece)
        return b"".join(pieces)[::step]
