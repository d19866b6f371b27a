"""Read the scenarios: TOML files under `content/scenarios`, each of one area and one instrument."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .clauses import ContentError, Edit, fill, typographic
from .model import Author, Block, Formula, Paragraph, Span, Table
from .write_xlsx import Cell

CONTENT = Path(__file__).parent / "content"


@dataclass(frozen=True)
class Scenario:
    """One scenario with all its values filled in; `raw` keeps the tables of its documents."""

    where: str
    area: str
    folder: str
    instrument: str
    values: Mapping[str, str]
    task: Mapping[str, Any]
    raw: Mapping[str, Any]
    tables: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def fill(self, text: str) -> str:
        """Fill in the scenario's values."""
        return fill(text, self.values, self.where)


def read_scenarios() -> list[Scenario]:
    """All scenarios, in the order of their files and of their place in them."""
    scenarios: list[Scenario] = []
    for path in sorted((CONTENT / "scenarios").glob("*.toml")):
        matter = tomllib.loads(path.read_text(encoding="utf-8"))
        for number, raw in enumerate(matter["scenario"], start=1):
            scenarios.append(_scenario(f"{path.name}#{number}", matter, raw))
    return scenarios


def _scenario(where: str, matter: Mapping[str, Any], raw: Mapping[str, Any]) -> Scenario:
    values = {**matter.get("values", {}), **raw.get("values", {})}
    instrument = raw.get("instrument", matter["instrument"])
    name = "-".join(part for part in (instrument, raw.get("type", "")) if part)
    folder = "/".join(part for part in (matter["area"], name, raw.get("dir", "")) if part)

    def filled(text: str) -> str:
        return fill(text, values, where)

    deliverables = {name: filled(text) for name, text in raw["deliverables"].items()}
    criteria = [
        {
            "id": f"C-{n:03d}",
            "title": filled(title),
            "match_criteria": filled(text),
            "deliverables": list(deliverables),
        }
        for n, (title, text) in enumerate(raw["criteria"], start=1)
    ]
    task = {
        "title": filled(raw["title"]),
        "work_type": raw.get("work_type", "draft"),
        "tags": [*matter["tags"], *raw.get("tags", [])],
        "instructions": "\n\n".join(" ".join(p.split()) for p in filled(raw["instructions"]).strip().split("\n\n")),
        "deliverables": deliverables,
        "criteria": criteria,
    }
    tables = {
        name: [[filled(str(cell)) for cell in row] for row in rows]
        for name, rows in {**matter.get("tables", {}), **raw.get("tables", {})}.items()
    }
    return Scenario(where, matter["area"], folder, instrument, values, task, raw, tables)


def edits_of(scenario: Scenario, until: int) -> list[Edit]:
    """The tracked changes up to and including turn `until`."""
    authors = {key: Author(*value) for key, value in scenario.raw.get("authors", {}).items()}
    edits: list[Edit] = []
    for row in scenario.raw.get("edits", []):
        key, find, put, who, *turn = row
        if (turn[0] if turn else 1) > until:
            continue
        op = {"+": "append", "-": "delete", "++": "clause"}.get(find, "replace")
        if op == "delete":
            find, put = put, ""
        edits.append(Edit(op, key, find, put, authors[who]))
    return edits


def cells(row: Sequence[Any], scenario: Scenario) -> list[Cell]:
    """One sheet row: text filled in, `["=A1*2", 4]` a formula with its cached value, dates and numbers as they are."""
    out: list[Cell] = []
    for cell in row:
        if isinstance(cell, str):
            out.append(scenario.fill(cell))
        elif isinstance(cell, list):
            formula, value = cell
            out.append(Formula(formula.removeprefix("="), value))
        elif isinstance(cell, (bool, int, float, dt.date)):
            out.append(cell)
        else:
            raise ContentError(f"{scenario.where}: a sheet cannot hold {cell!r}")
    return out


def paper_blocks(text: str) -> tuple[Block, ...]:
    """A letter, note or playbook from light mark-up: `# `, `## `, `### `, `- `, `> `, `| … |`, paragraphs by line."""
    blocks: list[Block] = []
    rows: list[tuple[str, ...]] = []
    styles = (("### ", "subheading"), ("## ", "heading"), ("# ", "title"), ("> ", "centre"))
    for line in [*typographic(text).strip().splitlines(), ""]:
        line = line.strip()
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
            continue
        if rows:
            blocks.append(Table(tuple(rows)))
            rows = []
        if not line:
            continue
        for mark, style in styles:
            if line.startswith(mark):
                blocks.append(Paragraph(style, (Span(line.removeprefix(mark)),)))  # type: ignore[arg-type]
                break
        else:
            item = line.startswith("- ")
            blocks.append(Paragraph("item" if item else "plain", (Span(f"– {line[2:]}" if item else line),)))
    return tuple(blocks)
