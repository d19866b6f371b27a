"""ask, golden run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.evidence_commands import ReceiptOption, write_receipt
from knowledge_index.cli.output import one_line, print_json, printable
from knowledge_index.cli.state import State

if TYPE_CHECKING:
    from knowledge_index.answers import Answer
    from knowledge_index.benchmark.golden import GoldenReport

_MAX_UNREAD = 10


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ask")(ask)
    golden_app = typer.Typer(help="Golden questions.", no_args_is_help=True, rich_markup_mode=None)
    golden_app.command("run")(golden_run)
    app.add_typer(golden_app, name="golden")


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, in English or German.")],
    principals: Annotated[
        str, typer.Option("--as", metavar="PRINCIPALS", help="Who asks: user:a,group:b. Nothing is assumed.")
    ],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=50, help="How many passages to read.")] = 8,
    matter: Annotated[
        list[str] | None, typer.Option("--matter", metavar="REF", help="Only this matter reference; repeatable.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what was searched, and with which words.")] = False,
    receipt: ReceiptOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Answer from the documents, citations checked."""
    import os

    from knowledge_index.domain.principals import parse_principals
    from knowledge_index.domain.search import SearchFilters

    state: State = context.obj
    caller = parse_principals(principals)
    config = state.load_config().config
    filters = SearchFilters(frozenset(matter or ()))

    from knowledge_index.access import caller_notes
    from knowledge_index.answers import answer_question, build_gateway
    from knowledge_index.embed import build_embedder
    from knowledge_index.retrieval import open_retrieval

    gateway = build_gateway(config.gateway, os.environ)
    with state.catalog() as catalog:
        service = open_retrieval(state.home(), catalog, config, build_embedder(config.embedding))
        with catalog.transaction() as session:
            notes = caller_notes(session, caller)
        recorder = state.recorder()
        if receipt is None:
            answer = answer_question(service, recorder, caller, question, config.retrieval, filters, limit, gateway)
        else:
            from knowledge_index.answers.receipts import answer_with_receipt
            from knowledge_index.evidence.issuing import open_issuer

            receipted = answer_with_receipt(
                service,
                recorder,
                open_issuer(state.home(), recorder),
                caller,
                question,
                config.retrieval,
                filters,
                limit,
                gateway,
            )
            answer = receipted.answer
            write_receipt(receipt, receipted.receipt)
    if as_json:
        print_json({"caller_notes": list(notes), "answer": answer})
        return
    for note in notes:
        typer.echo(f"Note: {printable(note)}.", err=True)
    _print_answer(answer, explain)


def _print_answer(answer: "Answer", explain: bool) -> None:
    typer.echo(printable(answer.text))
    kinds = {
        "extractive": "in the documents' own sentences",
        "model": "worded by a model, citations and figures checked",
        "not_said": f"{len(answer.searched.passages)} passages read",
    }
    typer.echo(f"({kinds[answer.kind]})\n")
    for each in answer.citations:
        side = "  other side's paper" if each.is_opposing else ""
        typer.echo(f"[{each.number}] {printable(each.title)}  [{each.version_status}]{side}")
        typer.echo(f"    {printable(f'{each.source}:{each.path}')}")
        place = f"characters {each.start_char} to {each.end_char}"
        typer.echo(f"    {printable(each.heading + '  |  ' if each.heading else '')}{place}  {each.hit_id}")
        typer.echo(f"    “{one_line(each.quoted, 400)}”\n")
    searched = answer.searched
    if answer.kind == "not_said" and searched.uncovered:
        typer.echo(f"No passage read has: {printable(', '.join(searched.uncovered))}.")
    if (answer.kind == "not_said" or explain) and searched.unread:
        typer.echo(f"{len(searched.unread)} files could not be searched:")
        for unread in searched.unread[:_MAX_UNREAD]:
            typer.echo(f"  {printable(f'{unread.source}:{unread.path}')}: {printable(unread.reason)}")
    if explain:
        typer.echo("Searched:")
        for query in searched.queries:
            typer.echo(f"  {printable(query)}")
        typer.echo(f"Added words: {printable(', '.join(searched.aliases)) or 'none'}")
        typer.echo(f"Passages read: {len(searched.passages)}")
    for note in answer.notes:
        typer.echo(f"Note: {printable(note)}.")


def golden_run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="The questions and what has to be found.")],
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, max=50, help="How many passages to read.")] = 8,
    principals: Annotated[
        str | None, typer.Option("--as", metavar="PRINCIPALS", help="Who asks what names nobody: user:a,group:b.")
    ] = None,
    min_hit_rate: Annotated[
        float | None, typer.Option("--min-hit-rate", metavar="X", min=0, max=1, help="Exit 1 below this hit rate.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Ask golden questions and report what was found, said and cited."""
    import os
    import time

    from knowledge_index.benchmark.golden_file import load_golden
    from knowledge_index.domain.principals import parse_principals

    state: State = context.obj
    golden = load_golden(file)
    caller = parse_principals(principals) if principals is not None else None
    config = state.load_config().config

    from knowledge_index.answers import build_gateway
    from knowledge_index.benchmark.golden import run_golden
    from knowledge_index.cli.progress import console_progress
    from knowledge_index.embed import build_embedder
    from knowledge_index.retrieval import open_retrieval

    gateway = build_gateway(config.gateway, os.environ)
    with state.catalog() as catalog:
        service = open_retrieval(state.home(), catalog, config, build_embedder(config.embedding))
        report = run_golden(
            service,
            state.recorder(),
            golden.questions,
            caller,
            config.retrieval,
            k,
            gateway,
            time.monotonic,
            console_progress(),
        )
    if as_json:
        print_json(report)
    else:
        _print_golden(report)
    if min_hit_rate is not None and (report.total.hit_rate or 0.0) < min_hit_rate:
        raise typer.Exit(1)


def _print_golden(report: "GoldenReport") -> None:
    typer.echo(f"{'kind':<22}{'n':>4}  {f'hit@{report.k}':>7}  answer  refused  citations  mean ms   p95 ms")
    for kind, counts in (*report.by_kind, ("all", report.total)):
        shares = (counts.hit_rate, counts.answer_rate, counts.refusal_rate, counts.citation_validity)
        hit, answer, refused, valid = ("-" if each is None else f"{each:.3f}" for each in shares)
        typer.echo(
            f"{printable(kind):<22}{counts.questions:>4}  {hit:>7}  {answer:>6}  {refused:>7}  {valid:>9}"
            f"  {counts.mean_ms:>7.0f}  {counts.p95_ms:>7.0f}"
        )
    for each in report.outcomes:
        missed = [
            name
            for name, value in (
                ("not found", each.is_hit),
                ("not said", each.answer_holds),
                ("not refused", each.refused_rightly),
            )
            if value is False
        ]
        if each.invalid_citations:
            missed.append("citation invalid")
        if missed:
            typer.echo(f"{', '.join(missed)}: {printable(each.question)} -> {one_line(each.answer, 200)}")
