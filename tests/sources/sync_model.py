"""What a sync has to make of an estate, told by dicts and by the rules as documented, with no code of the product."""

import hashlib
import hmac
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

Acl = tuple[tuple[str, str], ...]
ENOUGH_SCANS = 3
NOISE_NAMES = ("Thumbs.db", "~$a.docx", "save.tmp")


class Fault(Enum):
    """What goes on at a path while a sync looks at it."""

    MISSED = auto()  # no listing shows it
    UNREADABLE = auto()
    VANISHES = auto()  # deleted after it was listed, before it is read
    SWAPPED = auto()  # replaced after it was listed, before it is read


@dataclass(frozen=True)
class DiskFile:
    content: bytes
    stamp: int
    inode: int


@dataclass(frozen=True)
class Known:
    """A current object: which bytes it was seen with, and the hints of that moment."""

    serial: int
    disk_path: str
    content: bytes
    size: int
    stamp: int
    inode: int
    acl: Acl


@dataclass
class Expected:
    """What the report has to say."""

    hashed: int = 0
    changed: int = 0
    unchanged: int = 0
    regranted: int = 0
    new: list[str] = field(default_factory=list)
    moves: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    noise: int = 0


@dataclass
class SyncModel:
    """The estate on disk by the names that the disk has, and what the catalog has to know of it by path in NFC."""

    source: str
    key: bytes
    disk: dict[str, DiskFile] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    acls: dict[str, Acl] = field(default_factory=dict)
    superseded: int = 0
    tombstoned: int = 0
    hold: tuple[int, frozenset[int]] | None = None
    findings: set[tuple[str, str]] = field(default_factory=set)
    serial: int = 0
    epoch: int = 0

    def acl_of(self, path: str) -> Acl:
        return tuple(sorted(set(self.acls.get(path, ()))))

    def _listed(self, faults: Mapping[str, Fault], expected: Expected) -> dict[str, str]:
        """The spelling under which each path is seen; of two spellings the first is, and the other is skipped."""
        listed: dict[str, str] = {}
        for disk_path in sorted(self.disk):
            path = unicodedata.normalize("NFC", disk_path)
            if faults.get(path) is Fault.MISSED:
                if path in self.known and self.known[path].disk_path == disk_path:
                    listed[path] = disk_path
            elif path.rpartition("/")[2] in NOISE_NAMES:
                expected.noise += 1
            elif path in listed:
                expected.skipped.append(path)
            else:
                listed[path] = disk_path
        return listed

    def sync(
        self, *, rehash: bool, confirm: bool, counts: bool, faults: Mapping[str, Fault], swaps: Mapping[str, DiskFile]
    ) -> Expected:
        """``swaps`` are the files that were put in place of those that were read under :attr:`Fault.SWAPPED`."""
        expected = Expected()
        listed = self._listed(faults, expected)
        before = dict(self.known)
        seen: dict[str, Known] = {}
        for path, disk_path in sorted(listed.items()):
            held, known = self.disk[disk_path], before.get(path)
            hints = (disk_path, len(held.content), held.stamp, held.inode)
            if known and not rehash and hints == (known.disk_path, known.size, known.stamp, known.inode):
                content = known.content
            elif faults.get(path) is Fault.UNREADABLE:
                expected.unreadable.append(path)
                continue
            elif faults.get(path) is Fault.VANISHES:
                expected.vanished.append(path)
                del self.disk[disk_path]
                continue
            else:
                if faults.get(path) is Fault.SWAPPED:
                    self.disk[disk_path] = held = swaps[disk_path]
                expected.hashed += 1
                content = held.content
            keeps_its_row = known is not None and known.content == content
            serial = known.serial if known and keeps_its_row else self._next()
            seen[path] = Known(serial, disk_path, content, len(held.content), held.stamp, held.inode, self.acl_of(path))
        absent = {path: each for path, each in before.items() if path not in listed}
        came = {path: each for path, each in seen.items() if path not in before}
        expected.moves = _moves(absent, came)
        expected.new = sorted(came.keys() - {to for _, to in expected.moves})
        missing = {path: each for path, each in absent.items() if path not in {origin for origin, _ in expected.moves}}
        expected.gone = self._judge(missing, len(before), confirm=confirm, counts=counts)
        ended = {*expected.gone, *(origin for origin, _ in expected.moves)}
        self.known = {}
        for path, each in before.items():
            if path in ended:
                self.tombstoned += 1
                continue
            after = seen.get(path) or Known(**(vars(each) | {"acl": self.acl_of(path)}))
            expected.regranted += after.acl != each.acl
            expected.changed += after.content != each.content
            expected.unchanged += path in seen and after.content == each.content
            self.superseded += after.content != each.content
            self.known[path] = after
        self.known |= came
        self.epoch += expected.regranted > 0
        lying_there = {unicodedata.normalize("NFC", each) for each in self.disk} | {*expected.vanished}
        lying_there -= {path for path, fault in faults.items() if fault is Fault.MISSED and path not in listed}
        self.findings = {
            *(("skipped", path) for path in expected.skipped),
            *(("unreadable", path) for path in expected.unreadable),
            *(("grants_without_file", path) for path in self.acls.keys() - self.known.keys() - lying_there),
        }
        return expected

    def _judge(self, missing: Mapping[str, Known], known_count: int, *, confirm: bool, counts: bool) -> list[str]:
        """The paths that are believed to be gone."""
        serials = frozenset(each.serial for each in missing.values())
        is_mass = len(missing) == known_count or (known_count > 20 and len(missing) > known_count / 2)
        if not missing:
            self.hold = None
            return []
        if confirm or (self.hold is None and not is_mass):
            self.hold = None
            return sorted(missing)
        agreeing = self.hold[0] + int(counts) if self.hold and self.hold[1] == serials else 1
        if agreeing >= ENOUGH_SCANS:
            self.hold = None
            return sorted(missing)
        self.hold = (agreeing, serials)
        return []

    def regrant(self) -> int:
        """A source that cannot be read: its known files get the grants of the map, and nothing else happens."""
        changed = {path for path, each in self.known.items() if each.acl != self.acl_of(path)}
        for path in changed:
            self.known[path] = Known(**(vars(self.known[path]) | {"acl": self.acl_of(path)}))
        self.epoch += bool(changed)
        return len(changed)

    def rows(self) -> dict[str, tuple[object, ...]]:
        """The current rows as the table has to hold them."""
        return {
            path: (
                each.disk_path,
                hmac.new(self.key, f"{self.source}\0{path}".encode(), hashlib.sha256).hexdigest()[:32],
                hashlib.sha256(each.content).hexdigest(),
                each.size,
                each.stamp,
                each.inode,
                [list(grant) for grant in each.acl],
            )
            for path, each in self.known.items()
        }

    def _next(self) -> int:
        self.serial += 1
        return self.serial


def _moves(absent: Mapping[str, Known], came: Mapping[str, Known]) -> list[tuple[str, str]]:
    """Same bytes, each file once: first where the inode is the same too, then as they come by path."""
    moves: list[tuple[str, str]] = []
    for needs_inode in (True, False):
        for to in sorted(came):
            for origin in sorted(absent):
                taken = any(origin == one or to == other for one, other in moves)
                same_inode = absent[origin].inode == came[to].inode
                if not taken and absent[origin].content == came[to].content and (same_inode or not needs_inode):
                    moves.append((origin, to))
    return sorted(moves, key=lambda move: move[1])
