"""Write every scenario: task.json and the documents beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .clauses import ContentError, Library, assemble, read_library
from .model import Block, Paper, Paragraph, Span, accept, reject
from .read_content import CONTENT, Scenario, cells, edits_of, paper_blocks, read_scenarios
from .write_docx import docx_bytes
from .write_eml import Mail, eml_bytes
from .write_pdf import pdf_bytes
from .write_xlsx import xlsx_bytes

_MIME = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".txt": "text/plain",
    ".md": "text/markdown",
}
_LAST_TURN = 99


def build(out: Path) -> int:
    """Write the whole set under `out`, which must be empty or absent; return the number of documents."""
    if out.exists() and any(out.iterdir()):
        raise ContentError(f"{out} is not empty: name a new or an empty folder")
    libraries = _libraries()
    files: dict[str, bytes] = {}
    count = 0
    for scenario in read_scenarios():
        base = f"tasks/{scenario.folder}"
        documents = _documents(scenario, libraries)
        count += len(documents)
        task = json.dumps(scenario.task, ensure_ascii=False, indent=1) + "\n"
        for path, data in {"task.json": task.encode(), **{f"documents/{k}": v for k, v in documents.items()}}.items():
            if f"{base}/{path}" in files:
                raise ContentError(f"{scenario.where}: {base}/{path} stands there twice")
            files[f"{base}/{path}"] = data
    # Nothing is written before everything could be made.
    for path, data in files.items():
        target = out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return count


def _libraries() -> dict[str, Library]:
    """All libraries; the clauses of `_common.md` are offered in each of them, word for word."""
    read = {path.stem: read_library(path) for path in sorted((CONTENT / "clauses").glob("*.md"))}
    common = read.pop("_common")
    return {name: replace(lib, clauses={**common.clauses, **lib.clauses}) for name, lib in read.items()}


def _documents(scenario: Scenario, libraries: Mapping[str, Library]) -> dict[str, bytes]:
    raw = scenario.raw
    out: dict[str, bytes] = {}
    for row in raw.get("contracts", []):
        state, name, *legends = row
        out[scenario.fill(name)] = _contract(scenario, libraries, state, scenario.fill(name), legends)
    for paper in raw.get("paper", []):
        name = scenario.fill(paper["file"])
        out[name] = _paper(name, scenario.fill(paper["body"]), scenario, paper)
    for sheet in raw.get("xlsx", []):
        out[scenario.fill(sheet["file"])] = xlsx_bytes(
            [(s["name"], [cells(row, scenario) for row in s["rows"]]) for s in sheet["sheets"]],
            title=scenario.fill(sheet.get("title", sheet["file"].rsplit("/", 1)[-1].rsplit(".", 1)[0])),
            creator=scenario.fill(sheet.get("creator", "{us_name}")),
            created=sheet.get("created", "2026-01-12T10:00:00Z"),
        )
    for source, name in raw.get("copies", []):
        out[scenario.fill(name)] = shared_paper(source)
    for mail in raw.get("eml", []):
        attachments = [
            (name.rsplit("/", 1)[-1], _MIME[Path(name).suffix], out[name] if name in out else shared_paper(name))
            for name in (scenario.fill(n) for n in mail.get("attach", []))
        ]
        filled = {k: scenario.fill(v) for k, v in mail.items() if isinstance(v, str)}
        out[filled["file"]] = eml_bytes(
            Mail(
                sender=filled["from"],
                to=filled["to"],
                cc=filled.get("cc", ""),
                subject=filled["subject"],
                date=filled["date"],
                body=filled["body"],
                html=bool(mail.get("html")),
                attachments=attachments,
            )
        )
    return out


def _contract(scenario: Scenario, libraries: Mapping[str, Library], state: str, name: str, legends: list[str]) -> bytes:
    """One state of the contract: `draft`, `redline[:turn]`, `final` or `executed`."""
    raw = scenario.raw
    library = libraries[raw.get("contract", scenario.instrument)]
    state, _, turn = state.partition(":")
    edits = edits_of(scenario, int(turn) if turn else _LAST_TURN)
    blocks = assemble(library, raw["clauses"], scenario.values, scenario.tables, edits, scenario.where)
    if state == "draft":
        blocks = reject(blocks)
    elif state in ("final", "executed"):
        blocks = accept(blocks)
    elif state != "redline":
        raise ContentError(f"{scenario.where}: unknown state {state}")
    if state == "executed":
        blocks += _signatures(scenario)
    header, footer = (*(scenario.fill(text) for text in legends), "", "")[:2]
    paper = Paper(
        blocks,
        title=scenario.values.get("contract_title", library.title),
        creator=scenario.values["us_name"],
        created=raw.get("created", "2026-02-02T08:30:00Z"),
        header=header,
        footer=footer,
        page_label="Seite" if library.numbering == "de" else "Page",
    )
    return pdf_bytes(paper) if name.endswith(".pdf") else docx_bytes(paper)


def _signatures(scenario: Scenario) -> tuple[Block, ...]:
    lines = scenario.fill(scenario.raw["signatures"]).strip().splitlines()
    return tuple(Paragraph("plain", (Span(line.strip()),)) for line in lines if line.strip())


def _paper(name: str, text: str, scenario: Scenario, options: Mapping[str, Any]) -> bytes:
    suffix = Path(name).suffix
    if suffix in (".md", ".txt"):
        return (text.strip() + "\n").encode()
    blocks = paper_blocks(text)
    paper = Paper(
        blocks,
        title=next((b.text for b in blocks if isinstance(b, Paragraph)), name),
        creator=scenario.fill(options.get("creator", "{us_name}")),
        created=options.get("created", "2026-01-20T09:00:00Z"),
        header=scenario.fill(options.get("header", "")),
        footer=scenario.fill(options.get("footer", "")),
        page_label=options.get("page", "Page"),
    )
    return pdf_bytes(paper) if suffix == ".pdf" else docx_bytes(paper)


def shared_paper(source: str) -> bytes:
    """A paper of `content/papers`, the same bytes wherever it is filed; the suffix of `source` says what to make."""
    path = CONTENT / "papers" / Path(source).with_suffix(".md").name
    text = path.read_text(encoding="utf-8")
    if Path(source).suffix in (".md", ".txt"):
        return text.encode()
    paper = Paper(paper_blocks(text), title=text.splitlines()[0].removeprefix("# "), creator="Knowledge Management")
    return pdf_bytes(paper) if source.endswith(".pdf") else docx_bytes(paper)
