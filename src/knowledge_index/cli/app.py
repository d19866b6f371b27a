"""The commands and the options that all of them share."""

from pathlib import Path
from typing import Annotated

import typer

from knowledge_index.cli import (
    access_commands,
    answer_commands,
    audit_commands,
    benchmark_commands,
    config_commands,
    doctor_commands,
    evidence_commands,
    following_commands,
    models_commands,
    pipeline_commands,
    search_commands,
    serve_commands,
    spans_commands,
)
from knowledge_index.cli.state import State, resolve_home

app = typer.Typer(
    name="ki",
    help="A permission-aware shadow index over a law firm's documents, and the benchmark that proves it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from knowledge_index import __version__

        typer.echo(f"ki {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option("--home", metavar="DIR", help="Where this installation keeps its data. [env: KI_HOME]"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a setting for this call; repeatable."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error. [env: KI_DEBUG]")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del debug, version  # main() looks for --debug itself; --version has ended the call
    context.obj = State(resolve_home(home), tuple(settings or ()))


pipeline_commands.register(app)
doctor_commands.register(app)
following_commands.register(app)
search_commands.register(app)
serve_commands.register(app)
answer_commands.register(app)
evidence_commands.register(app)
access_commands.register(app)
audit_commands.register(app)
benchmark_commands.register(app)
spans_commands.register(app)
models_commands.register(app)
config_commands.register(app)
