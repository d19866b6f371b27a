"""What a document is, when it is from and which language it speaks, as a person would say."""

from datetime import date

import pytest

from knowledge_index.domain.document_dates import DateEvidence, DocumentDate, document_date_of
from knowledge_index.domain.document_types import DocumentType, document_type_of, type_of_name, type_of_opening

# 3 March 2026, 12:00 UTC.
NOON_NS = 1_772_539_200 * 1_000_000_000


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m/supply-agreement-draft-v1.docx", "agreement"),
        ("m/SupplyAgreement_v3.docx", "agreement"),
        ("m/Geschäftsführeranstellungsvertrag.docx", "agreement"),
        ("m/first-amendment-to-distributor-agreement-final.docx", "amendment"),
        ("m/Aenderungsvereinbarung Nr 2.docx", "amendment"),
        ("m/Memo re SPA 2026-01-01.docx", "memorandum"),
        ("m/Kuendigung Mietvertrag.docx", "notice"),
        ("m/Gesellschaftsvertrag.docx", "articles"),
        ("m/LoI Nordkai.docx", "term-sheet"),
        ("m/letter of intent.docx", "term-sheet"),
        ("m/Klageerwiderung.pdf", "pleading"),
        ("m/Urteil LG.pdf", "decision"),
        ("m/Vollmacht.pdf", "power-of-attorney"),
        ("m/scan0012.pdf", "unknown"),
        ("Vertrag/Übergabe.txt", "unknown"),
    ],
)
def test_a_name_says_the_type(name: str, expected: str) -> None:
    assert type_of_name(name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ACME LTD\n\nSUPPLY AGREEMENT\n\nbetween", "agreement"),
        ('ACME\n\nThis Supply Agreement (the "Agreement") is made on', "agreement"),
        ("Zwischen A und B wird folgender Mietvertrag geschlossen: § 1", "agreement"),
        ("Klageschrift\n\nIn Sachen A gegen B", "pleading"),
        ("We refer to the agreement of last year and to your letter, and reply as follows.", "unknown"),
        ("", "unknown"),
    ],
)
def test_an_opening_says_the_type(text: str, expected: str) -> None:
    assert type_of_opening(text) == expected


def test_a_mail_is_a_mail_and_a_name_is_before_an_opening() -> None:
    assert document_type_of("m/agreement.eml", DocumentType.LETTER, is_mail=True) is DocumentType.EMAIL
    assert document_type_of("m/agreement.pdf", DocumentType.LETTER, is_mail=False) is DocumentType.AGREEMENT
    assert document_type_of("m/scan.pdf", DocumentType.LETTER, is_mail=False) is DocumentType.LETTER


@pytest.mark.parametrize(
    ("path", "sent_at", "around_at", "day", "evidence"),
    [
        ("m/NDA_2026-02-28_final.docx", "2026-02-01T23:30:00-05:00", None, date(2026, 2, 28), DateEvidence.NAME),
        ("m/01.02.2026 Memo.docx", None, None, date(2026, 2, 1), DateEvidence.NAME),
        ("m/mail.eml", "2026-02-01T23:30:00-05:00", None, date(2026, 2, 1), DateEvidence.MAIL),
        ("m/mail.eml!/NDA.docx", None, "2026-02-01T09:00:00+01:00", date(2026, 2, 1), DateEvidence.MAIL_AROUND_IT),
        ("m/NDA_2026-02-31.docx", None, None, date(2026, 3, 3), DateEvidence.FILE),
        ("m/NDA.docx", "nonsense", None, date(2026, 3, 3), DateEvidence.FILE),
    ],
)
def test_the_best_rule_that_speaks_gives_the_date(
    path: str, sent_at: str | None, around_at: str | None, day: date, evidence: DateEvidence
) -> None:
    assert document_date_of(path, sent_at, around_at, NOON_NS) == DocumentDate(day, evidence)
