"""Archives: the list of what is in them, and the members as files of their own."""

import zipfile
import zlib
from dataclasses import replace
from io import BytesIO

from knowledge_index.convert.contained_names import ContainedNames
from knowledge_index.convert.normalise import converted
from knowledge_index.domain.contained import MAX_FILES
from knowledge_index.domain.documents import ContainedFile, ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_MEMBER_MAX_BYTES = 128 << 20
_ARCHIVE_MAX_BYTES = 256 << 20
# Office files and texts shrink to a tenth, tables of one value to a fiftieth; a bomb to a thousandth.
_MAX_RATIO = 200
_RATIO_FREE_BYTES = 8 << 20
_READ_BYTES = 1 << 20
# For bzip2 and LZMA this counts packed bytes, and what comes out of a step has no bound: up to 80 MB for 4 KiB.
_READ_PACKED_BYTES = 4096
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_UTF8_NAME = 0x800
_NOISE_FOLDER = "__macosx/"
_NOISE_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


class ZipConverter:
    """One line a member, in the order of the archive, as it is named inside; the members are given out as files.

    A member that is encrypted, damaged, or larger than its limits is given out without bytes and with the reason. What
    counts is what comes out while it is inflated, whatever the archive states. What systems add of their own
    (``__MACOSX``, ``Thumbs.db``) is a decoration. There is no title.
    """

    name = "zip"
    version = "1"
    suffixes = frozenset({".zip"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .zip.

        Raises:
            ConversionError: ``damaged``, ``empty``, or ``too_many_files``.
        """
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                members = [each for each in archive.infolist() if not each.is_dir()]
                if len(members) > MAX_FILES:
                    raise ConversionError("too_many_files", f"the archive has {len(members)} members; {MAX_FILES} go")
                contained = _Inflating(archive).all_of(members)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeError, EOFError) as error:
            raise ConversionError("damaged", f"the archive cannot be read: {error}") from error
        listed = "\n".join(each.name for each in contained if not each.is_decoration)
        document = converted(listed, None, self.name, self.version)
        return replace(document, contained=tuple(contained), degraded=_notes(contained))


CONVERTER = ZipConverter()


class _Inflating:
    """Takes the members out until the archive's budget of inflated bytes is spent."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = ContainedNames()
        self._bytes_left = _ARCHIVE_MAX_BYTES

    def all_of(self, members: list[zipfile.ZipInfo]) -> list[ContainedFile]:
        return [self._contained(each) for each in members]

    def _contained(self, member: zipfile.ZipInfo) -> ContainedFile:
        stated = _stated_name(member)
        name = self._names.member_path(stated)
        if stated.lower().startswith(_NOISE_FOLDER) or name.rsplit("/", 1)[-1].lower() in _NOISE_FILES:
            return ContainedFile(name, b"", is_decoration=True)
        if member.flag_bits & _ENCRYPTED:
            return _without(name, "encrypted", "the member is encrypted; its text can be had only with the password")
        try:
            return ContainedFile(name, self._inflated(member))
        except ConversionError as error:
            return _without(name, error.error_class, str(error))
        except NotImplementedError as error:
            return _without(name, "unsupported", f"the member is packed in a way that is not read: {error}")
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError) as error:
            return _without(name, "damaged", f"the member cannot be unpacked: {error}")

    def _inflated(self, member: zipfile.ZipInfo) -> bytes:
        limit = min(_MEMBER_MAX_BYTES, max(_RATIO_FREE_BYTES, member.compress_size * _MAX_RATIO), self._bytes_left)
        pieces: list[bytes] = []
        size = 0
        step_bytes = _READ_BYTES if member.compress_type in _BOUNDED else _READ_PACKED_BYTES
        with self._archive.open(member) as stream:
            while piece := stream.read(step_bytes):
                size += len(piece)
                self._bytes_left = max(0, self._bytes_left - len(piece))
                if size > limit:
                    raise ConversionError("too_large", f"more than {limit >> 20} MiB come out of the member")
                pieces.append(piece)
        return b"".join(pieces)


def _without(name: str, error_class: str, message: str) -> ContainedFile:
    return ContainedFile(name, b"", error_class=error_class, message=message)


def _stated_name(member: zipfile.ZipInfo) -> str:
    """The name; many programs write UTF-8 and do not say so, which then reads as the DOS code page."""
    if member.flag_bits & _UTF8_NAME:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def _notes(contained: list[ContainedFile]) -> tuple[str, ...]:
    lost = sum(each.error_class is not None for each in contained)
    return (f"{lost} of {len(contained)} members could not be read",) if lost else ()
