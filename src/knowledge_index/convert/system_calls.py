"""The system calls that a conversion has no use for, as a filter of the Linux kernel (seccomp).

The numbers are those of the kernel's own tables, for x86_64 and aarch64; the filter is classic BPF over
``struct seccomp_data`` as ``man 2 seccomp`` describes it.
"""

import errno
import os
import struct
from functools import cache

# AUDIT_ARCH_* of linux/audit.h, by the machine's name.
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# (x86_64, aarch64); None where the architecture never had the call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Network, and the one door around this filter (io_uring).
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "listen": (50, 201),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "recvfrom": (45, 207),
    "recvmsg": (47, 212),
    "recvmmsg": (299, 243),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # Other programs and processes.
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    # Memory that the limit does not count, and what several processes share.
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "userfaultfd": (323, 282),
    # Changes to files; opening for writing is looked at apart.
    "creat": (85, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # The kernel and the view of the machine.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "personality": (135, 92),
    # Limits are set once.
    "setrlimit": (160, 164),
}
# "No such call": the C library then falls back to an older call, which is looked at.
_ABSENT: dict[str, tuple[int | None, int | None]] = {"clone3": (435, 435), "openat2": (437, 437)}
_OPEN, _OPENAT = (2, None), (257, 56)
_CLONE, _PRLIMIT = (56, 220), (302, 261)

_CLONE_THREAD = 0x00010000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# Calls of the other, 32-bit-pointer ABI of x86_64 have this bit in their number.
_X32_BIT = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
# Offsets in struct seccomp_data; arguments are 64 bits each, little-endian on both architectures.
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


def known_machine(machine: str) -> bool:
    """Whether there is a filter for ``os.uname().machine``."""
    return machine in _ARCHITECTURES


@cache
def filter_program(machine: str) -> bytes:
    """The filter as an array of ``struct sock_filter``, for one of the machines known."""
    column = list(_ARCHITECTURES).index(machine)

    def fail(code: int) -> bytes:
        return _statement(_RETURN, _ERRNO | code)

    allow = _statement(_RETURN, _ALLOW)
    program = [
        _statement(_LOAD, _ARCHITECTURE_AT),
        _jump(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _statement(_RETURN, _KILL_PROCESS),
        _statement(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        program += [_jump(_AT_LEAST, _X32_BIT, 0, 1), fail(errno.ENOSYS)]
    for numbers, code in [(each, errno.EPERM) for each in _REFUSED.values()] + [
        (each, errno.ENOSYS) for each in _ABSENT.values()
    ]:
        number = numbers[column]
        if number is not None:
            program += [_jump(_EQUAL, number, 0, 1), fail(code)]
    # Each block below ends the program for its call and is jumped over by every other.
    blocks: list[tuple[tuple[int | None, int | None], list[bytes]]] = [
        (_OPEN, [_argument(1), _jump(_ANY_BIT, _WRITING, 0, 1), fail(errno.EACCES), allow]),
        (_OPENAT, [_argument(2), _jump(_ANY_BIT, _WRITING, 0, 1), fail(errno.EACCES), allow]),
        (_CLONE, [_argument(0), _jump(_ANY_BIT, _CLONE_THREAD, 1, 0), fail(errno.EPERM), allow]),
        # With new limits in its third argument it sets them; with none it only reads.
        (
            _PRLIMIT,
            [
                _argument(2),
                _jump(_EQUAL, 0, 0, 2),
                _argument(2, upper=True),
                _jump(_EQUAL, 0, 1, 0),
                fail(errno.EPERM),
                allow,
            ],
        ),
    ]
    for numbers, block in blocks:
        number = numbers[column]
        if number is not None:
            program += [_jump(_EQUAL, number, 0, len(block)), *block]
    return b"".join([*program, allow])


def _statement(code: int, operand: int) -> bytes:
    return _jump(code, operand, 0, 0)


def _jump(code: int, operand: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, operand)


def _argument(number: int, *, upper: bool = False) -> bytes:
    return _statement(_LOAD, _ARGUMENTS_AT + 8 * number + (4 if upper else 0))
