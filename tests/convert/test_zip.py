import io
import struct
import zipfile

import pytest

from knowledge_index.convert import converter_for
from knowledge_index.domain.documents import ContainedFile
from knowledge_index.domain.errors import ConversionError
from mail_files import archive

MIB = 1 << 20


def contained(data: bytes) -> dict[str, ContainedFile]:
    return {each.name: each for each in converter_for("x.zip").convert(data).contained}


def reasons(data: bytes) -> dict[str, str | None]:
    return {name: each.error_class for name, each in contained(data).items()}


def test_members_have_their_bytes() -> None:
    members = {"a.txt": b"words", "f/b.bin": bytes(range(256))}
    assert {name: each.data for name, each in contained(archive(members)).items()} == members


def test_a_member_that_inflates_beyond_measure_is_left_in_and_its_neighbours_are_read() -> None:
    bomb = archive({"bomb.txt": bytes(40 * MIB), "good.txt": b"words"})
    assert len(bomb) < MIB
    assert reasons(bomb) == {"bomb.txt": "too_large", "good.txt": None}
    assert contained(bomb)["bomb.txt"].data == b""


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packings_are_read_and_bounded_too(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as made:
        made.writestr("bomb.txt", bytes(12 * MIB))
        made.writestr("good.txt", "some words")
    assert reasons(buffer.getvalue()) == {"bomb.txt": "too_large", "good.txt": None}
    assert contained(buffer.getvalue())["good.txt"].data == b"some words"


def test_what_counts_is_what_comes_out_and_not_what_the_archive_says() -> None:
    bomb = bytearray(archive({"bomb.txt": bytes(40 * MIB)}))
    directory = bomb.index(b"PK\1\2")
    struct.pack_into("<I", bomb, 22, 10)
    struct.pack_into("<I", bomb, directory + 24, 10)
    (reason,) = reasons(bytes(bomb)).values()
    assert reason in ("too_large", "damaged")
    assert contained(bytes(bomb))["bomb.txt"].data == b""


def test_an_archive_with_too_many_members_is_refused_before_one_is_taken_out() -> None:
    with pytest.raises(ConversionError) as caught:
        converter_for("x.zip").convert(archive({f"{number}.txt": b"" for number in range(10_001)}))
    assert caught.value.error_class == "too_many_files"


def test_encrypted_and_damaged_members_say_so_one_by_one() -> None:
    data = bytearray(archive({"secret.txt": b"x" * 30, "torn.txt": b"some words and more words", "good.txt": b"x"}))
    data[data.index(b"PK\3\4") + 6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    torn = data.index(b"torn.txt") + len("torn.txt")
    data[torn : torn + 4] = b"\xff\xff\xff\xff"
    assert reasons(bytes(data)) == {"secret.txt": "encrypted", "torn.txt": "damaged", "good.txt": None}


def test_a_packing_that_is_not_read_is_unsupported() -> None:
    data = bytearray(archive({"odd.txt": b"x" * 30}))
    struct.pack_into("<H", data, 8, 97)
    struct.pack_into("<H", data, data.index(b"PK\1\2") + 10, 97)
    assert reasons(bytes(data)) == {"odd.txt": "unsupported"}


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"no archive at all", archive({"a.txt": b"x" * 400})[:-30]])
def test_what_is_no_archive_is_damaged(data: bytes) -> None:
    with pytest.raises(ConversionError) as caught:
        converter_for("x.zip").convert(data)
    assert caught.value.error_class == "damaged"


def test_a_link_inside_an_archive_is_the_text_that_it_is() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
    assert contained(buffer.getvalue())["link.txt"].data == b"/etc/passwd"
