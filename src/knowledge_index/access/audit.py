"""The append-only log of who searched what, and of every change of walls."""

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from knowledge_index.access.audit_chain import (
    GENESIS,
    AuditAction,
    AuditEntry,
    AuditEvent,
    BrokenEntryError,
    Checkpoint,
    Verification,
    entry_line,
    read_line,
    verify_chain,
)
from knowledge_index.domain.errors import AuditLogError

_LOCK_TIMEOUT_S = 30
_BLOCK_BYTES = 8192
# Threads of one process queue here: a file lock that is held is asked for again only every 50 ms.
_THREADS_LOCK = threading.Lock()


@dataclass(frozen=True)
class AuditLog:
    """JSON lines in ``file``, one entry each, hash-chained; written by any number of processes, one at a time.

    An entry is acknowledged when ``append`` returns, and is on the disk then. What a crash leaves of an entry that was
    never acknowledged has no line feed; the next append cuts it off and says so in an entry of its own. Entries are
    never changed or removed, and the file is never rotated: an entry takes some 600 bytes, so ten thousand searches a
    day make about 2 GB a year.

    Messages of errors tell nothing of the entries, since a caller may read them.
    """

    file: Path

    def append(self, event: AuditEvent) -> Checkpoint:
        """Add an entry and return its checkpoint once it is on the disk.

        Raises:
            AuditLogError: it could not be written, or the end of the log is damaged; the log is as it was.
        """
        with self._failing_as("cannot be written"), self._locked():
            is_new = not self.file.exists()
            descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                head, torn = _read_end(descriptor)
                lines = b""
                if torn:
                    line, head = entry_line(_recovery(event, torn), head)
                    lines += line
                line, head = entry_line(event, head)
                _write_end(descriptor, len(torn), lines + line)
            finally:
                os.close(descriptor)
            if is_new:
                _fsync_folder(self.file.parent)
        return head

    def verify(self, checkpoints: Sequence[Checkpoint] = ()) -> Verification:
        """Check every entry and link, and that each checkpoint is an entry of this log.

        Raises:
            AuditLogError: the file cannot be read.
        """
        with self._failing_as("cannot be read"):
            return verify_chain(self._lines(), checkpoints)

    def entries(self) -> Iterator[AuditEntry]:
        """All entries, oldest first.

        Raises:
            AuditLogError: one cannot be read.
        """
        with self._failing_as("cannot be read"):
            for line in self._lines():
                yield read_line(line.removesuffix(b"\n"))

    def _lines(self) -> Iterator[bytes]:
        """The lines that there are now, whatever is appended while they are read."""
        if not self.file.exists():
            return
        with self._locked():
            size = self.file.stat().st_size
        with self.file.open("rb") as stream:
            while size and (line := stream.readline(size)):
                size -= len(line)
                yield line

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _THREADS_LOCK, FileLock(self.file.with_suffix(".lock"), timeout=_LOCK_TIMEOUT_S):
            yield

    @contextmanager
    def _failing_as(self, what: str) -> Iterator[None]:
        try:
            yield
        except BrokenEntryError as error:
            raise AuditLogError(
                f"{self.file}: the audit log is damaged, so nothing is searched or changed; an operator has to run "
                "'ki audit verify', then to put a backup in its place, or to keep it elsewhere and begin a new one"
            ) from error
        except Timeout as error:
            raise AuditLogError(
                f"{self.file}: the audit log {what}: another process has held it for {_LOCK_TIMEOUT_S} seconds; "
                "try again when it has ended"
            ) from error
        except (OSError, NotImplementedError) as error:
            cause = (error.strerror if isinstance(error, OSError) else None) or error
            raise AuditLogError(
                f"{self.file}: the audit log {what} ({cause}), and nothing is searched or changed without it; "
                "make it writable for this user and free its disk if it is full"
            ) from error


def _recovery(event: AuditEvent, torn: bytes) -> AuditEvent:
    """That the beginning of an entry was cut off, told by the one who came upon it."""
    details = (("dropped_bytes", str(len(torn))), ("dropped_sha256", hashlib.sha256(torn).hexdigest()))
    return AuditEvent(event.at, event.account, AuditAction.RECOVERY, "operator", details=details)


def _read_end(descriptor: int) -> tuple[Checkpoint, bytes]:
    """The last whole entry as a checkpoint, and what stands after it without a line feed."""
    place = os.lseek(descriptor, 0, os.SEEK_END)
    end = b""
    while place and end.count(b"\n") < 2:
        step = min(_BLOCK_BYTES, place)
        place -= step
        end = os.pread(descriptor, step, place) + end
    whole, separator, torn = end.rpartition(b"\n")
    if not separator:
        return GENESIS, torn
    return read_line(whole.rpartition(b"\n")[2]).checkpoint, torn


def _write_end(descriptor: int, torn_bytes: int, lines: bytes) -> None:
    """Write over the torn end, and leave the file without the lines where that fails.

    Over it and not after cutting it off: a crash in between would lose the fact that it was there. Whatever part of
    this reaches the disk, the file goes on ending in whole entries and at most one beginning of an entry.
    """
    size = os.lseek(descriptor, 0, os.SEEK_END)
    start = size - torn_bytes
    try:
        written = 0
        while written < len(lines):
            written += os.pwrite(descriptor, lines[written:], start + written)
        os.ftruncate(descriptor, start + len(lines))
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, start)
            os.fsync(descriptor)
        raise


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
