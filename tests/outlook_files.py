"""Writes Outlook messages: the compound file format (MS-CFB) and the streams of a message (MS-OXMSG), no more."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

_SECTOR, _MINI_SECTOR, _MINI_CUTOFF = 512, 64, 4096
_END, _FREE, _FAT_SECTOR, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF

# A value of a property: text (of the wide type), eight-bit text or binary as (type, bytes), a number, a moment.
Value = str | tuple[int, bytes] | int | datetime
EIGHT_BIT, BINARY = 0x001E, 0x0102
ATTACH_METHOD, ATTACH_DATA, ATTACH_NAME, ATTACH_TYPE = 0x3705, 0x3701, 0x3707, 0x370E
SUBJECT, BODY, HTML, RTF, HEADERS = 0x0037, 0x1000, 0x1013, 0x1009, 0x007D
SENDER_NAME, SENDER_ADDRESS, SENT = 0x0C1A, 0x5D01, 0x0039
MESSAGE_ID, IN_REPLY_TO, REFERENCES = 0x1035, 0x1042, 0x1039
CODE_PAGE, BODY_CODE_PAGE = 0x3FFD, 0x3FDE
DISPLAY_NAME, ADDRESS, RECIPIENT_TYPE = 0x3001, 0x39FE, 0x0C15
CONTENT_ID, ATTACH_FLAGS = 0x3712, 0x3714


@dataclass
class Attachment:
    properties: Mapping[int, Value]
    message: "OutlookMessage | None" = None


@dataclass
class OutlookMessage:
    properties: Mapping[int, Value]
    recipients: Sequence[Mapping[int, Value]] = ()
    attachments: Sequence[Attachment] = ()

    def file(self) -> bytes:
        return compound_file(self.storage(32))

    def storage(self, header_bytes: int) -> "Storage":
        counts = struct.pack("<8x4I", *(2 * [len(self.recipients), len(self.attachments)]))
        storage = _storage(self.properties, counts.ljust(header_bytes, b"\0"))
        for number, recipient in enumerate(self.recipients):
            storage[f"__recip_version1.0_#{number:08X}"] = _storage(recipient, bytes(8))
        for number, attachment in enumerate(self.attachments):
            inner = _storage(attachment.properties, bytes(8))
            if attachment.message is not None:
                inner["__substg1.0_3701000D"] = attachment.message.storage(24)
            storage[f"__attach_version1.0_#{number:08X}"] = inner
        return storage


Storage = dict[str, "bytes | Storage"]


def _storage(properties: Mapping[int, Value], header: bytes) -> Storage:
    storage: Storage = {}
    segments = [header]
    for number, value in properties.items():
        if isinstance(value, int):
            segments.append(struct.pack("<HHIii", 0x0003, number, 6, value, 0))
        elif isinstance(value, datetime):
            ticks = int((value - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
            segments.append(struct.pack("<HHIQ", 0x0040, number, 6, ticks))
        else:
            kind, data = (0x001F, value.encode("utf-16-le")) if isinstance(value, str) else value
            segments.append(struct.pack("<HHIII", kind, number, 6, len(data), 0))
            storage[f"__substg1.0_{number:04X}{kind:04X}"] = data
    storage["__properties_version1.0"] = b"".join(segments)
    return storage


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    child: int = _NONE
    sibling: int = _NONE
    start: int = _END
    size: int = 0


@dataclass
class _Writer:
    entries: list[_Entry] = field(default_factory=list)
    sectors: list[bytes] = field(default_factory=list)
    fat: list[int] = field(default_factory=list)

    def add(self, storage: Storage) -> int:
        """Enter what a storage holds as a chain of siblings in the order that the format asks for."""
        first, previous = _NONE, None
        for name in sorted(storage, key=lambda each: (len(each), each.upper())):
            content = storage[name]
            number = len(self.entries)
            entry = _Entry(name, 2 if isinstance(content, bytes) else 1)
            self.entries.append(entry)
            if isinstance(content, bytes):
                entry.data, entry.size = content, len(content)
            else:
                entry.child = self.add(content)
            if previous is None:
                first = number
            else:
                previous.sibling = number
            previous = entry
        return first

    def write(self, data: bytes) -> int:
        """Write sectors; returns the first one's number."""
        count = -(-len(data) // _SECTOR)
        if not count:
            return _END
        start = len(self.sectors)
        self.sectors += [data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR)]
        self.fat += [*range(start + 1, start + count), _END]
        return start


def compound_file(storage: Storage) -> bytes:
    """A compound file of version 3 with these storages and streams."""
    writer = _Writer([_Entry("Root Entry", 5)])
    root = writer.entries[0]
    root.child = writer.add(storage)
    mini, mini_fat = b"", []
    for entry in writer.entries[1:]:
        if entry.kind == 2 and entry.size >= _MINI_CUTOFF:
            entry.start = writer.write(entry.data)
        elif entry.kind == 2 and entry.size:
            entry.start = len(mini_fat)
            count = -(-entry.size // _MINI_SECTOR)
            mini_fat += [*range(entry.start + 1, entry.start + count), _END]
            mini += entry.data.ljust(count * _MINI_SECTOR, b"\0")
    root.start, root.size = writer.write(mini), len(mini)
    mini_fat_data = struct.pack(f"<{len(mini_fat)}I", *mini_fat)
    mini_fat_data += struct.pack("<I", _FREE) * (-len(mini_fat) % 128)
    mini_fat_start = writer.write(mini_fat_data)
    directory = b"".join(map(_entry_bytes, writer.entries))
    directory_start = writer.write(directory.ljust(-(-len(directory) // _SECTOR) * _SECTOR, b"\0"))
    fat_sectors = 1
    while (len(writer.fat) + fat_sectors) > fat_sectors * 128:
        fat_sectors += 1
    fat_start = len(writer.fat)
    fat = writer.fat + [_FAT_SECTOR] * fat_sectors
    fat += [_FREE] * (fat_sectors * 128 - len(fat))
    places = [*range(fat_start, fat_start + fat_sectors)] + [_FREE] * (109 - fat_sectors)
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII109I",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        bytes(16),
        *(0x3E, 3, 0xFFFE, 9, 6),
        *(0, fat_sectors, directory_start, 0, _MINI_CUTOFF, mini_fat_start, len(mini_fat_data) // _SECTOR, _END, 0),
        *places,
    )
    return header + b"".join(writer.sectors) + struct.pack(f"<{len(fat)}I", *fat)


def _entry_bytes(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sIQQIQ",
        name,
        len(name) + 2,
        entry.kind,
        1,
        _NONE,
        entry.sibling,
        entry.child,
        bytes(16),
        0,
        0,
        0,
        entry.start if entry.kind != 1 else 0,
        entry.size,
    )
