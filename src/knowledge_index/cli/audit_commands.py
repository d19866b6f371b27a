"""audit verify, audit checkpoint, audit show: all for operators."""

from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.output import print_json, printable
from knowledge_index.cli.state import State

if TYPE_CHECKING:
    from datetime import datetime

    from knowledge_index.access.audit_chain import AuditEntry

_JsonOption = Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    audit = typer.Typer(help="Check and read the audit log.", no_args_is_help=True, rich_markup_mode=None)
    audit.command("verify")(verify)
    audit.command("checkpoint")(checkpoint)
    audit.command("show")(show)
    app.add_typer(audit, name="audit")


def verify(
    context: typer.Context,
    checkpoints: Annotated[
        list[str] | None,
        typer.Option("--checkpoint", metavar="NUMBER:HASH", help="What audit checkpoint printed earlier; repeatable."),
    ] = None,
    as_json: _JsonOption = False,
) -> None:
    """Check every entry of the audit log and every link.

    Exits 1 when an entry was changed, dropped, moved or cut off. Without a checkpoint kept elsewhere, entries dropped
    from the end, or a log made anew as a whole, cannot be told from a true one.
    """
    from knowledge_index.access.audit_chain import parse_checkpoint

    state: State = context.obj
    wanted = [parse_checkpoint(each) for each in checkpoints or ()]
    found = state.recorder().log.verify(wanted)
    if as_json:
        print_json(
            {
                "is_sound": not found.fault,
                "sound_entries": found.head.sequence,
                "checkpoint": str(found.head),
                "recoveries": found.recoveries,
                "fault": found.fault or None,
            }
        )
    else:
        typer.echo(f"{found.head.sequence} entries are sound" + (f"; {found.fault}" if found.fault else ""))
        for sequence in found.recoveries:
            typer.echo(f"Entry {sequence} says that the beginning of an entry, left by a crash, was cut off there")
        if not found.fault and not wanted:
            typer.echo("No checkpoint was given, so entries dropped from the end would not be noticed.")
    if found.fault:
        raise typer.Exit(1)


def checkpoint(context: typer.Context) -> None:
    """Print the last entry's number and hash.

    Keep it where whoever might change the log cannot change it. The whole log is checked first.
    """
    from knowledge_index.domain.errors import AuditLogError

    state: State = context.obj
    log = state.recorder().log
    found = log.verify()
    if found.fault:
        raise AuditLogError(f"{log.file}: {found.fault}; no checkpoint is made of a log that is not sound")
    typer.echo(str(found.head))


def show(
    context: typer.Context,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Only from then on: 2026-03-01 or 2026-03-01T09:00 (UTC)."),
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="Only searches for exactly this text.")
    ] = None,
    as_json: _JsonOption = False,
) -> None:
    """List the entries of the audit log, oldest first."""
    from knowledge_index.access.scope import instant

    state: State = context.obj
    recorder = state.recorder()
    start = instant(_time(since)) if since is not None else ""
    fingerprint = None if query is None else recorder.fingerprint(query)
    entries = (
        each
        for each in recorder.log.entries()
        if each.event.at >= start and fingerprint in (None, each.event.query_fingerprint)
    )
    if as_json:
        print_json([_plain(each) for each in entries])
        return
    for each in entries:
        typer.echo(printable(_line(each)))


def _time(text: str) -> "datetime":
    from datetime import UTC, datetime

    from knowledge_index.domain.errors import UsageError

    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--since {text}: write a time such as 2026-03-01 or 2026-03-01T09:00") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _plain(entry: "AuditEntry") -> dict[str, object]:
    return {
        "sequence": entry.sequence,
        **vars(entry.event),
        "details": dict(entry.event.details),
        "previous": entry.previous,
        "hash": entry.hash,
    }


def _line(entry: "AuditEntry") -> str:
    event = entry.event
    parts = [f"{entry.sequence}  {event.at}  {event.account}  {event.action}  {event.who}"]
    if event.scope:
        parts.append(f"scope {event.scope[:12]}  query {event.query_fingerprint[:12]}  {len(event.returned)} returned")
    if event.openings:
        parts.append(f"through opened walls {', '.join(map(str, event.openings))}")
    if event.query_text is not None:
        parts.append(f"query text {event.query_text!r}")
    parts += [f"{name} {value}" for name, value in event.details]
    return "  ".join(parts)
