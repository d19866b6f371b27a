import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.convert.charsets import decode_text

GERMAN = "Mit freundlichen Grüßen über die Änderung der Verträge"


@pytest.mark.parametrize(
    ("data", "charset", "expected"),
    [
        (GERMAN.encode(), "iso-8859-1", GERMAN),
        (GERMAN.encode("cp1252"), "utf-8", GERMAN),
        (GERMAN.encode("cp1252"), "us-ascii", GERMAN),
        (GERMAN.encode("cp1252"), None, GERMAN),
        ("„Käufer“ – 5 €".encode("cp1252"), "iso-8859-1", "„Käufer“ – 5 €"),
        (GERMAN.encode("iso-8859-15"), "ISO-8859-15", GERMAN),
        ("合同".encode("gb18030"), "gb2312", "合同"),
        ("契約".encode("iso2022_jp"), "iso-2022-jp", "契約"),
        ("Договор".encode("koi8-r"), "koi8-r", "Договор"),
        ("Договор".encode("cp1251"), "windows-1251", "Договор"),
        (GERMAN.encode("utf-16"), "utf-8", GERMAN),
        (GERMAN.encode("utf-16-le"), "utf-16le", GERMAN),
        (GERMAN.encode(), "utf-16", GERMAN),
        (b"Gr+APwA3w-e", "utf-7", "Grüße"),
        (b"plain \\u00fc", "unicode_escape", "plain \\u00fc"),
    ],
)
def test_a_text_is_read_whatever_its_charset_is_said_to_be(data: bytes, charset: str | None, expected: str) -> None:
    assert decode_text(data, charset) == (expected, None)


def test_a_text_cut_off_in_a_character_is_kept_and_said_to_be_broken() -> None:
    text, lost = decode_text((GERMAN * 3).encode()[:-7] + b"\xc3", "utf-8")
    assert text.startswith(GERMAN)
    assert lost == "1 characters of a text are broken"


@given(
    data=st.binary(max_size=200), charset=st.one_of(st.none(), st.text(max_size=12), st.just("hz"), st.just("utf-7"))
)
def test_no_bytes_and_no_charset_make_it_fail(data: bytes, charset: str | None) -> None:
    text, _ = decode_text(data, charset)
    assert text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass") == text


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_utf_8_comes_back_as_it_was(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode_text(text.encode(), "utf-8") == (text, None)
