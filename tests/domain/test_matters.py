import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.matters import Matter, matter_of


@pytest.mark.parametrize(
    ("path", "ref", "title"),
    [
        ("Mandate/M-2026-0001 Lease Nordkai/first-draft-scenario-01/lease.docx", "M-2026-0001", "Lease Nordkai"),
        ("M-2026-0001/lease.docx", "M-2026-0001", "M-2026-0001"),
        ("M-2026-0001  Übernahme Hafen/x/y.pdf", "M-2026-0001", "Übernahme Hafen"),
        ("LIT-2024-123 Claim/brief.docx", "LIT-2024-123", "Claim"),
        # The outermost reference decides: a closing binder may hold another matter's number.
        ("A/M-2026-0002 Outer/M-2026-0003 Inner/x.docx", "M-2026-0002", "Outer"),
        # No folder opens with a reference: the top folder is the matter.
        ("Corporate/Lease M-2026-0001/x.docx", "Corporate", "Corporate"),
        ("Corporate/deep/er/x.docx", "Corporate", "Corporate"),
        ("m-2026-0001 lower/x.docx", "m-2026-0001 lower", "m-2026-0001 lower"),
        ("M-26-1 short/x.docx", "M-26-1 short", "M-26-1 short"),
        # A file is no folder, whatever its name.
        ("M-2026-0001 Lease.docx", "", ""),
        ("x.docx", "", ""),
    ],
)
def test_the_matter_of_a_path(path: str, ref: str, title: str) -> None:
    assert matter_of(path) == Matter(ref, title)


parts = st.text(st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=("Cc",)), min_size=1).filter(
    lambda part: part not in (".", "..")
)


@given(st.lists(parts, min_size=1, max_size=3), parts)
def test_every_file_in_a_folder_has_a_matter_and_shares_it_with_its_neighbours(folders: list[str], name: str) -> None:
    folder = "/".join(folders)
    matter = matter_of(f"{folder}/{name}")
    assert matter.ref
    assert matter.title
    assert matter == matter_of(f"{folder}/another.docx")
