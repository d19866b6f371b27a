import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.versions import VersionStatus, document_key_of, humanised_stem, version_name_of

DRAFT, FINAL, EXECUTED, UNKNOWN = (
    VersionStatus.DRAFT,
    VersionStatus.FINAL,
    VersionStatus.EXECUTED,
    VersionStatus.UNKNOWN,
)


@pytest.mark.parametrize(
    ("path", "stem", "status"),
    [
        ("a/supply-agreement-draft-v1.docx", "supply-agreement", DRAFT),
        ("a/supply-agreement-redline-v2.docx", "supply-agreement", DRAFT),
        ("a/supply-agreement-final.docx", "supply-agreement", FINAL),
        ("a/supply-agreement-executed.pdf", "supply-agreement", EXECUTED),
        ("a/Supply Agreement (final).docx", "supply agreement", FINAL),
        ("a/Supply Agreement (2).docx", "supply agreement", UNKNOWN),
        ("a/Supply Agreement v2.docx", "supply agreement", UNKNOWN),
        ("a/Supply_Agreement_V3.1_clean.docx", "supply_agreement", FINAL),
        ("a/Liefervertrag Entwurf 2.docx", "liefervertrag", DRAFT),
        ("a/Liefervertrag_Endfassung.docx", "liefervertrag", FINAL),
        ("a/Liefervertrag Reinfassung.docx", "liefervertrag", FINAL),
        ("a/Liefervertrag - unterzeichnet.pdf", "liefervertrag", EXECUTED),
        ("a/Liefervertrag Änderungsfassung.docx", "liefervertrag", DRAFT),
        ("a/Liefervertrag A\u0308nderungsfassung.docx", "liefervertrag", DRAFT),
        ("a/nda-final-draft.docx", "nda", DRAFT),
        ("a/nda-executed-redline.docx", "nda", DRAFT),
        ("a/nda-final-executed.docx", "nda", EXECUTED),
        ("a/nda_signed.pdf", "nda", EXECUTED),
        ("a/nda-execution-copy.pdf", "nda", EXECUTED),
        ("a/nda - Kopie.docx", "nda", UNKNOWN),
        ("a/term-sheet.xlsx", "term-sheet", UNKNOWN),
        ("a/Lease 2024.docx", "lease 2024", UNKNOWN),
        ("a/Amendment No 2.docx", "amendment no 2", UNKNOWN),
        ("a/Overdraft.docx", "overdraft", UNKNOWN),
        ("a/Semifinal report.docx", "semifinal report", UNKNOWN),
        ("a/Draft.docx", "draft", DRAFT),
        ("a/final.docx", "final", FINAL),
        ("a/Entwurf v2.docx", "entwurf", DRAFT),
        ("a/Draft Supply Agreement.docx", "supply agreement", DRAFT),
        ("a/Entwurf Liefervertrag.docx", "liefervertrag", DRAFT),
        ("Drafts/nda.docx", "nda", DRAFT),
        ("02 Entwürfe/nda.docx", "nda", DRAFT),
        ("Executed/old/nda.docx", "nda", EXECUTED),
        ("first-draft-scenario-01/nda.docx", "nda", UNKNOWN),
        ("Final/nda-draft.docx", "nda", DRAFT),
    ],
)
def test_what_a_path_says(path: str, stem: str, status: VersionStatus) -> None:
    name = version_name_of(path)
    assert (name.family_stem, name.status) == (stem, status)


@pytest.mark.parametrize(
    "chain",
    [
        ["nda-draft-v1.docx", "nda-redline-v2.docx", "nda-final.docx", "nda-executed.pdf"],
        ["nda v1.docx", "nda v2.docx", "nda v10.docx"],
        ["Entwurf NDA v1.docx", "Entwurf NDA v2.docx", "NDA Endfassung.docx"],
        ["nda v1.1.docx", "nda v1.2.docx", "nda v2.docx"],
        ["nda-draft.docx", "nda-draft-2.docx", "nda-draft-3.docx"],
    ],
)
def test_the_versions_of_a_paper_are_in_order(chain: list[str]) -> None:
    names = [version_name_of(f"folder/{each}") for each in chain]
    assert len({name.family_stem for name in names}) == 1
    assert [name.order for name in names] == sorted({name.order for name in names})


def test_the_document_key_is_the_folder_and_the_stem() -> None:
    assert document_key_of("A/B/nda-draft-v1.docx") == document_key_of("A/B/NDA-final.docx") == "A/B/nda"
    assert document_key_of("A/C/nda.docx") != document_key_of("A/B/nda.docx")
    assert document_key_of("Mu\u0308ller/nda.docx") == document_key_of("Müller/nda.docx")


@pytest.mark.parametrize(
    ("path", "title"),
    [("a/supply-agreement-draft-v1.docx", "Supply agreement"), ("a/Liefervertrag_Endfassung.docx", "Liefervertrag")],
)
def test_a_title_from_a_name(path: str, title: str) -> None:
    assert humanised_stem(path) == title


@given(
    st.text(max_size=60), st.sampled_from(["-draft", "_v2", " final", "-executed", " Entwurf 3", " (2)", "-redline-v2"])
)
def test_a_mark_never_changes_the_family(stem: str, mark: str) -> None:
    if "/" in stem or not stem.strip(" -_.()") or "." in stem:
        return
    name = version_name_of(f"folder/x{stem}x.docx")
    assert version_name_of(f"folder/x{stem}x{mark}.docx").family_stem == name.family_stem


def test_a_long_hostile_name_is_read_like_any_other() -> None:
    assert version_name_of("a/" + "-draft" * 2000 + ".docx").status is VersionStatus.DRAFT
    for noise in ("v1 ", "- _."):
        assert version_name_of("a/" + noise * 5000 + "x.docx").family_stem.endswith("x")
