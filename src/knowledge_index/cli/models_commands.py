"""models eval, freeze, threshold, list."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.output import print_json, printable
from knowledge_index.cli.progress import console_progress
from knowledge_index.cli.state import State
from knowledge_index.domain.errors import UsageError

if TYPE_CHECKING:
    from knowledge_index.benchmark.models.freezing import Ledger
    from knowledge_index.benchmark.models.grid import GridWork
    from knowledge_index.config.home import Home

_DATASET_HELP = "task-set, cuad, contractnli, or a folder: one of these, BEIR's form, or MLEB's parquet or JSONL."
_DATA_HELP = "Where the named sets lie."
_EMBEDDER_HELP = "NAME or NAME=FOLDER of a registered embedder; repeatable. Without it, all."
_RERANKER_HELP = "NAME or NAME=FOLDER of a registered reranker, or none; repeatable. Without it, all."
_SEED_HELP = "Decides which half is dev and which is test."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    models_app = typer.Typer(
        help="Compare models, freeze a choice, test it once.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    models_app.command("eval")(evaluate)
    models_app.command("freeze")(freeze)
    models_app.command("threshold")(threshold)
    models_app.command("list")(list_models)
    app.add_typer(models_app, name="models")


def evaluate(
    context: typer.Context,
    dataset_name: Annotated[str, typer.Option("--dataset", metavar="NAME|DIR", help=_DATASET_HELP)],
    split_name: Annotated[
        str, typer.Option("--split", metavar="dev|test", help="Choose on dev; test is frozen first.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder for report, results and run files.")],
    embedder_names: Annotated[list[str] | None, typer.Option("--embedder", metavar="NAME", help=_EMBEDDER_HELP)] = None,
    reranker_names: Annotated[list[str] | None, typer.Option("--reranker", metavar="NAME", help=_RERANKER_HELP)] = None,
    unit_name: Annotated[
        str | None,
        typer.Option("--unit", metavar="chunk|document", help="What is ranked; else chunks where spans are known."),
    ] = None,
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help=_DATA_HELP)] = Path("external"),
    seed: Annotated[int, typer.Option("--seed", metavar="N", help=_SEED_HELP)] = 42,
    again: Annotated[bool, typer.Option("--again", help="Look at test again; needs --reason.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; every report shows it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Run the grid of embedders, first stages and rerankers over a data set.

    What was computed is kept, so that a run that was stopped goes on.
    """
    from knowledge_index.benchmark.models.dataset import Split, Unit
    from knowledge_index.embed.registry import AskedModel

    if split_name not in tuple(Split):
        raise UsageError(f"--split {split_name}: is neither dev nor test")
    if unit_name is not None and unit_name not in tuple(Unit):
        raise UsageError(f"--unit {unit_name}: is neither chunk nor document")
    if again != bool((reason or "").strip()):
        raise UsageError("--again and --reason go together: say why the test split is looked at again")
    if again and split_name != Split.TEST:
        raise UsageError("--again is for the test split; dev may be looked at as often as one likes")
    embedders = [AskedModel.parse(each) for each in embedder_names] if embedder_names else None
    rerankers = [AskedModel.parse(each) for each in reranker_names if each != "none"] if reranker_names else None

    from knowledge_index.benchmark.models.evaluating import Asked, evaluate_models
    from knowledge_index.benchmark.models.reading import open_dataset
    from knowledge_index.benchmark.models.report import report, write_results

    state: State = context.obj
    home = state.home()
    dataset = open_dataset(dataset_name, data, Split(split_name), seed, console_progress())
    asked = Asked(embedders, rerankers, Unit(unit_name) if unit_name else None, seed, reason)
    with _work(state) as work:
        result, results = evaluate_models(dataset, asked, work, _ledger(home))
    write_results(result, results, out)
    if as_json:
        print_json(results)
        return
    typer.echo(printable("\n".join(report(results)), keep="\n"))
    typer.echo(f"Written to {out}: report.md, results.json, per_query.jsonl, qrels.txt, a run file for each row")


def freeze(
    context: typer.Context,
    configuration: Annotated[str, typer.Option("--config", metavar="NAME", help="The choice, as the report names it.")],
    run: Annotated[Path, typer.Option("--run", metavar="DIR", help="What 'ki models eval --split dev' wrote.")],
    dataset_name: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME|DIR", help="As for eval; needed where it was a folder."),
    ] = None,
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help=_DATA_HELP)] = Path("external"),
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Write down the choice that was made on dev, before the test split is looked at."""
    from knowledge_index.benchmark.models.evaluating import freeze_choice

    state: State = context.obj
    frozen = freeze_choice(run, configuration, dataset_name, data, _ledger(state.home()), console_progress())
    if as_json:
        print_json(frozen.as_json())
        return
    typer.echo(
        f"Frozen for {printable(frozen.dataset)}: {printable(frozen.configuration)}, {frozen.frozen_at}, "
        f"among {len(frozen.compared)} configurations"
    )
    if frozen.after_looks:
        typer.echo(f"The test split had been looked at {frozen.after_looks} time(s) before, which its report will say")
    typer.echo("Next: ki models eval --split test with the same --dataset, once")


def threshold(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder for report, figures and picture.")],
    library_file: Annotated[
        Path | None,
        typer.Option("--library", metavar="FILE.toml", help="Answers and questions; else those that ship with ki."),
    ] = None,
    embedder_name: Annotated[
        str | None, typer.Option("--embedder", metavar="NAME", help="NAME or NAME=FOLDER; else the default model.")
    ] = None,
    reranker_name: Annotated[
        str | None, typer.Option("--reranker", metavar="NAME", help="NAME or NAME=FOLDER; else none.")
    ] = None,
    precision: Annotated[
        float, typer.Option("--precision", metavar="X", min=0, max=1, help="What precision on dev has to be.")
    ] = 0.9,
    leave_out_superseded: Annotated[
        bool, typer.Option("--leave-out-superseded", help="Without the answers that are marked as superseded.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help=_SEED_HELP)] = 42,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Choose on dev above which score the best answer is filled in, and measure it on test."""
    from knowledge_index.benchmark.models.answer_library import PACKAGED_LIBRARY, load_library
    from knowledge_index.benchmark.models.threshold_running import (
        run_threshold,
        threshold_json,
        threshold_report,
        write_threshold,
    )
    from knowledge_index.embed.registry import AskedModel, registered_embedders

    library = load_library(library_file or PACKAGED_LIBRARY)
    if leave_out_superseded:
        library = library.without_superseded()
    embedder = AskedModel.parse(embedder_name or registered_embedders()[0].name)
    reranker = AskedModel.parse(reranker_name) if reranker_name not in (None, "none") else None
    state: State = context.obj
    home = state.home()
    with _work(state) as work:
        result = run_threshold(library, embedder, reranker, precision, seed, work, _ledger(home))
    write_threshold(result, out)
    if as_json:
        print_json(threshold_json(result))
        return
    typer.echo(printable("\n".join(threshold_report(result)), keep="\n"))
    typer.echo(f"Written to {out}: report.md, threshold.json, curve.svg")


def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """List the registered models, and whether their weights are on this machine."""
    from knowledge_index.domain.errors import ModelError
    from knowledge_index.embed.model_files import model_folder
    from knowledge_index.embed.registry import registered_embedders, registered_rerankers

    rows = []
    for kind, cards in (("embedder", registered_embedders()), ("reranker", registered_rerankers())):
        for card in cards:
            try:
                model_folder(card.name, download=False)
                is_here = True
            except ModelError:
                is_here = False
            rows.append({"name": card.name, "kind": kind, "family": str(card.family), "here": is_here})
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['kind']}  {row['name']}  {row['family']}  {'here' if row['here'] else 'not on this machine'}")


@contextmanager
def _work(state: State) -> Iterator["GridWork"]:
    """The home's caches, and a folder of the home that goes when the block ends."""
    from knowledge_index.benchmark.models.grid import GridWork
    from knowledge_index.embed import VectorCache
    from knowledge_index.embed.score_cache import ScoreCache

    config, home = state.load_config().config, state.home()
    with (
        tempfile.TemporaryDirectory(prefix="models-", dir=home.folder, ignore_cleanup_errors=True) as folder,
        closing(VectorCache(home.vector_cache_file)) as vectors,
        closing(ScoreCache(home.score_cache_file)) as scores,
    ):
        yield GridWork(Path(folder), config, vectors, scores, console_progress())


def _ledger(home: "Home") -> "Ledger":
    from knowledge_index.benchmark.models.freezing import Ledger
    from knowledge_index.evidence.keys import KeyStore

    def clock() -> datetime:
        return datetime.now(UTC)

    return Ledger(home.models_ledger_file, KeyStore(home.keys_folder, clock), clock)
