"""The package around .docx and .xlsx: zip, parts, relationships, core properties, and the one repair that is safe."""

import io
import posixpath
import re
import zipfile
from collections.abc import Collection, Iterator
from typing import Any

from knowledge_index.domain.errors import ConversionError

# The first bytes of an OLE container: what Office makes of a document that has a password.
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A part that unpacks to more is no paper that anybody wrote; unpacking it could exhaust the machine.
_MAX_PART_BYTES = 512 * 1024 * 1024
# A cell of a sheet holds 32,767 characters at most.
_MAX_TEXT_BYTES = 64 * 1024 * 1024
# XML has no way to write these; programs that paste raw text into a part leave them there all the same.
_FORBIDDEN_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_RELATIONSHIPS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


class OoxmlPackage:
    """The parts of one OOXML file, parsed without entities, network or unbounded size.

    ``repairs`` says in one line each what was wrong with a part that was read all the same.
    """

    def __init__(self, data: bytes) -> None:
        """Open the package.

        Raises:
            ConversionError: ``encrypted``, or ``damaged`` where it is no zip archive.
        """
        if data.startswith(_OLE_MAGIC):
            raise ConversionError(
                "encrypted",
                "the file is an OLE container, which is what a password makes of it (or an old .doc or .xls under a new"
                " name); store a copy without a password, in the current format",
            )
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except Exception as error:
            raise ConversionError("damaged", f"the file is no readable zip archive: {_named(error)}") from error
        self._names = set(self._archive.namelist())
        # Some programs write other letters or backslashes in the archive than in the relationships.
        self._name_by_form = {_form(name): name for name in reversed(self._archive.namelist())}
        self.repairs: list[str] = []

    def part_names(self) -> list[str]:
        """The names of all parts, in the order of the archive."""
        return self._archive.namelist()

    def has(self, name: str) -> bool:
        """Whether the package has a part of that name."""
        return name in self._names or _form(name) in self._name_by_form

    def read(self, name: str) -> bytes:
        """The bytes of a part.

        Raises:
            ConversionError: ``damaged`` where it is absent or does not unpack, ``too_large`` where it is beyond reason.
        """
        info = self._info(name)
        try:
            return self._archive.read(info)
        except Exception as error:
            # Each decompressor has errors of its own (zlib, bz2, lzma), and none of them says anything but "damaged".
            raise ConversionError("damaged", f"part {name} does not unpack: {_named(error)}") from error

    def pieces(self, name: str, size_bytes: int) -> Iterator[bytes]:
        """The bytes of a part in pieces, each of about that size and ending before a tag.

        Raises:
            ConversionError: as :meth:`read`.
        """
        info = self._info(name)
        rest = b""
        try:
            with self._archive.open(info) as stream:
                while piece := stream.read(size_bytes):
                    head, tag, tail = (rest + piece).rpartition(b"<")
                    rest = tag + tail
                    if head:
                        yield head
                    if len(rest) > _MAX_TEXT_BYTES:
                        raise ConversionError("too_large", f"part {name} holds one text of {len(rest)} bytes and more")
        except ConversionError:
            raise
        except Exception as error:
            raise ConversionError("damaged", f"part {name} does not unpack: {_named(error)}") from error
        yield rest

    def parse(self, name: str) -> Any:
        """The root element of an XML part; bare ampersands are read as the character, control characters left out.

        Raises:
            ConversionError: as :meth:`read`; ``damaged`` where the part is no XML or brings a document type.
        """
        from lxml import etree

        def parser() -> Any:
            return etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False)

        content = self.read(name)
        try:
            try:
                root = etree.fromstring(content, parser())
            except etree.XMLSyntaxError:
                repaired, wrong = repaired_xml(content)
                root = etree.fromstring(repaired, parser())
                self.note_repair(name, wrong)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise ConversionError("damaged", f"part {name} is no well-formed XML: {error}") from error
        if root.getroottree().docinfo.doctype:
            raise ConversionError("damaged", f"part {name} brings a document type, which OOXML forbids")
        return root

    def related(self, part: str) -> list[tuple[str, str, str]]:
        """The internal relationships of a part ("" for the package): (id, last word of the type, target part)."""
        folder, base = posixpath.split(part)
        name = posixpath.join(folder, "_rels", f"{base}.rels")
        if not self.has(name):
            return []
        relations = []
        for element in self.parse(name).iter(f"{_RELATIONSHIPS}Relationship"):
            if element.get("TargetMode") != "External":
                target = element.get("Target", "").replace("\\", "/")
                path = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
                relations.append((element.get("Id", ""), element.get("Type", "").rsplit("/", 1)[-1], path))
        return relations

    def note_repair(self, name: str, wrong: Collection[str]) -> None:
        """Record that a part could be read only without what was wrong with it."""
        line = f"part {name} had {' and '.join(sorted(wrong, reverse=True))}"
        if line not in self.repairs:
            self.repairs.append(line)

    def _info(self, name: str) -> zipfile.ZipInfo:
        try:
            info = self._archive.getinfo(name if name in self._names else self._name_by_form[_form(name)])
        except KeyError as error:
            raise ConversionError("damaged", f"the package lacks its part {name}") from error
        if info.file_size > _MAX_PART_BYTES:
            raise ConversionError("too_large", f"part {name} unpacks to {info.file_size} bytes")
        return info

    def title(self) -> str | None:
        """The title of the core properties; None where there is none or the properties are damaged."""
        try:
            for _, kind, target in self.related(""):
                if kind == "core-properties":
                    title = self.parse(target).findtext(_TITLE)
                    return None if title is None else str(title)
        except ConversionError:
            # A title is a help, not the text: a paper is not quarantined for it.
            return None
        return None


def _form(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def repaired_xml(content: bytes) -> tuple[bytes, list[str]]:
    """XML without what programs leave in it that XML forbids, and the names of what was wrong.

    An ampersand that begins no entity or character reference is escaped; control characters go.
    """
    repaired = _BARE_AMPERSAND.sub(b"&amp;", content)
    wrong = ["unescaped ampersands"] if repaired != content else []
    if not content.startswith((b"\xff\xfe", b"\xfe\xff")) and _FORBIDDEN_CONTROL.search(repaired):
        wrong.append("control characters")
        repaired = _FORBIDDEN_CONTROL.sub(b"", repaired)
    return repaired, wrong


def repaired_package(package: OoxmlPackage) -> bytes | None:
    """The package with its XML repaired, which it notes, or None where there is nothing to repair.

    Raises:
        ConversionError: as :meth:`OoxmlPackage.read`.
    """
    buffer = io.BytesIO()
    changed = False
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in package.part_names():
            content = package.read(name)
            if name.endswith((".xml", ".rels")):
                content, wrong = repaired_xml(content)
                if wrong:
                    package.note_repair(name, wrong)
                    changed = True
            archive.writestr(name, content)
    return buffer.getvalue() if changed else None
