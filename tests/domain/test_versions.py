import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.versions import (
    VersionStatus,
    document_key_of,
    humanised_stem,
    paper_folder_of,
    version_name_of,
)

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
        ("a/NDA v3 JKM.docx", "nda", UNKNOWN),
        ("a/NDA draft ABC.docx", "nda", DRAFT),
        ("a/Draft NDA.docx", "nda", DRAFT),
        ("a/Supplier ABC.docx", "supplier abc", UNKNOWN),
        ("a/Copy of nda.docx", "nda", UNKNOWN),
        ("a/Kopie von Vertrag (2).docx", "vertrag", UNKNOWN),
        ("a/2024-05-01 nda draft.docx", "nda", DRAFT),
        ("a/nda (final 2024-05-01).docx", "nda", FINAL),
        ("a/nda 01.05.2024.docx", "nda", UNKNOWN),
        ("a/nda 31.31.2024.docx", "nda 31.31.2024", UNKNOWN),
        ("a/Vertrag gegengezeichnet.pdf", "vertrag", EXECUTED),
        ("a/nda fully executed.pdf", "nda", EXECUTED),
        ("a/nda for signature.docx", "nda", FINAL),
        ("a/Unterzeichnet/Vertrag.pdf", "vertrag", EXECUTED),
        ("a/executed copies/nda.pdf", "nda", EXECUTED),
        ("a/closing/statement.xlsx", "statement", UNKNOWN),
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
        ["nda 2024-05-01.docx", "nda 09.05.2024.docx", "20241201 nda.docx"],
        ["nda.docx", "nda (2).docx", "nda (10).docx"],
        ["superseded/nda final.docx", "nda final.docx"],
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
    [
        ("a/supply-agreement-draft-v1.docx", "Supply agreement"),
        ("a/Liefervertrag_Endfassung.docx", "Liefervertrag"),
        ("a/Aktenvermerk Telefonat Süß.txt", "Aktenvermerk Telefonat Süß"),
        ("a/SPA-Projekt-Adler-v2.docx", "SPA Projekt Adler"),
    ],
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


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("m/signed/nda.pdf", "m"),
        ("m/03 Unterzeichnet/nda.pdf", "m"),
        ("m/Executed/old/nda.docx", "m"),
        ("m/round-2/nda.docx", "m"),
        ("signed/nda.pdf", "signed"),
        ("nda.pdf", "."),
        ("Final/loan/nda.docx", "Final/loan"),
        ("m/first-draft-scenario-01/nda.docx", "m/first-draft-scenario-01"),
        ("m/design/nda.docx", "m/design"),
    ],
)
def test_a_subfolder_named_for_a_status_belongs_to_the_paper_beside_it(path: str, folder: str) -> None:
    assert paper_folder_of(path) == folder


@pytest.mark.parametrize(
    ("path", "status", "order"),
    [
        ("m/nda-redline-v2.docx", "name says 'redline'", "status draft, version 2"),
        ("m/Unterzeichnet/nda 01.05.2024.pdf", "folder says 'Unterzeichnet'", "status executed, date 20240501"),
        ("m/old/nda v3.1.docx", "name and folder say nothing", "folder 'old', version 3.1"),
        ("m/nda (2).docx", "name and folder say nothing", "copy 2"),
        ("m/nda.docx", "name and folder say nothing", ""),
    ],
)
def test_status_and_order_come_with_their_evidence(path: str, status: str, order: str) -> None:
    name = version_name_of(path)
    assert (name.status_evidence, name.order_evidence) == (status, order)
