"""Conversions in processes of their own: the one way in which the product converts what it did not write itself.

What a file can do to the process that reads it ends with that process. Every conversion ends in a document or in a
ConversionError. Besides the classes of the converters there are ``timeout``, ``cpu``, ``memory``, ``output_too_large``,
``crashed`` (the process ended without a result) and ``internal`` (a converter failed by a fault of its own).
"""

import io
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Protocol, Self

from knowledge_index.config import ConversionSettings
from knowledge_index.convert import frames
from knowledge_index.convert.base import Converter
from knowledge_index.convert.spool import Spool
from knowledge_index.convert.zygote import (
    ENDING,
    EXIT_MEMORY,
    EXIT_NO_SANDBOX,
    FORK_FAILED,
    REQUEST,
    registry_named,
)
from knowledge_index.convert.zygote_link import JobEnds, ZygoteGoneError, running_zygote
from knowledge_index.domain.documents import Content, ConvertedDocument
from knowledge_index.domain.errors import ConversionError, PreconditionError

# Failures that another setting of [conversion] may turn into a text.
LIMIT_CLASSES = frozenset({"timeout", "cpu", "memory", "output_too_large", "crashed"})

PRODUCT_REGISTRY = "knowledge_index.convert:converter_for"
_MIB = 1 << 20
_CHUNK_BYTES = 1 << 16
# How long the zygote may take to tell how a child ended.
_ENDING_S = 1.0
# How often a waiting conversion looks whether it is wanted still.
_TICK_S = 0.5
# How often a file may be at work when the zygote or its child is killed from outside before the file is to blame.
_ATTEMPTS = 3
# Texts up to this size are taken at once; larger ones wait for their turn, so that there is one of them at a time.
# Contained files up to this size, all together, are kept in memory.
_SMALL_RESULT_BYTES = 4 * _MIB


class _KilledFromOutsideError(Exception):
    """The child was killed, and not by one of its limits."""


class Turn(Protocol):
    """What a large result waits for; :class:`threading.Event` keeps it."""

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it has come, after at most ``timeout`` seconds."""
        ...


class IsolatedConverter:
    """Converts in child processes under the limits of ``settings``; safe to use from several threads.

    A context manager: leaving it ends what is still at work.
    """

    def __init__(self, settings: ConversionSettings, *, registry_name: str = PRODUCT_REGISTRY) -> None:
        """``registry_name`` is ``module:function``, a function like :func:`converter_for`, called in the child.

        Nothing is started or loaded before the first conversion.
        """
        self._settings = settings
        self._registry_name = registry_name
        self._registry = registry_named(registry_name)
        self._closing = False
        self._alone = _Alone()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up what is still at work, and everything after it."""
        self._closing = True

    def convert(self, name: str, data: Content, turn: Turn | None = None) -> ConvertedDocument:
        """Convert the file ``data``, whose ``name`` says its format.

        ``turn`` is waited for before a large text is read into this process. Large contained files lie on disk.

        Raises:
            ConversionError: the text cannot be had; its ``error_class`` says why.
            PreconditionError: no conversion can be isolated on this machine.
            ConfigurationError: text recognition is switched on and not installed.
        """
        converter = self._registry(name, self._settings.ocr_languages)
        attempt = 1
        while True:
            try:
                # Whoever was at work when the zygote died is tried again with no other beside it: so it is known whose
                # file killed it, if one did.
                with self._alone.shared() if attempt == 1 else self._alone.exclusive():
                    document = self._attempt(name, data, turn)
            except _GaveWayError:
                # It may have been wanted only after the one that wants to be alone.
                while turn is not None and not turn.wait(_TICK_S):
                    _refuse_if(self._closing)
                turn = None
                continue
            except ZygoteGoneError:
                reason = "the process that starts conversions ended"
            except _KilledFromOutsideError as error:
                reason = str(error)
            else:
                _check_maker(document, converter)
                return document
            if attempt == _ATTEMPTS:
                raise ConversionError("crashed", f"{reason}, at {_ATTEMPTS} attempts out of {_ATTEMPTS}")
            attempt += 1

    def _attempt(self, name: str, data: Content, turn: Turn | None) -> ConvertedDocument:
        zygote = running_zygote(self._registry_name, self._settings.ocr_languages)
        ends = zygote.start_job()
        try:
            job = _Job(ends, _Limits(self._settings, name), lambda: self._closing, lambda: self._alone.is_wanted)
            return job.result(name, data, turn)
        except _SilentZygoteError as error:
            # It lives and does not answer: it is of no more use to anybody.
            zygote.end()
            raise ZygoteGoneError from error
        finally:
            ends.close()


def _check_maker(document: ConvertedDocument, converter: Converter) -> None:
    made_by, wanted = (document.converter_name, document.converter_version), (converter.name, converter.version)
    if made_by != wanted:
        raise ConversionError(
            "internal",
            f"converted by {' '.join(made_by)} where {' '.join(wanted)} was asked for; the program was changed while it"
            " ran: start it again",
        )


class _SilentZygoteError(Exception):
    """The zygote did not tell how a child ended."""


class _TimeUpError(Exception):
    pass


class _GaveWayError(Exception):
    """A result that waits for its turn stood in the way of a conversion that has to be alone."""


def _refuse_if(is_closing: bool) -> None:
    if is_closing:
        raise PreconditionError("the conversion was given up because the program ends")


class _Limits:
    """What one file may take."""

    def __init__(self, settings: ConversionSettings, name: str) -> None:
        is_recognised = bool(settings.ocr_languages) and name.lower().endswith(".pdf")
        factor = settings.ocr_time_factor if is_recognised else 1
        self.cpu_s = settings.cpu_s * factor
        self.wall_s = settings.wall_s * factor
        self.memory_mb = settings.memory_mb
        self.output_mb = settings.output_mb
        self.contained_mb = settings.contained_mb
        self.by_factor = " times ocr_time_factor" if is_recognised else ""

    def check(self, sizes: frames.FrameSizes) -> None:
        """Refuse what is too large before any of it is read."""
        for name, limit_mb, size_bytes in (
            ("output_mb", self.output_mb, sizes.memory_bytes),
            ("contained_mb", self.contained_mb, sizes.contained_bytes),
        ):
            if size_bytes > limit_mb * _MIB:
                raise ConversionError(
                    "output_too_large",
                    f"the result takes up to {size_bytes // _MIB + 1} MiB, more than {name} = {limit_mb} of "
                    "[conversion] allows",
                )


class _NoMoreError(Exception):
    """The child closed its end before it had written what it announced."""


class _Job:
    """The parent's side of one conversion."""

    def __init__(
        self, ends: JobEnds, limits: _Limits, is_closing: Callable[[], bool], gives_way: Callable[[], bool]
    ) -> None:
        self._ends = ends
        self._limits = limits
        self._is_closing = is_closing
        self._gives_way = gives_way
        self._deadline = time.monotonic() + limits.wall_s

    def result(self, name: str, data: Content, turn: Turn | None) -> ConvertedDocument:
        try:
            self._send(name, data)
            sizes = frames.read_sizes(self._read(frames.SIZES_BYTES))
            self._limits.check(sizes)
            if turn is not None and sizes.memory_bytes > _SMALL_RESULT_BYTES:
                self._wait_for(turn)
            spool = Spool() if sizes.contained_bytes > _SMALL_RESULT_BYTES else None
            document = frames.read_result(
                sizes, self._read, lambda size: self._read(size) if spool is None else spool.put(self._pieces(size))
            )
        except _TimeUpError:
            raise self._time_up() from None
        except frames.MalformedFrameError as error:
            raise ConversionError("crashed", f"the process of the conversion answered nonsense: {error}") from error
        except _NoMoreError:
            raise self._reason_of_the_end() from None
        return document

    def _send(self, name: str, data: Content) -> None:
        limits = self._limits
        encoded = name.encode("utf-8", "surrogatepass")
        sizes_bytes = (each * _MIB for each in (limits.memory_mb, limits.output_mb, limits.contained_mb))
        start = REQUEST.pack(limits.cpu_s, *sizes_bytes, len(encoded), len(data))
        for content in (start + encoded, data):
            place = 0
            while place < len(content):
                self._wait_until(self._ends.request, select.POLLOUT)
                try:
                    place += os.write(self._ends.request, content[place : place + _CHUNK_BYTES])
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    # The child is gone; the end of its result says so too.
                    return

    def _read(self, size: int) -> bytes:
        # Its value is handed out without a copy.
        buffer = io.BytesIO()
        for piece in self._pieces(size):
            buffer.write(piece)
        return buffer.getvalue()

    def _pieces(self, size: int) -> Iterator[bytes]:
        missing = size
        while missing:
            self._wait_until(self._ends.result, select.POLLIN)
            try:
                content = os.read(self._ends.result, min(missing, _CHUNK_BYTES))
            except BlockingIOError:
                continue
            if not content:
                raise _NoMoreError
            missing -= len(content)
            yield content

    def _wait_until(self, descriptor: int, event: int) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        while True:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0:
                raise _TimeUpError
            _refuse_if(self._is_closing())
            if poll.poll(min(left_s, _TICK_S) * 1000):
                return

    def _wait_for(self, turn: Turn) -> None:
        started = time.monotonic()
        while not turn.wait(_TICK_S):
            _refuse_if(self._is_closing())
            if self._gives_way():
                raise _GaveWayError
        # The child has long answered; the time that it was kept waiting is not its own.
        self._deadline += time.monotonic() - started

    def _time_up(self) -> Exception:
        """Have the child ended; a zygote that does not do so may never have started it."""
        with suppress(OSError):
            self._ends.status.shutdown(socket.SHUT_WR)
        ending = self._reason_of_the_end()
        if isinstance(ending, ZygoteGoneError | _SilentZygoteError):
            return ending
        return ConversionError(
            "timeout",
            f"the conversion was not done after {self._limits.wall_s} seconds, the wall_s of [conversion]"
            f"{self._limits.by_factor}",
        )

    def _reason_of_the_end(self) -> Exception:
        """Why there is no whole result; asks the zygote."""
        self._ends.status.settimeout(_ENDING_S)
        content = b""
        try:
            while len(content) < ENDING.size:
                more = self._ends.status.recv(ENDING.size - len(content))
                if not more:
                    return ZygoteGoneError()
                content += more
        except TimeoutError:
            return _SilentZygoteError()
        except OSError:
            return ZygoteGoneError()
        status, cpu_s, resident_bytes = ENDING.unpack(content)
        return self._named(status, cpu_s, resident_bytes)

    def _named(self, status: int, cpu_s: float, resident_bytes: int) -> Exception:
        limits = self._limits
        if status == FORK_FAILED:
            return PreconditionError("no process for a conversion can be started: the machine has no more of them")
        code = os.waitstatus_to_exitcode(status)
        if code == EXIT_NO_SANDBOX:
            return PreconditionError(
                "conversions cannot be isolated on this machine, so none is done: the kernel refuses the filter of "
                "system calls (seccomp) or the limit on memory; see SECURITY.md"
            )
        if code == EXIT_MEMORY:
            return ConversionError(
                "memory", f"the conversion needs more than memory_mb = {limits.memory_mb} of [conversion]"
            )
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and cpu_s >= limits.cpu_s):
            return ConversionError(
                "cpu",
                f"the conversion takes more than {limits.cpu_s} seconds of processor time, the cpu_s of [conversion]"
                f"{limits.by_factor}",
            )
        if code == -signal.SIGKILL:
            return _KilledFromOutsideError("the process of the conversion was killed from outside")
        how = f"signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}"
        return ConversionError(
            "crashed",
            f"the process of the conversion ended without a result: {how}, after {cpu_s:.1f} s and with "
            f"{resident_bytes // _MIB} MiB",
        )


class _Alone:
    """Many share, or one is alone; who wants to be alone lets nobody new in."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._sharing = 0
        self._wanting = 0
        self._is_taken = False

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for being alone."""
        return self._wanting > 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._is_taken and not self._wanting)
            self._sharing += 1
        try:
            yield
        finally:
            with self._condition:
                self._sharing -= 1
                self._condition.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with self._condition:
            self._wanting += 1
            self._condition.wait_for(lambda: not self._is_taken and not self._sharing)
            self._wanting -= 1
            self._is_taken = True
        try:
            yield
        finally:
            with self._condition:
                self._is_taken = False
                self._condition.notify_all()
