"""spans prepare-cuad, adapt, run, run-corpus."""

from pathlib import Path
from typing import Annotated

import typer

from knowledge_index.cli.output import print_json
from knowledge_index.cli.progress import console_progress
from knowledge_index.cli.state import State

_CONFIG_HELP = "A configuration; repeatable. Without it, all that can run."
_OUT_HELP = "A folder for the reports and rankings."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    spans_app = typer.Typer(
        help="Is the passage that answers the question really retrieved, and if not, why?",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    spans_app.command("run")(run)
    app.add_typer(spans_app, name="spans")


def run(
    context: typer.Context,
    eval_set: Annotated[Path, typer.Argument(metavar="EVAL_SET.json", help="Made by prepare-cuad or adapt.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help=_OUT_HELP)],
    config_names: Annotated[list[str] | None, typer.Option("--config", metavar="NAME", help=_CONFIG_HELP)] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="NAME", help="What deltas refer to; else 'clause', else the first."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Ask each question of its own document under every configuration, and say what was not found, and why."""
    from knowledge_index.benchmark.spans.configurations import SCOPED_CONFIGURATIONS, select_configurations
    from knowledge_index.benchmark.spans.eval_set import load_eval_set
    from knowledge_index.benchmark.spans.run_files import prepare_folder

    configurations = select_configurations(SCOPED_CONFIGURATIONS, config_names or ())
    loaded = load_eval_set(eval_set)
    prepare_folder(out)
    state: State = context.obj
    config = state.load_config().config

    from knowledge_index.benchmark.spans.run_files import summary_json, write_run_files
    from knowledge_index.benchmark.spans.running import run_spans
    from knowledge_index.benchmark.spans.working import open_workshop
    from knowledge_index.embed import build_embedder
    from knowledge_index.embed.token_counts import build_token_counter

    embedder, counter = build_embedder(config.embedding), build_token_counter(config.embedding)
    with open_workshop(state.home(), config, loaded.documents, embedder, counter, console_progress()) as workshop:
        result = run_spans(loaded, workshop, configurations, baseline)
        computed, reused = workshop.embedder.computed, workshop.embedder.reused
    write_run_files(result, out)
    print_json(summary_json(result))
