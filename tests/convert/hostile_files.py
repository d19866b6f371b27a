"""Files made to harm whoever reads them: generated when asked for, never stored."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import hostile_mail
import hostile_ooxml
import hostile_pdf
import hostile_text
import hostile_zip

SEED = 20260301
_GOLD = Path(__file__).parents[1] / "data"
_GOLD_FILES = [
    _GOLD / name
    for name in ("msg/attachments.msg", "rtf/table.rtf", "html/page.html", "csv/german.csv", "pptx/slides.pptx")
]


@dataclass(frozen=True)
class HostileFile:
    """``kind`` groups files in reports; ``make`` gives the bytes; ``is_heavy`` where making or refusing takes long."""

    kind: str
    name: str
    make: Callable[[], bytes]
    is_heavy: bool = False


def hostile_files() -> list[HostileFile]:
    """All of them, in a fixed order; names are distinct."""
    files = [
        HostileFile(kind, name, make, kind.startswith("heavy "))
        for module in (hostile_zip, hostile_ooxml, hostile_pdf, hostile_mail, hostile_text)
        for kind, name, make in module.FILES
    ]
    return [*files, *_truncated(), *_flipped(), *_misnamed(), *_blank()]


def good_files() -> dict[str, bytes]:
    """One small sound file of each format, by suffix."""
    return {
        "docx": hostile_ooxml.good_docx(),
        "xlsx": hostile_ooxml.good_xlsx(),
        "pdf": hostile_pdf.good_pdf(),
        "eml": hostile_mail.good_eml(),
        "zip": hostile_zip.good_zip(),
        "txt": b"1. Notices\nNotices are given in text form.\n",
        **{path.suffix[1:]: path.read_bytes() for path in _GOLD_FILES},
    }


def _truncated() -> Iterator[HostileFile]:
    for suffix, data in good_files().items():
        for share in (10, 50, 75, 90, 99) if suffix != "txt" else ():
            yield HostileFile("truncated", f"cut-{share}.{suffix}", lambda d=data, s=share: d[: len(d) * s // 100])


def _flipped() -> Iterator[HostileFile]:
    for suffix, data in good_files().items():
        for number in range(6):
            yield HostileFile("bytes flipped", f"flipped-{number}.{suffix}", lambda d=data, n=number: _with_flips(d, n))


def _with_flips(data: bytes, number: int) -> bytes:
    chance = random.Random(SEED + number)
    changed = bytearray(data)
    for _ in range(1 + len(data) // 200):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _misnamed() -> Iterator[HostileFile]:
    good = good_files()
    for held, suffix in [
        ("docx", "pdf"),
        ("pdf", "docx"),
        ("xlsx", "docx"),
        ("docx", "xlsx"),
        ("zip", "docx"),
        ("zip", "xlsx"),
        ("eml", "docx"),
        ("txt", "xlsx"),
        ("txt", "eml"),
        ("pdf", "eml"),
        ("docx", "eml"),
        ("docx", "txt"),
        ("pdf", "txt"),
        ("pdf", "zip"),
        ("docx", "msg"),
        ("txt", "pptx"),
        ("pdf", "rtf"),
        ("zip", "html"),
    ]:
        yield HostileFile("wrong extension", f"{held}-named.{suffix}", lambda d=good[held]: d)
    for suffix in ("docx", "pdf", "eml", "txt"):
        yield HostileFile("wrong extension", f"program-named.{suffix}", lambda: b"\x7fELF\x02\x01\x01" + bytes(5000))


def _blank() -> Iterator[HostileFile]:
    suffixes = ("docx", "xlsx", "pptx", "pdf", "eml", "msg", "zip", "rtf", "html", "csv", "txt", "md")
    for suffix in suffixes:
        yield HostileFile("empty", f"empty.{suffix}", lambda: b"")
        yield HostileFile("NULs", f"nul.{suffix}", lambda: bytes(100_000))
