"""generate-benchmark, freeze-gold, run-retrieval-eval."""

from pathlib import Path
from typing import Annotated

import typer

from knowledge_index.cli.output import print_json, printable
from knowledge_index.cli.progress import console_progress
from knowledge_index.cli.state import State
from knowledge_index.domain.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("generate-benchmark")(generate_benchmark)
    app.command("freeze-gold")(freeze_gold)
    app.command("run-retrieval-eval")(run_retrieval_eval)


def generate_benchmark(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new or empty folder.")],
    source: Annotated[Path, typer.Option("--source", metavar="DIR", help="The folder that holds the set's tasks/.")],
    areas: Annotated[
        str | None, typer.Option("--areas", metavar="a/b,c", help="Only these practice areas; else all.")
    ] = None,
    matters: Annotated[int, typer.Option("--matters", metavar="N", min=1, help="At most so many matters.")] = 50,
    docs_target: Annotated[
        int, typer.Option("--docs-target", metavar="N", min=1, help="At most so many documents.")
    ] = 1000,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Decides which scenarios are packed, in which order.")
    ] = 42,
) -> None:
    """Build a firm and its gold from a task set.

    Packs the set's papers into matters with grants, and derives what each query should find: files only, no index.
    """
    from knowledge_index.benchmark.firm import generate_benchmark as generate

    wanted = None
    if areas is not None:
        wanted = tuple(part.strip().strip("/") for part in areas.split(",") if part.strip().strip("/"))
        if not wanted:
            raise UsageError("--areas names no area; leave it out for all areas")
    firm = generate(
        source,
        out,
        areas=wanted,
        matters=matters,
        docs_target=docs_target,
        seed=seed,
        progress=console_progress(),
    )
    counts = firm.manifest.counts
    typer.echo(
        f"{out}: {counts.matters} matters, {counts.scenarios} scenarios, {counts.documents} documents, "
        f"{len(firm.manifest.principals)} groups"
    )
    if firm.unreadable:
        typer.echo(f"{len(firm.unreadable)} documents have no text that could be read, so no query can find them:")
        for path, error_class in sorted(firm.unreadable.items())[:20]:
            typer.echo(f"  {printable(path)}: {error_class}")
    gold = ", ".join(f"{count} {kind}" for kind, count in counts.gold_by_kind.items())
    typer.echo(f"Gold: {gold}. Content {firm.manifest.corpus_sha256[:16]}…")
    typer.echo(f"Next: ki add-source {out / 'mock_dms'} --name NAME --acl-map {out / 'acl-by-path.json'}")


def freeze_gold(
    firm: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that generate-benchmark made.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The name that run-retrieval-eval finds it by.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Where to; else the package's benchmark/data folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace another gold under this name.")] = False,
) -> None:
    """Keep a generated firm's gold under a name.

    Its checksum and the firm's are kept with it, so that an evaluation knows what it measures.
    """
    from knowledge_index.benchmark.freezing import freeze_gold as freeze
    from knowledge_index.benchmark.freezing import packaged_gold_folder

    result = freeze(firm, name, to if to is not None else packaged_gold_folder(), force)
    counts = ", ".join(f"{count} {kind}" for kind, count in result.gold.meta.counts_by_kind.items())
    verb = "holds this gold already" if result.unchanged else "written"
    typer.echo(f"{result.gold_file} {verb}: {counts}; SHA-256 {result.gold.meta.gold_sha256}")


def run_retrieval_eval(
    context: typer.Context,
    gold: Annotated[str, typer.Argument(metavar="NAME|FILE", help="Frozen gold, by name or as NAME.gold.jsonl.")],
    baseline: Annotated[str, typer.Option("--baseline", metavar="NAME", help="ladder, ablations, or one preset.")],
    report_file: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write the whole report as JSON.")
    ] = None,
    run_dir: Annotated[
        Path | None, typer.Option("--run-dir", metavar="DIR", help="Write TREC run and qrels files.")
    ] = None,
    min_lift: Annotated[
        float, typer.Option("--min-lift", metavar="X", help="What full has to gain over naive_dense in nDCG@10.")
    ] = 0.05,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Measure retrieval against frozen gold.

    Runs presets over one index, probes every wall, and exits 1 when the gate fails, 3 when gold is not indexed.
    """
    from knowledge_index.benchmark.freezing import load_frozen_gold
    from knowledge_index.benchmark.gate import check_min_lift
    from knowledge_index.benchmark.presets import presets_of

    check_min_lift(min_lift)
    presets = presets_of(baseline)
    for place in (report_file.parent if report_file else None, run_dir):
        if place is not None:
            _make_folder(place)
    state: State = context.obj
    config = state.load_config().config
    frozen = load_frozen_gold(gold)

    from knowledge_index.access.audit_chain import AuditAction
    from knowledge_index.benchmark.evaluation import evaluate
    from knowledge_index.benchmark.opening import evaluation_services
    from knowledge_index.benchmark.report import write_report
    from knowledge_index.benchmark.run_files import write_run_files
    from knowledge_index.benchmark.tables import render_report
    from knowledge_index.embed import build_embedder
    from knowledge_index.retrieval import open_retrieval

    with state.catalog() as catalog:
        # One entry for thousands of searches that show nobody a passage; before them, so that none goes unrecorded.
        state.recorder().record_operation(
            AuditAction.EVALUATION, gold=frozen.meta.name, presets=",".join(presets), queries=len(frozen.queries)
        )
        service = open_retrieval(state.home(), catalog, config, build_embedder(config.embedding))
        services = evaluation_services(service)
        evaluation = evaluate(frozen, services, presets, config.retrieval, min_lift, console_progress())
    report = evaluation.report
    if report_file is not None:
        write_report(report, report_file)
    if run_dir is not None:
        write_run_files(evaluation.queries, evaluation.rankings, run_dir)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        from rich.console import Console

        Console().print(render_report(report))
    if not report.gate.passed:
        raise typer.Exit(1)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror}); name another place for the report") from error
