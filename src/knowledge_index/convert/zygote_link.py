"""The parent's end of the zygote: starting it, handing it jobs, noticing that it is gone."""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass

from knowledge_index.convert.zygote import READY
from knowledge_index.domain.errors import PreconditionError

# Time to load every converter on a busy machine; far longer than it takes.
_START_S = 120
_MESSAGE_CHARS = 600
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from knowledge_index.convert.zygote import main; main(int(sys.argv[1]), sys.argv[3], sys.argv[4])"
)
# Nothing of the caller's environment: it may hold secrets. One thread, so that a fork is safe; one time zone, so that a
# date is the same text everywhere.
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "TZ": "UTC",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}

_LANGUAGES_FOLDER = "TESSDATA_PREFIX"


class ZygoteGoneError(Exception):
    """The zygote ended, so nothing is known about the conversion that it was asked for."""


@dataclass(frozen=True)
class JobEnds:
    """The parent's ends of one conversion: the request is written, the result read, the status is the zygote's."""

    request: int
    result: int
    status: socket.socket

    def close(self) -> None:
        """Close what is open; the zygote then ends the child, if it has not ended by itself."""
        self.status.close()
        for descriptor in (self.request, self.result):
            with suppress(OSError):
                os.close(descriptor)


class Zygote:
    """One running zygote; a session and process group of its own, so that no key press at a terminal reaches it."""

    def __init__(self, registry_name: str, ocr_languages: str) -> None:
        """Start it and wait until it is ready.

        Raises:
            PreconditionError: it does not start.
        """
        self._control, theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._is_ended = False
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-c", _PROGRAM, str(theirs.fileno())),
                    json.dumps([os.path.abspath(each) for each in sys.path if each]),
                    *(registry_name, ocr_languages),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                env=_environment(ocr_languages),
                cwd="/",
                start_new_session=True,
            )
        self._control.settimeout(_START_S)
        try:
            word = self._control.recv(1)
        except OSError:
            word = b""
        if word != READY:
            self.end()
            assert self._process.stderr is not None
            told = self._process.stderr.read().decode("utf-8", "replace").strip()
            self._process.stderr.close()
            raise PreconditionError(
                "the process that converts files did not start, so nothing can be converted: "
                f"{told[-_MESSAGE_CHARS:] or f'no answer within {_START_S} s'}"
            )
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._control.settimeout(None)

    @property
    def pid(self) -> int:
        """Its process id, for those who watch it."""
        return self._process.pid

    def is_gone(self) -> bool:
        """Whether it has ended; it never ends by itself while its parent lives."""
        with self._lock:
            if self._is_ended:
                return True
            # It says nothing after its first word, so there is something to read only when its end is closed.
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            return bool(poll.poll(0))

    def start_job(self) -> JobEnds:
        """Have a child forked.

        Raises:
            ZygoteGoneError: there is no zygote to do it.
        """
        their_request, request = os.pipe()
        result, their_result = os.pipe()
        status, their_status = socket.socketpair()
        ends = JobEnds(request, result, status)
        os.set_blocking(request, False)
        os.set_blocking(result, False)
        try:
            with self._lock:
                socket.send_fds(self._control, [b"J"], [their_request, their_result, their_status.fileno()])
        except OSError as error:
            ends.close()
            raise ZygoteGoneError from error
        finally:
            os.close(their_request)
            os.close(their_result)
            their_status.close()
        return ends

    def end(self) -> None:
        """End it and every child of it."""
        with self._lock:
            if self._is_ended:
                return
            self._is_ended = True
            self._control.close()
            # Not reaped yet, so its number is nobody else's.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def _environment(ocr_languages: str) -> dict[str, str]:
    # Where Tesseract's languages lie elsewhere, this process has just found them there.
    folder = os.environ.get(_LANGUAGES_FOLDER) if ocr_languages else None
    return _ENVIRONMENT if folder is None else _ENVIRONMENT | {_LANGUAGES_FOLDER: folder}


_running: dict[tuple[str, str], Zygote] = {}
_running_lock = threading.Lock()


def running_zygote(registry_name: str, ocr_languages: str = "") -> Zygote:
    """The zygote of this process for a registry and languages of text recognition.

    It is started where there is none yet or the last one has ended.

    Raises:
        PreconditionError: it does not start.
    """
    with _running_lock:
        zygote = _running.get((registry_name, ocr_languages))
        if zygote is not None and zygote.is_gone():
            zygote.end()
            zygote = None
        if zygote is None:
            zygote = _running[registry_name, ocr_languages] = Zygote(registry_name, ocr_languages)
        return zygote


@atexit.register
def _end_all() -> None:
    while _running:
        _running.popitem()[1].end()


def _forget() -> None:
    """A fork of this process has its parent's zygotes only by name: their sockets are the parent's."""
    global _running_lock
    _running_lock = threading.Lock()
    for zygote in _running.values():
        zygote._control.close()
    _running.clear()


os.register_at_fork(after_in_child=_forget)
