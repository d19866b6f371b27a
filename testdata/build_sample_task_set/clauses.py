"""From the clause library to one contract with its tracked changes.

A library file has a front matter (`numbering`, `title`) and clauses `## key | Heading`, one paragraph a line. A key may
name a variant (`liability/mutual`); cross references `[@liability]` and `[@liability.2]` name the key and are resolved
after numbering.
Line marks: `- ` item, `= ` unnumbered, `> ` centred, `| a | b |` table row, `{table:name}` a table of the scenario,
`^[…]` at the end of a line a footnote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .model import Author, Block, Clause, Paragraph, Span, Style, Table

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_REFERENCE = re.compile(r"\[@([\w-]+)(?:\.(\d+))?\]")
_FOOTNOTE = re.compile(r"\^\[(.+)\]$")
_TABLE = re.compile(r"^\{table:(\w+)\}$")


class ContentError(ValueError):
    """The content does not fit together; the message names the place."""


@dataclass(frozen=True)
class Library:
    """The clauses of one instrument."""

    name: str
    numbering: str
    title: str
    clauses: Mapping[str, Clause]


@dataclass(frozen=True)
class Edit:
    """One tracked change in the clause `key`.

    `op` is `replace`, `append` or `delete` (a paragraph), or `clause` (a new clause after `key`).
    """

    op: str
    key: str
    find: str
    put: str
    author: Author


def fill(text: str, values: Mapping[str, str], where: str) -> str:
    """Replace `{name}` by its value; values may hold placeholders themselves."""

    def value(match: re.Match[str]) -> str:
        try:
            return values[match.group(1)]
        except KeyError:
            raise ContentError(f"{where}: no value for {{{match.group(1)}}}") from None

    for _ in range(4):
        if not _PLACEHOLDER.search(text):
            return text
        text = _PLACEHOLDER.sub(value, text)
    raise ContentError(f"{where}: placeholders go in circles: {text[:80]}")


def read_library(path: Path) -> Library:
    """Read one file of `content/clauses`."""
    head, _, rest = path.read_text(encoding="utf-8").partition("\n---\n")
    front = dict(line.split(": ", 1) for line in head.strip().splitlines())
    clauses: dict[str, Clause] = {}
    current: Clause | None = None
    for line in rest.splitlines():
        if line.startswith("## "):
            key, _, heading = line[3:].partition(" | ")
            if key in clauses:
                raise ContentError(f"{path.name}: clause {key} stands there twice")
            current = clauses[key.strip()] = Clause(key.strip(), heading.strip())
        elif line.strip():
            if current is None:
                raise ContentError(f"{path.name}: text before the first clause: {line[:60]}")
            current.lines.append(line.strip())
    return Library(path.stem, front["numbering"], front["title"], clauses)


def typographic(text: str) -> str:
    """Straight apostrophes become curly, as a word processor sets them."""
    return text.replace("'", "’")


def assemble(
    library: Library,
    keys: Sequence[str],
    values: Mapping[str, str],
    tables: Mapping[str, Sequence[Sequence[str]]],
    edits: Sequence[Edit],
    where: str,
) -> tuple[Block, ...]:
    """Number the chosen clauses, fill them in and lay the edits over them, in their order."""
    numbers = _numbers(library, keys, where)
    sections: dict[str, list[Block]] = {}
    for key in keys:
        base = key.split("/")[0]
        sections[base] = _render_clause(library, library.clauses[key], numbers.get(base), tables)
    order = list(sections)
    for edit in edits:
        _apply(edit, sections, order, library, numbers, where)

    def finish(text: str) -> str:
        return typographic(_resolve(fill(text, values, where), numbers, library.numbering, where))

    title = values.get("contract_title", library.title)
    blocks: list[Block] = [Paragraph("title", (Span(title),))]
    blocks += [block for key in order for block in sections[key]]
    return tuple(_finish_block(block, finish) for block in blocks)


def _finish_block(block: Block, finish: Callable[[str], str]) -> Block:
    if isinstance(block, Table):
        return Table(tuple(tuple(finish(cell) for cell in row) for row in block.rows))
    spans = tuple(replace(span, text=finish(span.text)) for span in block.spans)
    return replace(block, spans=spans, footnote=finish(block.footnote))


def _numbers(library: Library, keys: Sequence[str], where: str) -> dict[str, str]:
    numbers: dict[str, str] = {}
    for key in keys:
        if key not in library.clauses:
            raise ContentError(f"{where}: {library.name} has no clause {key}")
        base = key.split("/")[0]
        if not base.startswith("!"):
            numbers[base] = str(len(numbers) + 1)
    return numbers


def _heading(numbering: str, number: str, heading: str) -> str:
    forms = {"en": "{n}. {h}", "article": "Article {n} – {h}", "section": "Section {n}. {h}", "de": "§ {n} {h}"}
    return forms[numbering].format(n=number, h=heading)


def _label(numbering: str, number: str, position: int) -> str:
    if numbering == "de":
        return f"({position}) "
    if numbering == "section":
        return f"({chr(96 + position)}) "
    return f"{number}.{position} "


def _resolve(text: str, numbers: Mapping[str, str], numbering: str, where: str) -> str:
    def target(match: re.Match[str]) -> str:
        key, position = match.groups()
        if key not in numbers:
            raise ContentError(f"{where}: reference to {key}, which the contract does not have")
        if numbering == "de":
            return f"§ {numbers[key]}" + (f" Abs. {position}" if position else "")
        word = {"en": "clause", "article": "Article", "section": "Section"}[numbering]
        if not position:
            return f"{word} {numbers[key]}"
        return f"{word} {numbers[key]}" + (f"({chr(96 + int(position))})" if numbering == "section" else f".{position}")

    return _REFERENCE.sub(target, text)


def _render_clause(
    library: Library, clause: Clause, number: str | None, tables: Mapping[str, Sequence[Sequence[str]]]
) -> list[Block]:
    blocks: list[Block] = []
    if clause.heading:
        text = _heading(library.numbering, number, clause.heading) if number else clause.heading
        blocks.append(Paragraph("heading", (Span(text),)))
    position = item = 0
    rows: list[tuple[str, ...]] = []
    for line in [*clause.lines, ""]:
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
            continue
        if rows:
            blocks.append(Table(tuple(rows)))
            rows = []
        if not line:
            continue
        if named := _TABLE.match(line):
            blocks.append(Table(tuple(tuple(row) for row in tables[named.group(1)])))
            continue
        footnote = ""
        if note := _FOOTNOTE.search(line):
            footnote, line = note.group(1), line[: note.start()].rstrip()
        style: Style = "body"
        if line[:2] in ("= ", "> "):
            style, line = ("plain" if line[0] == "=" else "centre"), line[2:]
        elif line.startswith("- "):
            style, line, item = "item", f"{_item_label(library.numbering, item)} {line[2:]}", item + 1
        elif number:
            position, item = position + 1, 0
            line = _label(library.numbering, number, position) + line
        blocks.append(Paragraph(style, (Span(line),), footnote=footnote))
    return blocks


def _item_label(numbering: str, index: int) -> str:
    if numbering == "de":
        return f"{chr(97 + index)})"
    if numbering == "section":
        return f"({('i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii')[index]})"
    return f"({chr(97 + index)})"


def _apply(
    edit: Edit,
    sections: dict[str, list[Block]],
    order: list[str],
    library: Library,
    numbers: dict[str, str],
    where: str,
) -> None:
    if edit.key not in sections:
        raise ContentError(f"{where}: edit of {edit.key}, which the contract does not have")
    blocks = sections[edit.key]
    number = numbers.get(edit.key)
    by = edit.author
    if edit.op == "append":
        position = 1 + sum(isinstance(b, Paragraph) and b.style == "body" for b in blocks)
        label = _label(library.numbering, number, position) if number else ""
        blocks.append(Paragraph("body", (Span(label + edit.put, inserted=by),), inserted=by))
    elif edit.op == "clause":
        inserted = f"{number}A"
        heading, *lines = edit.put.split(" ¶ ")
        texts = [_heading(library.numbering, inserted, heading)]
        texts += [_label(library.numbering, inserted, n) + line for n, line in enumerate(lines, start=1)]
        key = f"{edit.key}A"
        sections[key] = [
            Paragraph("body" if i else "heading", (Span(text, inserted=by),), inserted=by)
            for i, text in enumerate(texts)
        ]
        order.insert(order.index(edit.key) + 1, key)
        numbers[key] = inserted
    else:
        for index, block in enumerate(blocks):
            if isinstance(block, Table):
                continue
            if edit.op == "delete" and edit.find in block.text:
                spans = tuple(span if span.deleted else replace(span, deleted=by) for span in block.spans)
                blocks[index] = replace(block, spans=spans, deleted=by)
                return
            if edit.op == "replace" and (spans := _replace(block.spans, edit)):
                blocks[index] = replace(block, spans=spans)
                return
        raise ContentError(f"{where}: {edit.key} does not hold the text to change: {edit.find!r}")


def _replace(spans: tuple[Span, ...], edit: Edit) -> tuple[Span, ...]:
    """Strike `find` and set `put` after it; empty when no live span holds `find`.

    Words that both begin or end with stay unmarked, as a word processor leaves them when a person edits in place.
    """
    old, new = edit.find.split(" "), edit.put.split(" ")
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter - 1)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head - 1)
    before_words = "".join(f"{word} " for word in old[:head])
    after_words = "".join(f" {word}" for word in old[len(old) - tail :])
    struck, put = " ".join(old[head : len(old) - tail]), " ".join(new[head : len(new) - tail])
    for index, span in enumerate(spans):
        at = -1 if span.deleted else span.text.find(edit.find)
        if at < 0:
            continue
        before, after = span.text[:at], span.text[at + len(edit.find) :]
        middle = [
            replace(span, text=before + before_words),
            replace(span, text=struck, deleted=edit.author),
            Span(put, inserted=edit.author),
            replace(span, text=after_words + after),
        ]
        return (*spans[:index], *(part for part in middle if part.text), *spans[index + 1 :])
    return ()
