"""A task set of real files, written by the tests that read it."""

import io
import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import openpyxl


def docx_bytes(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def xlsx_bytes(*rows: tuple[str, ...]) -> bytes:
    workbook = openpyxl.Workbook()
    assert workbook.active is not None
    for row in rows:
        workbook.active.append(row)
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def eml_bytes(subject: str, body: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "partner@firm.example", "team@firm.example", subject
    message.set_content(body)
    return message.as_bytes()


def criteria(*texts: str) -> list[dict[str, Any]]:
    return [
        {"id": f"C-{number:03d}", "title": f"Point {number}", "match_criteria": text, "deliverables": ["memo.docx"]}
        for number, text in enumerate(texts, start=1)
    ]


def write_task(folder: Path, documents: dict[str, bytes] | None = None, **fields: Any) -> Path:
    """``task.json`` and ``documents/`` in ``folder``; the path of the former."""
    task = {"title": "A task", "instructions": "Draft it.", "criteria": criteria("PASS if done. FAIL if not.")} | fields
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "task.json"
    path.write_text(json.dumps(task, ensure_ascii=False), encoding="utf-8")
    for name, data in ({"note.txt": b"a note"} if documents is None else documents).items():
        file = folder / "documents" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return path


def write_small_task_set(source: Path) -> None:
    """Two practice areas, three instruments, four scenarios, twelve documents; one of them is damaged."""
    tasks = source / "tasks"
    supply = tasks / "contracts" / "commercial"
    write_task(
        supply / "supply-agreement-first-draft" / "scenario-01",
        {
            "supply-agreement-draft-v1.docx": docx_bytes("Supply by Nordkai Kaltwalzwerk GmbH", "Price EUR 12.500"),
            "supply-agreement-final.docx": docx_bytes("Supply by Nordkai Kaltwalzwerk GmbH", "Price EUR 14.750"),
            "term-sheet.xlsx": xlsx_bytes(("Reference", "COM-7100/26"), ("Seller", "Nordkai")),
            "mail/engagement.eml": eml_bytes("Supply", "Please start. Our file is COM-7100/26."),
        },
        instructions="We act for the buyer in the supply agreement.",
        criteria=criteria(
            'PASS if the memo names "Nordkai Kaltwalzwerk GmbH". FAIL if not.',
            "PASS if the memo carries the reference COM-7100/26. FAIL if it is missing.",
            "PASS if the price is EUR 14.750 and the notice a 30-day one. FAIL if not.",
        ),
    )
    write_task(
        supply / "supply-agreement-first-turn-redline" / "scenario-02",
        {
            "Prüfung/Vermerk.docx": docx_bytes("Vermerk zu HRB 48213 vom 14. März 2026"),
            "supply-agreement.docx": docx_bytes("Another supply agreement."),
            "damaged.docx": b"this is no zip",
        },
        instructions="Mark up the supply agreement.",
        criteria=criteria("PASS if HRB 48213 and 14. März 2026 are named. FAIL if not."),
    )
    write_task(
        supply / "lease-term-negotiation",
        {"lease.docx": docx_bytes("A lease"), "letter.eml": eml_bytes("Lease", "About the lease, 3 O 112/25.")},
        criteria=criteria("PASS if the docket 3 O 112/25 is cited. FAIL if not."),
    )
    write_task(
        tasks / "employment" / "supply-agreement-first-draft" / "scenario-01",
        {
            "supply-agreement.docx": docx_bytes("Supply of staff"),
            "terms.xlsx": xlsx_bytes(
                ("File", "COM-7100/26"),
            ),
            "same-terms.xlsx": xlsx_bytes(("x",)),
        },
        criteria=criteria("PASS if COM-7100/26 is named. FAIL if not."),
    )
