"""Archives that unpack to more than they say, or to themselves."""

import io
import struct
import zipfile
import zlib

_MIB = 1 << 20
BOMB_MIB = 600


def good_zip() -> bytes:
    return zipped({"notes/a.txt": b"A note on notices.", "b.txt": b"Another note."})


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def bomb(name: str, mib: int = BOMB_MIB, method: int = zipfile.ZIP_DEFLATED, unit: bytes = b"\x00") -> bytes:
    """An archive with one member of ``mib`` MiB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=1) as archive, archive.open(name, "w") as member:
        piece = unit * (_MIB // len(unit))
        for _ in range(mib):
            member.write(piece)
    return buffer.getvalue()


def lying(archive: bytes, claimed: int) -> bytes:
    """The archive with ``claimed`` as the unpacked size of every member, in both of its headers."""
    changed = bytearray(archive)
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = changed.find(signature)
        while place >= 0:
            struct.pack_into("<I", changed, place + offset, claimed)
            place = changed.find(signature, place + 4)
    return bytes(changed)


def overlapping(entries: int) -> bytes:
    """Many members whose headers all name the same compressed bytes (after D. Fifield, "A better zip bomb", 2019)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = packer.compress(b"a" * (20 * _MIB)) + packer.flush()
    check = zlib.crc32(b"a" * (20 * _MIB))
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, check, len(content), 20 * _MIB, 1, 0)
    local = b"PK\x03\x04" + fields + b"a" + content
    central = b""
    for number in range(entries):
        name = f"{number:05}.txt".encode()
        head = struct.pack(
            "<HHHHHHIIIHHHHHII", 20, 20, 0, 8, 0, 33, check, len(content), 20 * _MIB, len(name), *[0] * 6
        )
        central += b"PK\x01\x02" + head + name
    end = struct.pack("<HHHHIIH", 0, 0, entries, entries, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


def nested(levels: int, inside: bytes = b"the innermost text") -> bytes:
    content, name = inside, "inner.txt"
    for level in range(levels):
        content, name = zipped({name: content}), f"level-{level}.zip"
    return content


def nested_wide() -> bytes:
    """Sixteen copies of sixteen copies, five deep: a million files, each of 100 KiB."""
    content, name = bytes(100 * 1024), "zero.txt"
    for _ in range(5):
        content, name = zipped({f"{number:x}-{name}": content for number in range(16)}), "next.zip"
    return content


def encrypted() -> bytes:
    changed = bytearray(good_zip())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(signature)
        while place >= 0:
            changed[place + offset] |= 1
            place = changed.find(signature, place + 4)
    return bytes(changed)


def unknown_method() -> bytes:
    changed = bytearray(good_zip())
    changed[8:10] = b"\x63\x00"
    place = changed.find(b"PK\x01\x02")
    changed[place + 10 : place + 12] = b"\x63\x00"
    return bytes(changed)


FILES = [
    ("heavy zip bomb", "bomb.zip", lambda: bomb("zero.txt")),
    ("heavy zip bomb", "bomb-bzip2.zip", lambda: bomb("zero.txt", 200, zipfile.ZIP_BZIP2)),
    ("heavy zip bomb", "bomb-lzma.zip", lambda: bomb("zero.txt", 200, zipfile.ZIP_LZMA)),
    ("heavy zip bomb", "lying-small.zip", lambda: lying(bomb("zero.txt"), 10)),
    ("zip bomb", "small-bomb.zip", lambda: bomb("zero.txt", 60)),
    ("zip bomb", "small-bomb-lying.zip", lambda: lying(bomb("zero.txt", 60), 10)),
    ("zip bomb", "lying-huge.zip", lambda: lying(good_zip(), 0xFFFFFFFE)),
    ("zip bomb", "lying-zero.zip", lambda: lying(good_zip(), 0)),
    ("zip bomb", "overlapping.zip", lambda: overlapping(2000)),
    ("zip bomb", "many-members.zip", lambda: zipped({f"{number}.txt": b"x" for number in range(30_000)})),
    ("nested zip", "nested-30.zip", lambda: nested(30)),
    ("nested zip", "nested-300.zip", lambda: nested(300)),
    ("nested zip", "nested-bomb.zip", lambda: nested(26, bomb("zero.txt", 60))),
    ("nested zip", "nested-wide.zip", nested_wide),
    ("odd zip", "encrypted.zip", encrypted),
    ("odd zip", "unknown-method.zip", unknown_method),
    ("odd zip", "leads-upwards.zip", lambda: zipped({"../../etc/x.txt": b"x", "/abs.txt": b"y", "a\\..\\b.txt": b"z"})),
    (
        "odd zip",
        "odd-names.zip",
        lambda: zipped({"a\nb.txt": b"x", "\x1b[31m.txt": b"y", "n" * 60_000: b"z"}),
    ),
    ("odd zip", "twice.zip", lambda: good_zip() + good_zip()),
]
