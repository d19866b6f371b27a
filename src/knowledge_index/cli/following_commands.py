"""watch, remove-source."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.output import printable
from knowledge_index.cli.progress import console_progress
from knowledge_index.cli.reports import print_run_report, print_sync_outcome
from knowledge_index.cli.state import State
from knowledge_index.domain.errors import UsageError

if TYPE_CHECKING:
    from knowledge_index.pipeline import RunReport, SourceFailure
    from knowledge_index.sources.sync import SyncReport


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("watch")(watch)
    app.command("remove-source")(remove)


def watch(
    context: typer.Context,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="One source; else all.")] = None,
    debounce: Annotated[
        float, typer.Option("--debounce", metavar="SECONDS", min=0.1, help="How long it has to be quiet first.")
    ] = 2.0,
    full_scan_every: Annotated[
        float,
        typer.Option("--full-scan-every", metavar="SECONDS", min=1.0, help="Sync after so long, change or not."),
    ] = 900.0,
) -> None:
    """Follow the sources as they change.

    Syncs and runs once at the start, then after every change of a file or an ACL map, and every 15 minutes in any case:
    a file server does not tell of what others change on it. Ends with exit code 0 on Ctrl-C or SIGTERM.
    """
    import signal
    from datetime import UTC, datetime

    from knowledge_index.embed import build_embedder
    from knowledge_index.pipeline.watching import WatchSettings, watch_sources

    state: State = context.obj
    config = state.load_config().config
    home = state.home()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with state.catalog() as catalog:
            watch_sources(
                home,
                catalog,
                config,
                build_embedder(config.embedding),
                state.recorder(),
                source,
                WatchSettings(debounce, full_scan_every),
                clock=lambda: datetime.now(UTC),
                log=_PrintedLog(),
                progress=console_progress(),
            )
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept.")


def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The source, as 'ki status' names it.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, only say what would be done.")] = False,
) -> None:
    """Take a source and all its files out of the index.

    Its folder is not touched. No search finds its files from then on; the next run takes them out of the indexes.
    """
    from datetime import UTC, datetime

    from knowledge_index.pipeline import configured_sources, remove_source

    state: State = context.obj
    state.load_config()
    home = state.home()
    with home.writing(), state.catalog() as catalog:
        (record,) = configured_sources(catalog, name)
        if not yes:
            with catalog.transaction() as session:
                count = len(session.objects.current(record.id))
            raise UsageError(
                f"this would take '{name}' ({record.root}) and its {count} files out of the index; repeat it with --yes"
            )
        count = remove_source(catalog, record, clock=lambda: datetime.now(UTC))
    typer.echo(f"Source '{name}' removed with {count} objects. Next: ki run, which takes them out of the indexes")


class _PrintedLog:
    """Keeps :class:`~knowledge_index.pipeline.watching.WatchLog`: lines on standard output, at once."""

    def said(self, message: str) -> None:
        typer.echo(printable(message))
        sys.stdout.flush()

    def synced(self, outcome: "SyncReport | SourceFailure") -> None:
        from knowledge_index.pipeline import SourceFailure

        print_sync_outcome(outcome)
        if isinstance(outcome, SourceFailure):
            typer.echo(f"  {printable(outcome.message)}")
        sys.stdout.flush()

    def ran(self, report: "RunReport") -> None:
        print_run_report(report)
        sys.stdout.flush()
