"""One conversion in a process of its own: what it may do, how it ends, and what its end does to others."""

import dataclasses
import errno
import hashlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import stub_converters
from stub_converters import WHOLE

from knowledge_index.config import ConversionSettings
from knowledge_index.convert import frames
from knowledge_index.convert.isolated import PRODUCT_REGISTRY, IsolatedConverter
from knowledge_index.convert.sandbox import denies_network
from knowledge_index.convert.zygote_link import running_zygote
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError, PreconditionError

FILTERED = pytest.mark.skipif(not denies_network(), reason="no filter of system calls on this platform")
# Processor time has room within the wall time: other tests run on the same cores.
TIGHT = ConversionSettings(memory_mb=128, cpu_s=1, wall_s=20, output_mb=2, contained_mb=2)
# A child that fails to end would be waited for; the limit and the two seconds that may follow it, on a busy machine.
PATIENCE_S = 60
# The same function under another name has a zygote of its own.
OWN_ZYGOTE = "stub_converters:stub_for_surroundings"


@pytest.fixture
def converter() -> Iterator[IsolatedConverter]:
    with IsolatedConverter(TIGHT, registry_name=stub_converters.REGISTRY) as converter:
        yield converter


def text_of(converter: IsolatedConverter, act: str, data: bytes | str = b"") -> str:
    return converter.convert(f"{act}.x", data.encode() if isinstance(data, str) else data).text


def class_of(converter: IsolatedConverter, act: str, data: bytes = b"") -> str:
    with pytest.raises(ConversionError) as caught:
        converter.convert(f"{act}.x", data)
    return caught.value.error_class


def test_every_field_of_a_document_travels(converter: IsolatedConverter) -> None:
    assert converter.convert("whole.x", b"") == WHOLE
    defaults = ConvertedDocument("x", None, "stub", "1")
    unset = [
        each.name for each in dataclasses.fields(WHOLE) if getattr(WHOLE, each.name) == getattr(defaults, each.name)
    ]
    assert unset == ["converter_name", "converter_version"]


def test_a_lone_surrogate_becomes_a_question_mark(converter: IsolatedConverter) -> None:
    document = converter.convert("surrogate.x", b"")
    assert (document.text, document.title, document.contained[0].name) == ("a?b", "t?", "n?")


def test_a_converters_reason_arrives_as_it_was_given(converter: IsolatedConverter) -> None:
    with pytest.raises(ConversionError, match=r"^asks for a password$") as caught:
        converter.convert("reason.x", b"")
    assert caught.value.error_class == "encrypted"


def test_a_converters_own_fault_is_internal_with_type_and_message(converter: IsolatedConverter) -> None:
    with pytest.raises(ConversionError, match=r"^IndexError: a fault of our own$") as caught:
        converter.convert("fault.x", b"")
    assert caught.value.error_class == "internal"


@pytest.mark.parametrize(
    ("act", "data", "expected"),
    [
        ("allocates", b"", "memory"),
        ("allocates_and_hides_it", b"", "memory"),
        ("long_text", b"600000", "output_too_large"),
        ("contains_much", b"2100000", "output_too_large"),
        ("segfaults", b"", "crashed"),
        ("dies", b"0", "crashed"),
        ("dies", b"7", "crashed"),
        ("ends", b"", "internal"),
        ("other_version", b"", "internal"),
        ("stray_span", b"", "crashed"),
        ("leading_name", b"../x", "crashed"),
        ("leading_name", b"/x", "crashed"),
        ("leading_name", b"a/../../x", "crashed"),
        ("one_name_twice", b"", "crashed"),
        ("no_class", b"", "crashed"),
        ("speaks_nonsense", b"", "crashed"),
        ("speaks_nonsense", b"\xff" * 10, "crashed"),
        ("speaks_nonsense", struct.pack("<BIQQ", 7, 1, 1, 1), "crashed"),
        ("speaks_nonsense", struct.pack("<BIQQ", 0, 2, 1, 0) + b"{}x", "crashed"),
        ("speaks_nonsense", struct.pack("<BIQQ", 0, 4, 1, 0) + b"[[[[", "crashed"),
        ("speaks_nonsense", struct.pack("<BIQQ", 0, 100, 1, 0) + b"{}x", "crashed"),
        ("speaks_nonsense", struct.pack("<BIQQ", 0, 2**32 - 1, 0, 0), "output_too_large"),
        ("speaks_nonsense", struct.pack("<BIQQ", 0, 2, 2**63, 2**63), "output_too_large"),
        ("speaks_nonsense", struct.pack("<BIQQ", 0, 2, 1, 2**63), "output_too_large"),
    ],
)
def test_each_way_to_fail_has_its_reason_and_ends_in_time(
    converter: IsolatedConverter, act: str, data: bytes, expected: str
) -> None:
    started = time.monotonic()
    assert class_of(converter, act, data) == expected
    assert time.monotonic() - started < PATIENCE_S
    assert text_of(converter, "good", "after it") == "after it"


def test_waiting_ends_at_the_wall_time() -> None:
    settings = ConversionSettings(wall_s=1)
    with IsolatedConverter(settings, registry_name=stub_converters.REGISTRY) as converter:
        started = time.monotonic()
        assert class_of(converter, "sleeps", b"60") == "timeout"
        assert 1 <= time.monotonic() - started < PATIENCE_S
        zygote = running_zygote(stub_converters.REGISTRY)
        assert children_of(zygote.pid) == []


def test_a_result_just_within_the_limit_arrives(converter: IsolatedConverter) -> None:
    assert len(text_of(converter, "long_text", b"500000")) == 500_000


def test_what_a_converter_prints_reaches_nobody(
    converter: IsolatedConverter, capfd: pytest.CaptureFixture[str]
) -> None:
    assert text_of(converter, "prints") == "printed"
    assert capfd.readouterr() == ("", "")


@FILTERED
def test_there_is_no_network(converter: IsolatedConverter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        lines = text_of(converter, "sockets", f"127.0.0.1:{server.getsockname()[1]}").splitlines()
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    # "localhost" may be answered without a network, from a file that the child may not read.
    assert len(lines) == 8
    assert [line for line in lines if not line.startswith("refused")] == []


@FILTERED
def test_nothing_can_be_written(converter: IsolatedConverter, tmp_path: Path) -> None:
    existing = tmp_path / "existing"
    existing.write_text("as it was")
    before = existing.stat()
    lines = text_of(converter, "writes", f"{tmp_path}\n{existing}").splitlines()
    assert len(lines) == 13
    assert [line for line in lines if not line.startswith("refused")] == []
    assert existing.read_text() == "as it was"
    assert (existing.stat().st_mode, existing.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert os.listdir(tmp_path) == ["existing"]


@FILTERED
def test_no_program_and_no_process_is_within_reach(converter: IsolatedConverter) -> None:
    lines = text_of(converter, "programs").splitlines()
    assert len(lines) == 5
    assert [line for line in lines if not line.startswith("refused")] == []


@FILTERED
def test_limits_are_not_lifted_again(converter: IsolatedConverter) -> None:
    lines = text_of(converter, "raises_limits").splitlines()
    assert len(lines) == 4
    assert [line for line in lines if "refused" not in line] == []


def test_no_descriptor_and_no_variable_is_inherited(
    converter: IsolatedConverter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KI_SECRET", "of the caller")
    with open(tmp_path / "open file", "w") as file, IsolatedConverter(TIGHT, registry_name=OWN_ZYGOTE) as fresh:
        os.set_inheritable(file.fileno(), True)
        descriptors, environment = text_of(fresh, "surroundings").splitlines()
    # Three times the null device, and the pipe that the result goes into.
    assert descriptors.split() == ["0:2", "1:2", "2:2", "4:1"]
    assert environment.split() == ["LANG", "LC_ALL", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "TZ"]


def test_a_file_of_the_user_cannot_be_read(converter: IsolatedConverter, tmp_path: Path) -> None:
    if not has_landlock():
        pytest.skip("this kernel has no Landlock")
    secret = tmp_path / "catalog.sqlite"
    secret.write_text("behind the wall")
    assert text_of(converter, "reads", str(secret)).startswith("refused")
    assert text_of(converter, "reads", "/proc/self/environ").startswith("refused")
    assert text_of(converter, "reads", os.__file__).startswith("done")


def has_landlock() -> bool:
    import ctypes

    return sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


def test_neighbours_of_a_failing_conversion_are_untouched(converter: IsolatedConverter) -> None:
    jobs = [("good", f"text {number}".encode()) for number in range(12)]
    jobs[2:2] = [("segfaults", b""), ("spins", b""), ("allocates", b"")]

    def outcome(job: tuple[str, bytes]) -> str:
        try:
            return converter.convert(f"{job[0]}.x", job[1]).text
        except ConversionError as error:
            return error.error_class

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(outcome, jobs))
    assert [each for each in outcomes if each.startswith("text")] == [f"text {number}" for number in range(12)]
    assert outcomes[2:5] == ["crashed", "cpu", "memory"]


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [int(child) for child, parent in rows if int(parent) == pid]


def wait_for_children(pid: int, count: int) -> list[int]:
    deadline = time.monotonic() + PATIENCE_S
    while len(found := children_of(pid)) != count:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def test_a_killed_zygote_costs_no_conversion() -> None:
    settings = ConversionSettings(wall_s=30)
    with (
        IsolatedConverter(settings, registry_name=stub_converters.REGISTRY) as converter,
        ThreadPoolExecutor(3) as pool,
    ):
        assert text_of(converter, "good", "before") == "before"
        zygote = running_zygote(stub_converters.REGISTRY)
        wait_for_children(zygote.pid, 0)
        slow = [pool.submit(text_of, converter, "sleeps", b"0.7") for _ in range(2)]
        orphans = wait_for_children(zygote.pid, 2)
        os.kill(zygote.pid, signal.SIGKILL)
        assert text_of(converter, "good", "after") == "after"
        assert [each.result() for each in slow] == ["slept", "slept"]
        assert running_zygote(stub_converters.REGISTRY).pid != zygote.pid
    if sys.platform == "linux":
        assert not [pid for pid in orphans if os.path.exists(f"/proc/{pid}")]


def test_a_child_killed_from_outside_is_tried_again() -> None:
    settings = ConversionSettings(wall_s=30)
    with (
        IsolatedConverter(settings, registry_name=stub_converters.REGISTRY) as converter,
        ThreadPoolExecutor(1) as pool,
    ):
        assert text_of(converter, "good", "before") == "before"
        zygote = running_zygote(stub_converters.REGISTRY)
        wait_for_children(zygote.pid, 0)
        slow = pool.submit(text_of, converter, "sleeps", b"0.5")
        (child,) = wait_for_children(zygote.pid, 1)
        os.kill(child, signal.SIGKILL)
        assert slow.result() == "slept"
        assert running_zygote(stub_converters.REGISTRY).pid == zygote.pid


@pytest.mark.slow
def test_a_zygote_that_does_not_answer_is_replaced_and_its_conversion_done_again() -> None:
    settings = ConversionSettings(wall_s=4)
    with IsolatedConverter(settings, registry_name=stub_converters.REGISTRY) as converter:
        assert text_of(converter, "good", "before") == "before"
        stopped = running_zygote(stub_converters.REGISTRY)
        os.kill(stopped.pid, signal.SIGSTOP)
        assert text_of(converter, "good", "after") == "after"
        assert running_zygote(stub_converters.REGISTRY).pid != stopped.pid


def test_closing_gives_up_what_is_at_work() -> None:
    converter = IsolatedConverter(ConversionSettings(), registry_name=stub_converters.REGISTRY)
    assert text_of(converter, "good", "warm") == "warm"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(text_of, converter, "sleeps", b"50")
        wait_for_children(running_zygote(stub_converters.REGISTRY).pid, 1)
        converter.close()
        with pytest.raises(PreconditionError):
            waiting.result(PATIENCE_S)


@pytest.mark.parametrize(("wall_s", "waited_s"), [(30, 0.2), pytest.param(3, 3.5, marks=pytest.mark.slow)])
def test_a_large_result_waits_for_its_turn_which_is_no_time_of_its_own(wall_s: int, waited_s: float) -> None:
    turn = threading.Event()
    settings = ConversionSettings(wall_s=wall_s)
    with (
        IsolatedConverter(settings, registry_name=stub_converters.REGISTRY) as converter,
        ThreadPoolExecutor(2) as pool,
    ):
        large = pool.submit(converter.convert, "long_text.x", b"2000000", turn)
        small = pool.submit(converter.convert, "good.x", b"small", turn)
        assert small.result().text == "small"
        time.sleep(waited_s)
        assert not large.done()
        turn.set()
        assert len(large.result().text) == 2_000_000


def test_a_result_that_waits_for_its_turn_gives_way_to_a_conversion_that_has_to_be_alone() -> None:
    turn = threading.Event()
    settings = ConversionSettings(wall_s=30)
    with (
        IsolatedConverter(settings, registry_name=stub_converters.REGISTRY) as converter,
        ThreadPoolExecutor(2) as pool,
    ):
        assert text_of(converter, "good", "before") == "before"
        zygote = running_zygote(stub_converters.REGISTRY)
        wait_for_children(zygote.pid, 0)
        large = pool.submit(converter.convert, "long_text.x", b"2000000", turn)
        (waiting,) = wait_for_children(zygote.pid, 1)
        slow = pool.submit(text_of, converter, "sleeps", b"1")
        (killed,) = set(wait_for_children(zygote.pid, 2)) - {waiting}
        os.kill(killed, signal.SIGKILL)
        assert slow.result(PATIENCE_S) == "slept"
        assert not large.done()
        turn.set()
        assert len(large.result(PATIENCE_S).text) == 2_000_000


@pytest.mark.parametrize("size_bytes", [1_000, 5_000_000])
def test_contained_files_arrive_whole_in_memory_or_on_disk(size_bytes: int) -> None:
    with IsolatedConverter(ConversionSettings(), registry_name=stub_converters.REGISTRY) as converter:
        files = converter.convert("contains_several.x", str(size_bytes).encode()).contained
    assert [(each.name, len(each.data)) for each in files] == [("a", size_bytes), ("none", 0), ("b", size_bytes)]
    expected = stub_converters.several(size_bytes)
    for each, made in zip(files, expected, strict=True):
        assert each.data[:] == made.data
        assert each.data[900:2_000] == made.data[900:2_000]
        assert each.data[-3:] == made.data[-3:]
        assert each.data[size_bytes : size_bytes + 7] == b""
    assert isinstance(files[0].data, bytes) == (size_bytes < 4 << 20)


def test_contained_files_that_lie_on_disk_can_be_converted_in_their_turn() -> None:
    with IsolatedConverter(ConversionSettings(), registry_name=stub_converters.REGISTRY) as converter:
        first, _, last = converter.convert("contains_several.x", b"5000000").contained
        for each in (first, last):
            assert converter.convert("digest.x", each.data).text == hashlib.sha256(each.data[:]).hexdigest()


def test_no_room_for_contained_files_is_no_fault_of_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Full:
        def write(self, piece: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    with (
        IsolatedConverter(ConversionSettings(), registry_name=stub_converters.REGISTRY) as converter,
        pytest.raises(PreconditionError, match=r"No space left.*TMPDIR"),
    ):
        converter.convert("contains_several.x", b"5000000")


def test_the_zygote_ends_with_its_parent() -> None:
    program = (
        "import os; from knowledge_index.convert.zygote_link import running_zygote\n"
        f"print(running_zygote({PRODUCT_REGISTRY!r}).pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=False)
    pid = int(done.stdout)
    deadline = time.monotonic() + PATIENCE_S
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(listed.strip()) and not listed.strip().startswith("Z")


def test_a_zygote_that_does_not_start_says_why() -> None:
    with pytest.raises(PreconditionError, match="no_such_module"):
        running_zygote("no_such_module:x")


def test_what_converts_nothing_starts_no_process() -> None:
    IsolatedConverter(TIGHT).close()
    with IsolatedConverter(TIGHT) as converter, pytest.raises(ConversionError) as caught:
        converter.convert("picture.jpg", b"")
    assert caught.value.error_class == "unsupported"


def test_sizes_are_judged_before_anything_is_read() -> None:
    sizes, pieces = frames.document_frame(WHOLE)
    assert frames.read_sizes(pieces[0]) == sizes
    assert sizes.memory_bytes >= len(WHOLE.text.encode()) * 4
    assert sizes.contained_bytes == 257
    assert sum(map(len, pieces[1:])) == sizes.json_bytes + sizes.texts_bytes + sizes.contained_bytes
