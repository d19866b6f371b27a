"""The process that forks one child for each conversion: started once, with every converter loaded, reading no file.

It runs one thread, so a fork is safe, and it keeps no result: a child reads its file from one pipe and writes its
result into another, both made by the parent for this conversion alone.
"""

import gc
import io
import mmap
import os
import resource
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import NoReturn, cast

from knowledge_index.convert import frames, sandbox
from knowledge_index.convert.base import Converter
from knowledge_index.domain.documents import Content
from knowledge_index.domain.errors import ConversionError

# Processor seconds, address space in bytes, output and contained files in bytes; the sizes of name and data.
REQUEST = struct.Struct("<IQQQIQ")
# How a child ended, as waitpid says, its processor seconds, its largest resident size in bytes.
ENDING = struct.Struct("<idQ")
DESCRIPTORS_PER_JOB = 3
READY = b"R"
EXIT_MEMORY, EXIT_NO_SANDBOX, EXIT_FAULT = 101, 102, 103
FORK_FAILED = -1

# What converters import when they first need it; loaded here, it costs no conversion anything.
_LIBRARIES = (
    *("lxml.etree", "openpyxl", "pypdfium2", "inscriptis", "charset_normalizer", "email.parser", "zipfile"),
    *("pptx", "olefile", "oxmsg.storage", "compressed_rtf"),
)
_REQUEST_DESCRIPTOR, _RESULT_DESCRIPTOR = 3, 4
_BALLAST_BYTES = 4 << 20
_READ_BYTES = 1 << 16
# Linux counts resident sizes in KiB, macOS in bytes.
_RESIDENT_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
_MAX_CAUSES = 20
# libxml2 and others call it damage when they get no memory. Damage found after so large a share of it is taken for
# that: buffers grow by doubling, so who has more than this share asks for more than there is.
_SUSPECT_SHARE = 0.4

# A path and the languages of text recognition.
Registry = Callable[[str, str], Converter]


def main(control_descriptor: int, registry_name: str, ocr_languages: str) -> NoReturn:
    """Serve until the other end of the control socket is closed."""
    control = socket.socket(fileno=control_descriptor)
    registry = _load(registry_name, ocr_languages)
    own_bytes = sandbox.address_space_bytes()
    sandbox.prepare()
    sandbox.prefer_as_victim()
    sandbox.restrict_reading([sys.prefix, sys.base_prefix, *sys.path])
    gc.collect()
    gc.freeze()
    control.sendall(READY)
    # What goes wrong at the start is read by the parent; later on, libraries print what hostile files have them print.
    os.dup2(1, 2)
    _Zygote(control, lambda name: registry(name, ocr_languages), own_bytes).serve()


def _load(registry_name: str, ocr_languages: str) -> Registry:
    # openpyxl loads it where it is installed and needs it for writing only; every fork would pay for its memory.
    sys.modules["numpy"] = None  # type: ignore[assignment]
    for library in _LIBRARIES:
        import_module(library)
    registry = registry_named(registry_name)
    from knowledge_index.convert import converter_modules
    from knowledge_index.convert.normalise import normal_form

    for converter_module in converter_modules():
        import_module(converter_module)
    # Its table of characters is made on first use.
    normal_form("ä")
    if ocr_languages:
        # Languages are large, and read once here: what is forked has them.
        _ = registry("scan.pdf", ocr_languages).version
    return registry


def registry_named(name: str) -> Registry:
    """The function that gives the converter for a path, from its name ``module:function``."""
    module, _, function = name.partition(":")
    return cast(Registry, getattr(import_module(module), function))


class _Zygote:
    def __init__(self, control: socket.socket, choose: Callable[[str], Converter], own_bytes: int) -> None:
        self._control = control
        self._choose = choose
        self._own_bytes = own_bytes
        self._pid = os.getpid()
        self._selector = selectors.DefaultSelector()
        self._job_by_pid: dict[int, socket.socket] = {}

    def serve(self) -> NoReturn:
        woken, waking = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(waking, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._control:
                    self._take_job()
                elif key.fileobj == woken:
                    with suppress(BlockingIOError):
                        os.read(woken, 4096)
                else:
                    # A word on a job's own socket, or its end: the parent wants the child gone.
                    self._selector.unregister(key.fileobj)
                    with suppress(ProcessLookupError):
                        os.kill(key.data, signal.SIGKILL)
            self._reap()

    def _take_job(self) -> None:
        word, descriptors, _, _ = socket.recv_fds(self._control, 1, DESCRIPTORS_PER_JOB)
        if not word:
            self._end()
        request, result, status = descriptors
        job = socket.socket(fileno=status)
        try:
            pid = os.fork()
        except OSError:
            _tell(job, FORK_FAILED, 0.0, 0)
            job.close()
        else:
            if pid == 0:
                _child(request, result, self._choose, self._own_bytes, self._pid)
            self._job_by_pid[pid] = job
            self._selector.register(job, selectors.EVENT_READ, pid)
        os.close(request)
        os.close(result)

    def _reap(self) -> None:
        while self._job_by_pid:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            job = self._job_by_pid.pop(pid)
            with suppress(KeyError):
                self._selector.unregister(job)
            _tell(job, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RESIDENT_UNIT_BYTES)
            job.close()

    def _end(self) -> NoReturn:
        for pid in self._job_by_pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os._exit(0)


def _tell(job: socket.socket, status: int, cpu_s: float, resident_bytes: int) -> None:
    with suppress(OSError):
        job.sendall(ENDING.pack(status, cpu_s, resident_bytes))


def _child(request: int, result: int, choose: Callable[[str], Converter], own_bytes: int, zygote_pid: int) -> NoReturn:
    """One conversion; ends the process whatever happens."""
    code = EXIT_FAULT
    try:
        sandbox.die_with_parent(zygote_pid)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _keep_only(request, result)
        code = _serve_request(choose, own_bytes)
    except MemoryError:
        code = EXIT_MEMORY
    except sandbox.SandboxError:
        code = EXIT_NO_SANDBOX
    finally:
        os._exit(code)


def _keep_only(request: int, result: int) -> None:
    import fcntl

    # Out of the way first: either may have the number that the other is to get.
    request, result = (fcntl.fcntl(each, fcntl.F_DUPFD, 16) for each in (request, result))
    os.dup2(request, _REQUEST_DESCRIPTOR)
    os.dup2(result, _RESULT_DESCRIPTOR)
    os.closerange(_RESULT_DESCRIPTOR + 1, os.sysconf("SC_OPEN_MAX"))


def _serve_request(choose: Callable[[str], Converter], own_bytes: int) -> int:
    cpu_s, memory_bytes, output_bytes, contained_bytes, name_bytes, data_bytes = REQUEST.unpack(_read(REQUEST.size))
    name = _read(name_bytes).decode("utf-8", "surrogatepass")
    data = _read(data_bytes)
    os.close(_REQUEST_DESCRIPTOR)
    sandbox.set_limits(own_bytes + data_bytes + memory_bytes, cpu_s)
    sandbox.give_up_rights()
    # Given back when memory has run out, so that there is some left to say so.
    ballast = mmap.mmap(-1, _BALLAST_BYTES)
    resident_bytes = _peak_resident_bytes()
    try:
        sizes, pieces = frames.document_frame(choose(name).convert(data))
        if sizes.memory_bytes > output_bytes or sizes.contained_bytes > contained_bytes:
            pieces = pieces[:1]
    except BaseException as error:  # noqa: BLE001  whatever a converter raises becomes a reason for its own file
        ballast.close()
        used_bytes = _peak_resident_bytes() - resident_bytes
        looks_damaged = not isinstance(error, ConversionError) or error.error_class == "damaged"
        if _ran_out_of_memory(error) or (looks_damaged and used_bytes > memory_bytes * _SUSPECT_SHARE):
            return EXIT_MEMORY
        _, pieces = _failure(error)
    for piece in pieces:
        _write(piece)
    return 0


def _failure(error: BaseException) -> tuple[frames.FrameSizes, list[Content]]:
    if isinstance(error, ConversionError):
        return frames.failure_frame(error.error_class, str(error))
    return frames.failure_frame("internal", f"{type(error).__name__}: {error}")


def _peak_resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RESIDENT_UNIT_BYTES


def _ran_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, also where a converter or library took it for damage."""
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return False
        if isinstance(cause, MemoryError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _read(size: int) -> bytes:
    # Its value is handed out without a copy, unlike that of a bytearray: files may be large.
    buffer = io.BytesIO()
    while (missing := size - buffer.tell()) > 0:
        content = os.read(_REQUEST_DESCRIPTOR, min(missing, _READ_BYTES))
        if not content:
            os._exit(EXIT_FAULT)
        buffer.write(content)
    return buffer.getvalue()


def _write(piece: Content) -> None:
    view = memoryview(piece[:])
    while view:
        view = view[os.write(_RESULT_DESCRIPTOR, view) :]
