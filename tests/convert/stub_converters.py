"""Converters that do what a hostile file might make a converter do; chosen by the name of the file."""

import ctypes
import hashlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from knowledge_index.domain.documents import (
    ChangeKind,
    ContainedFile,
    ConvertedDocument,
    MailThread,
    PageSpan,
    TrackedChange,
)
from knowledge_index.domain.errors import ConversionError

REGISTRY = "stub_converters:stub_for"
WHOLE = ConvertedDocument(
    text="one two\nthree 😀",
    title="Täitle",
    converter_name="stub",
    converter_version="1",
    original_text="one",
    marked_text="one [two]",
    changes=(TrackedChange(ChangeKind.INSERTION, "A", "2026-01-01T00:00:00Z", 4, 7, "two"),),
    pages=(PageSpan(1, 0, 7), PageSpan(2, 8, 15)),
    pages_without_text=3,
    contained=(
        ContainedFile("a/b.bin", bytes(range(256))),
        ContainedFile("empty.txt", b"", "encrypted", "asks for a password"),
        ContainedFile("logo.png", b"\x89", is_decoration=True),
    ),
    thread=MailThread("id@x", None, ("r1", "r2"), "2026-01-01T00:00:00Z"),
    degraded=("repaired a part",),
)


@dataclass(frozen=True)
class Stub:
    act: Callable[[bytes], object]
    name: str = "stub"
    version: str = "1"
    suffixes: frozenset[str] = frozenset()

    def convert(self, data: bytes) -> ConvertedDocument:
        made = self.act(data)
        return made if isinstance(made, ConvertedDocument) else ConvertedDocument(str(made), None, "stub", "1")


def stub_for(path: str, ocr_languages: str) -> Stub:
    return Stub(globals()[path.split(".")[0]])


def stub_for_surroundings(path: str, ocr_languages: str) -> Stub:
    return stub_for(path, ocr_languages)


def _tried(call: Callable[[], object]) -> str:
    try:
        return f"done: {call()!r}"
    except OSError as error:
        return f"refused: {type(error).__name__} {error.errno}"
    except ValueError as error:
        # What the resource module makes of a refusal.
        return f"refused: {error}"


def good(data: bytes) -> object:
    return data.decode()


def whole(data: bytes) -> object:
    return WHOLE


def other_version(data: bytes) -> object:
    return ConvertedDocument("x", None, "stub", "2")


def surrogate(data: bytes) -> object:
    return ConvertedDocument("a\ud800b", "t\udc00", "stub", "1", contained=(ContainedFile("n\ud800", b""),))


def stray_span(data: bytes) -> object:
    return ConvertedDocument("abc", None, "stub", "1", pages=(PageSpan(1, 0, 4),))


def leading_name(data: bytes) -> object:
    return ConvertedDocument("abc", None, "stub", "1", contained=(ContainedFile(data.decode(), b""),))


def reason(data: bytes) -> object:
    raise ConversionError("encrypted", "asks for a password")


def fault(data: bytes) -> object:
    raise IndexError("a fault of our own")


def no_class(data: bytes) -> object:
    raise ConversionError("Not A Class\n", "x")


def ends(data: bytes) -> object:
    sys.exit(0)


def sockets(data: bytes) -> object:
    host, _, port = data.decode().partition(":")
    families = (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK)
    return "\n".join(
        [
            *(_tried(lambda family=family: socket.socket(family, socket.SOCK_STREAM)) for family in families),
            _tried(lambda: socket.socketpair()),
            _tried(lambda: socket.create_connection((host, int(port)), timeout=2)),
            _tried(lambda: socket.getaddrinfo("localhost", 80, family=socket.AF_INET)),
            _tried(lambda: socket.getaddrinfo("knowledge-index.invalid", 80)),
        ]
    )


def writes(data: bytes) -> object:
    folder, existing = data.decode().split("\n")
    new = f"{folder}/new"
    return "\n".join(
        [
            _tried(lambda: open(new, "w")),
            _tried(lambda: open(existing, "a")),
            _tried(lambda: os.open(existing, os.O_RDONLY | os.O_TRUNC)),
            _tried(lambda: os.mkdir(new)),
            _tried(lambda: os.unlink(existing)),
            _tried(lambda: os.rename(existing, new)),
            _tried(lambda: os.symlink(existing, new)),
            _tried(lambda: os.link(existing, new)),
            _tried(lambda: os.chmod(existing, 0o777)),
            _tried(lambda: os.truncate(existing, 0)),
            _tried(lambda: os.utime(existing)),
            _tried(lambda: os.mkfifo(new)),
            _tried(lambda: os.memfd_create("x")),
        ]
    )


def reads(data: bytes) -> object:
    return _tried(lambda: Path(data.decode()).read_bytes())


def programs(data: bytes) -> object:
    return "\n".join(
        [
            _tried(lambda: os.fork()),
            _tried(lambda: os.execv("/bin/true", ["true"])),
            _tried(lambda: os.posix_spawn("/bin/true", ["true"], {})),
            _tried(lambda: os.kill(os.getppid(), signal.SIGKILL)),
            _tried(lambda: os.setsid()),
        ]
    )


def surroundings(data: bytes) -> object:
    descriptors = []
    for number in range(1024):
        try:
            status = os.fstat(number)
        except OSError:
            continue
        descriptors.append(f"{number}:{status.st_mode >> 12:o}")
    environment = sorted(name for name in os.environ if name != "LC_CTYPE")
    return f"{' '.join(descriptors)}\n{' '.join(environment)}"


def raises_limits(data: bytes) -> object:
    import resource

    return "\n".join(
        _tried(lambda which=which: resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
        if which != resource.RLIMIT_NOFILE
        else _tried(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (10_000, 10_000)))
        for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
    )


def sleeps(data: bytes) -> object:
    time.sleep(float(data))
    return "slept"


def spins(data: bytes) -> object:
    while True:
        pass


def allocates(data: bytes) -> object:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def allocates_and_hides_it(data: bytes) -> object:
    try:
        allocates(data)
    except MemoryError as error:
        raise ConversionError("damaged", "looks damaged") from error


def long_text(data: bytes) -> object:
    return "x" * int(data)


def contains_much(data: bytes) -> object:
    return ConvertedDocument("x", None, "stub", "1", contained=(ContainedFile("a", bytes(int(data))),))


def segfaults(data: bytes) -> object:
    ctypes.string_at(0)


def dies(data: bytes) -> object:
    os._exit(int(data))


def speaks_nonsense(data: bytes) -> object:
    os.write(4, data)
    os._exit(0)


def prints(data: bytes) -> object:
    print("noise on standard output", flush=True)
    print("noise on standard error", file=sys.stderr, flush=True)
    os.write(1, b"more noise")
    return "printed"


def several(size_bytes: int) -> tuple[ContainedFile, ...]:
    """Three contained files, one of them without bytes."""
    first = bytes(number % 251 for number in range(1_000)) * (size_bytes // 1_000)
    return (
        ContainedFile("a", first),
        ContainedFile("none", b"", "encrypted", "no key"),
        ContainedFile("b", first[::-1]),
    )


def contains_several(data: bytes) -> ConvertedDocument:
    return ConvertedDocument("x", None, "stub", "1", contained=several(int(data)))


def one_name_twice(data: bytes) -> ConvertedDocument:
    return ConvertedDocument("x", None, "stub", "1", contained=(ContainedFile("a", b"1"), ContainedFile("a", b"2")))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
