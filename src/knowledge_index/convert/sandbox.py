"""What the process of a conversion gives up before it looks at a file.

Linux: the network, writing, other programs and processes (seccomp), capabilities, and reading outside of the program's
own folders (Landlock, where the kernel has it). Everywhere: memory, processor time, file size, descriptors.
"""

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from knowledge_index.convert.system_calls import filter_program, known_machine

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_SET_DUMPABLE = 1, 22, 38, 4
_SECCOMP_MODE_FILTER = 2
_SIGKILL = 9
_CAPABILITY_VERSION_3 = 0x20080522
# Landlock: the same call numbers on every architecture.
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_VERSION_FLAG = 1
_LANDLOCK_PATH_BENEATH = 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
# How many file rights each version of Landlock knows; what it does not know it cannot refuse.
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
_FILE_RIGHTS_NEWEST = 16
_SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/urandom")
_MAX_DESCRIPTORS = 64
_MIB = 1 << 20


class SandboxError(Exception):
    """A measure that this platform promises could not be taken; nothing may be converted then."""


def denies_network() -> bool:
    """Whether a conversion on this machine is kept from the network, from writing and from starting programs."""
    return sys.platform == "linux" and known_machine(os.uname().machine)


def sandbox_summary() -> str:
    """What holds a conversion on this machine, in one line for operators."""
    limits = "child processes with limits on memory, processor time, wall time and output"
    if denies_network():
        return f"{limits}; no network, no writing, no other programs"
    return f"{limits}; this platform has no filter that keeps them from network and files (see SECURITY.md)"


def address_space_bytes() -> int:
    """What the address space of this process holds now; 0 where the platform does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def prefer_as_victim() -> None:
    """Have the kernel end this process and its children, not the rest, where the machine runs out of memory."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("800")


def prepare() -> None:
    """Make ready what each child of this process needs, so that it is made once."""
    machine = os.uname().machine
    if known_machine(machine):
        filter_program(machine)
    _libc()


def restrict_reading(folders: Iterable[str]) -> None:
    """Let this process and its children read below ``folders`` and the system's libraries only, and write nowhere.

    Without Landlock in the kernel it does nothing; :func:`give_up_rights` still refuses writing.
    """
    if sys.platform != "linux":
        return
    version = _system_call(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION_FLAG)
    if version < 1:
        return
    rights = (1 << _FILE_RIGHTS_BY_VERSION.get(version, _FILE_RIGHTS_NEWEST)) - 1
    attributes = ctypes.create_string_buffer(struct.pack("<Q", rights), 8)
    ruleset = _system_call(_LANDLOCK_CREATE, attributes, 8, 0)
    if ruleset < 0:
        raise SandboxError("the kernel has Landlock, but refused a set of rules")
    try:
        for folder in sorted({*_SYSTEM_FOLDERS, *folders}):
            _allow_reading(ruleset, folder)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if _system_call(_LANDLOCK_RESTRICT, ruleset, 0) != 0:
            raise SandboxError("the kernel has Landlock, but did not apply its rules")
    finally:
        os.close(ruleset)


def _allow_reading(ruleset: int, folder: str) -> None:
    try:
        descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # Not every system has every folder.
        return
    try:
        rights = _READ_FILE | _READ_FOLDER | _EXECUTE if os.path.isdir(folder) else _READ_FILE
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, descriptor), 12)
        _system_call(_LANDLOCK_ADD, ruleset, _LANDLOCK_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def die_with_parent(parent_pid: int) -> None:
    """End this process as soon as its parent ends."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        if os.getppid() != parent_pid:
            os._exit(1)


def set_limits(address_space: int, cpu_s: int) -> None:
    """Limit this process: ``address_space`` in bytes, processor time in seconds, no core file, no file it writes."""
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_FSIZE, 0, 0)
    _limit(resource.RLIMIT_NOFILE, _MAX_DESCRIPTORS, _MAX_DESCRIPTORS)
    # At the soft limit the process gets a signal that names the reason, a second later it is killed in any case.
    _limit(resource.RLIMIT_CPU, cpu_s, cpu_s + 1)
    try:
        _limit(resource.RLIMIT_AS, address_space, address_space)
    except (ValueError, OSError) as error:
        # macOS knows the limit by name and refuses to set it.
        if sys.platform == "linux":
            raise SandboxError(f"the memory of a conversion cannot be limited: {error}") from error


def _limit(which: int, soft: int, hard: int) -> None:
    """Set a limit, or leave the lower one that the process came with."""
    _, present = resource.getrlimit(which)
    if present != resource.RLIM_INFINITY:
        soft, hard = min(soft, present), min(hard, present)
    resource.setrlimit(which, (soft, hard))


def give_up_rights() -> None:
    """Give up network, writing, programs, other processes and capabilities, for good.

    Raises:
        SandboxError: the kernel refused.
    """
    if sys.platform != "linux":
        return
    machine = os.uname().machine
    if not known_machine(machine):
        raise SandboxError(f"no filter of system calls is known for {machine}")
    _drop_capabilities()
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    program = filter_program(machine)
    instructions = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, padding, a pointer to them.
    header = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(instructions)))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(header))


def _drop_capabilities() -> None:
    header = ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), 8)
    nothing = ctypes.create_string_buffer(24)
    if _libc().capset(header, nothing) != 0:
        raise SandboxError("the capabilities cannot be dropped")


def _prctl(option: int, *arguments: int) -> None:
    padded = [*arguments, *[0] * (4 - len(arguments))]
    if _libc().prctl(option, *(ctypes.c_ulong(each) for each in padded)) != 0:
        raise SandboxError(f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}")


def _system_call(number: int, *arguments: object) -> int:
    converted = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(_libc().syscall(ctypes.c_long(number), *converted))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
