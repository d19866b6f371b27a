"""spans prepare-cuad, adapt, run, run-corpus."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.output import print_json
from knowledge_index.cli.progress import console_progress
from knowledge_index.cli.state import State

if TYPE_CHECKING:
    from knowledge_index.benchmark.spans.eval_set import EvalDocument
    from knowledge_index.benchmark.spans.working import Workshop

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
    spans_app.command("run-corpus")(run_corpus)
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
    from knowledge_index.benchmark.spans.run_files import summary_json, write_run_files
    from knowledge_index.benchmark.spans.running import run_spans

    with _workshop(context.obj, loaded.documents) as workshop:
        result = run_spans(loaded, workshop, configurations, baseline)
    write_run_files(result, out)
    print_json(summary_json(result))


def run_corpus(
    context: typer.Context,
    benchmark: Annotated[Path, typer.Argument(metavar="BENCHMARK.json", help="In LegalBench-RAG's form.")],
    corpus: Annotated[
        Path, typer.Option("--corpus", metavar="DIR", help="What the benchmark's file paths start from.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help=_OUT_HELP)],
    mini: Annotated[
        int | None, typer.Option("--mini", metavar="N", min=1, help="Only the first N questions; for trying.")
    ] = None,
    config_names: Annotated[list[str] | None, typer.Option("--config", metavar="NAME", help=_CONFIG_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Ask each question of the whole corpus, and count the right characters among the best passages."""
    from knowledge_index.benchmark.spans.configurations import CORPUS_CONFIGURATIONS, select_configurations
    from knowledge_index.benchmark.spans.corpus import load_corpus_benchmark
    from knowledge_index.benchmark.spans.run_files import prepare_folder

    configurations = select_configurations(CORPUS_CONFIGURATIONS, config_names or ())
    loaded = load_corpus_benchmark(benchmark, corpus, mini)
    prepare_folder(out)

    from knowledge_index.benchmark.spans.corpus_report import corpus_summary_json, metric_rows, write_corpus_run
    from knowledge_index.benchmark.spans.corpus_running import run_corpus as run_over_corpus

    with _workshop(context.obj, loaded.documents) as workshop:
        result = run_over_corpus(loaded, workshop, configurations)
    write_corpus_run(result, out)
    if as_json:
        print_json(corpus_summary_json(result))
        return
    _print_table(*metric_rows(result))
    typer.echo(f"Written to {out}: report.md, per_query.json, rankings-*.jsonl")


@contextmanager
def _workshop(state: State, documents: Sequence["EvalDocument"]) -> Iterator["Workshop"]:
    """A workshop with the installation's settings; says at the end what the embedder had to do."""
    config = state.load_config().config

    from knowledge_index.benchmark.spans.working import open_workshop
    from knowledge_index.embed import build_embedder
    from knowledge_index.embed.token_counts import build_token_counter

    embedder, counter = build_embedder(config.embedding), build_token_counter(config.embedding)
    with open_workshop(state.home(), config, documents, embedder, counter, console_progress()) as workshop:
        yield workshop
        typer.echo(
            f"{workshop.embedder.computed} embeddings computed, {workshop.embedder.reused} reused from the cache",
            err=True,
        )


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Plain columns, whatever the terminal's width: nothing is folded or cut."""
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    for row in (heads, *rows):
        first, *others = row
        cells = (each.rjust(width) for each, width in zip(others, widths[1:], strict=True))
        typer.echo("  ".join((first.ljust(widths[0]), *cells)))
