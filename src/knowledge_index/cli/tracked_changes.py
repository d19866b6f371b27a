"""How tracked changes, other states of a text and deleted wording are printed."""

from typing import TYPE_CHECKING

import typer

from knowledge_index.cli.output import one_line, print_json, printable

if TYPE_CHECKING:
    from knowledge_index.catalog.passage_records import Occurrence
    from knowledge_index.domain.documents import TrackedChange
    from knowledge_index.retrieval import DeletedWording, ShownChanges, ShownState

_MAX_WORDS = 300


def print_deleted(found: "tuple[DeletedWording, ...]", principals: str, as_json: bool) -> None:
    """Deleted wording, each piece labelled as such."""
    if as_json:
        print_json({"deleted": found})
        return
    if not found:
        typer.echo("No deleted wording found that this caller may see.")
    for place, each in enumerate(found, start=1):
        typer.echo(f"{place:2}. {_label(each.kind, each.author, each.date)}  {each.share:.0%} of the words")
        typer.echo(f"    {printable(each.title)}  [{each.version_status}]")
        typer.echo(f"    {printable(f'{each.source}:{each.path}')}")
        typer.echo(f"    {one_line(each.text, _MAX_WORDS)}")
        if each.hit_id:
            typer.echo(f"    ki show {each.hit_id} --state marked --as {printable(principals)}")
        typer.echo()


def print_state(hit: str, shown: "ShownState", as_json: bool) -> None:
    """One state of a text, or of the part of it around a hit."""
    if as_json:
        print_json(
            {
                **_place(hit, shown.occurrence),
                "state": shown.state,
                "has_changes": shown.has_changes,
                "text": shown.text,
            }
        )
        return
    _print_place(shown.occurrence)
    typer.echo(
        f"State: {shown.state}" + ("" if shown.has_changes else " (no tracked changes: the text as it is)") + "\n"
    )
    typer.echo(printable(shown.text, "\n\t"))


def print_changes(hit: str, shown: "ShownChanges", as_json: bool) -> None:
    """The tracked changes of a paper."""
    if as_json:
        print_json({**_place(hit, shown.occurrence), "changes": shown.changes})
        return
    _print_place(shown.occurrence)
    if not shown.changes:
        typer.echo("No tracked changes.")
    for each in shown.changes:
        typer.echo(f"{_span(each):>15}  {_label(each.kind, each.author, each.date)}")
        typer.echo(f"{'':15}  {one_line(each.text, _MAX_WORDS) or 'a paragraph mark'}")


def _label(kind: str, author: str | None, date: str | None) -> str:
    by = f" by {one_line(author, 80)}" if author else ""
    return f"{kind.replace('_', ' ')}{by}{f', {printable(date)}' if date else ''}"


def _span(change: "TrackedChange") -> str:
    return f"{change.start_char}-{change.end_char}" if change.end_char > change.start_char else f"{change.start_char}"


def _place(hit: str, occurrence: "Occurrence") -> dict[str, str]:
    return {"hit_id": hit, "source": occurrence.source, "path": occurrence.path, "title": occurrence.title}


def _print_place(occurrence: "Occurrence") -> None:
    typer.echo(f"{printable(occurrence.title)}  [{occurrence.version_status}]")
    typer.echo(printable(f"{occurrence.source}:{occurrence.path}"))
