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
        help="Measure whether the right characters are found.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    spans_app.command("prepare-cuad")(prepare_cuad)
    spans_app.command("adapt")(adapt)
    spans_app.command("run")(run)
    spans_app.command("run-corpus")(run_corpus)
    app.add_typer(spans_app, name="spans")


def prepare_cuad(
    file: Annotated[Path, typer.Argument(metavar="CUADv1.json", help="CUAD's own file.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.json", help="Where the eval set goes.")],
    seed: Annotated[int, typer.Option("--seed", help="Decides which contracts and questions are taken.")] = 42,
    documents: Annotated[int, typer.Option("--documents", min=1, help="At most so many contracts.")] = 20,
    questions: Annotated[
        int, typer.Option("--questions", min=1, help="At most so many questions, spread over the contracts.")
    ] = 50,
    include_metadata_clauses: Annotated[
        bool, typer.Option("--include-metadata-clauses", help="Also ask for name, parties and dates.")
    ] = False,
    allow_other_file: Annotated[
        bool, typer.Option("--allow-other-file", help="Take a file with another SHA-256 than CUADv1.json's.")
    ] = False,
) -> None:
    """Make an eval set from a sample of CUAD."""
    from knowledge_index.benchmark.spans.prepare_cuad import prepare_cuad as prepare

    made = prepare(
        file,
        out,
        seed=seed,
        documents=documents,
        questions=questions,
        include_metadata_clauses=include_metadata_clauses,
        allow_other_file=allow_other_file,
    )
    typer.echo(
        f"{out}: {made.queries} questions on {made.documents} of {made.documents_in_file} contracts, "
        f"{made.gold_spans} gold spans"
    )


def adapt(
    docs: Annotated[Path, typer.Option("--docs", metavar="DIR", help="A folder of .txt, .md, .pdf and .docx.")],
    queries: Annotated[
        Path,
        typer.Option(
            "--queries",
            metavar="FILE.jsonl",
            help="A question a line: query, doc_id, clause_type, gold_texts|gold_spans.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="OUT.json", help="Where the eval set goes.")],
    metadata: Annotated[
        Path | None,
        typer.Option("--metadata", metavar="FILE.jsonl", help="A document a line: doc_id and fields to filter by."),
    ] = None,
) -> None:
    """Make an eval set from documents and questions of one's own."""
    from knowledge_index.benchmark.spans.adapting import adapt as make

    made = make(docs, queries, out, metadata, console_progress())
    typer.echo(f"{out}: {made.queries} questions on {made.documents} documents, {made.gold_spans} gold spans")


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
    """Ask each question of its own document."""
    from knowledge_index.benchmark.spans.configurations import SCOPED_CONFIGURATIONS, select_configurations
    from knowledge_index.benchmark.spans.eval_set import load_eval_set
    from knowledge_index.benchmark.spans.run_files import prepare_folder

    configurations = select_configurations(SCOPED_CONFIGURATIONS, config_names or ())
    loaded = load_eval_set(eval_set)
    prepare_folder(out)

    from knowledge_index.benchmark.spans.client_report import client_report
    from knowledge_index.benchmark.spans.report import metric_rows, report
    from knowledge_index.benchmark.spans.run_files import summary_json, write_run_files, write_text
    from knowledge_index.benchmark.spans.running import run_spans

    with _workshop(context.obj, loaded.documents) as workshop:
        result = run_spans(loaded, workshop, configurations, baseline)
    write_run_files(result, out)
    write_text(out / "report.md", report(result))
    write_text(out / "client_report.md", client_report(result))
    if as_json:
        print_json(summary_json(result))
        return
    _print_table(*metric_rows(result))
    for each in result.not_run:
        typer.echo(f"{each.configuration.name}: not run, {each.reason}")
    typer.echo(f"Written to {out}: report.md, client_report.md, per_query.json, taxonomy.json, rankings-*.jsonl")


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
    """Ask each question of a whole corpus."""
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
