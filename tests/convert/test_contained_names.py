from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.convert.contained_names import ContainedNames

hostile = st.lists(
    st.one_of(
        st.text(max_size=300),
        st.sampled_from(
            ["..", ".", "", "/", "a/..", "../a", "C:\\x", "a\0b", "\ud800", "A", "a", "mail.eml!/x", "a~2"]
        ),
    ).flatmap(lambda name: st.sampled_from([name, f"{name}/{name}", f"../{name}", name.upper()])),
    max_size=12,
)


@given(stated=hostile, form=st.sampled_from(["file", "title", "member"]))
def test_names_are_distinct_and_lead_nowhere_but_downwards(stated: list[str], form: str) -> None:
    names = ContainedNames()
    ask = {
        "file": lambda name: names.file_name(name, "application/pdf"),
        "title": lambda name: names.title_name(name, ".eml"),
        "member": names.member_path,
    }[form]
    given_out = [ask(name) for name in stated]
    assert len({name.casefold() for name in given_out}) == len(given_out)
    for name in given_out:
        pure = PurePosixPath(name)
        assert not pure.is_absolute()
        assert not {"..", "."} & set(name.split("/"))
        assert name
        assert name == name.strip()
        assert "!/" not in name
        assert name.isprintable() or " " in name
        assert form == "member" or "/" not in name
        name.encode("utf-8")


@pytest.mark.parametrize(
    ("stated", "content_type", "expected"),
    [
        ("", "application/pdf", "unnamed.pdf"),
        ("", "application/x-unheard-of", "unnamed.bin"),
        ("Vertrag", "application/pdf", "Vertrag.pdf"),
        ("Vertrag.docx", "application/pdf", "Vertrag.docx"),
        ("U\u0308bergabe.txt", "text/plain", "Übergabe.txt"),
        ("x" * 300 + ".docx", "", "x" * 115 + ".docx"),
    ],
)
def test_a_name_tells_the_format(stated: str, content_type: str, expected: str) -> None:
    assert ContainedNames().file_name(stated, content_type) == expected


def test_equal_names_are_numbered_so_that_no_version_mark_is_made_of_it() -> None:
    names = ContainedNames()
    assert [names.member_path("a/Vertrag.pdf") for _ in range(3)] == [
        *("a/Vertrag.pdf", "a/Vertrag~2.pdf", "a/Vertrag~3.pdf")
    ]
