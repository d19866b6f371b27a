"""search and show."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.evidence_commands import ReceiptOption, write_receipt
from knowledge_index.cli.output import one_line, print_json, printable
from knowledge_index.cli.state import State
from knowledge_index.cli.tracked_changes import print_changes, print_deleted, print_state
from knowledge_index.domain.documents import TextState
from knowledge_index.domain.errors import UsageError

if TYPE_CHECKING:
    from knowledge_index.domain.search import QueryExplanation
    from knowledge_index.retrieval import ShownMail, VersionChain

_AsOption = Annotated[
    str, typer.Option("--as", metavar="PRINCIPALS", help="Who asks: user:a,group:b. Nothing is assumed.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("search")(search)
    app.command("show")(show)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, a question, a quotation or a reference.")],
    principals: _AsOption,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many hits.")] = 10,
    matter: Annotated[
        list[str] | None, typer.Option("--matter", metavar="REF", help="Only this matter reference; repeatable.")
    ] = None,
    document_type: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only this type of document; repeatable.")
    ] = None,
    version_status: Annotated[
        list[str] | None,
        typer.Option("--version-status", metavar="STATUS", help="draft, final, executed or unknown; repeatable."),
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option("--language", metavar="LANGUAGE", help="en, de or unknown; repeatable.")
    ] = None,
    date_from: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="Only documents of this day or later: 2026-03-31.")
    ] = None,
    date_to: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="Only documents of this day or earlier.")
    ] = None,
    path: Annotated[
        str | None, typer.Option("--path", metavar="PREFIX", help="Only documents whose path begins so.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="Of each paper only the latest version of that day; with --version-status, the latest of that status.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what was recognised and how each hit was found.")
    ] = False,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Search only the wording that tracked changes deleted or moved away.")
    ] = False,
    receipt: ReceiptOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Search what the caller may see."""
    from knowledge_index.domain.filter_words import parsed_filters
    from knowledge_index.domain.principals import parse_principals

    state: State = context.obj
    caller = parse_principals(principals)
    filters = parsed_filters(
        matters=matter or (),
        document_types=document_type or (),
        version_statuses=version_status or (),
        languages=language or (),
        date_from=date_from,
        date_to=date_to,
        path_prefix=path,
        as_of=as_of,
    )
    config = state.load_config().config

    from knowledge_index.access import caller_notes
    from knowledge_index.embed import build_embedder
    from knowledge_index.retrieval import open_retrieval, search_as, search_deleted_as

    if deleted and receipt is not None:
        raise UsageError("--deleted searches what no index holds, so there is no receipt of it; leave out --receipt")
    if deleted:
        with state.catalog() as catalog:
            print_deleted(
                search_deleted_as(catalog, state.recorder(), caller, query, filters, limit), principals, as_json
            )
        return
    with state.catalog() as catalog:
        service = open_retrieval(state.home(), catalog, config, build_embedder(config.embedding))
        with catalog.transaction() as session:
            notes = caller_notes(session, caller)
        recorder = state.recorder()
        if receipt is None:
            result = search_as(service, recorder, caller, query, config.retrieval, filters, limit)
        else:
            from knowledge_index.evidence.issuing import open_issuer
            from knowledge_index.retrieval.receipts import search_with_receipt_as

            issuer = open_issuer(state.home(), recorder)
            result, signed = search_with_receipt_as(
                service, recorder, issuer, caller, query, config.retrieval, filters, limit
            )
            write_receipt(receipt, signed)
    if as_json:
        print_json(replace(result, notes=(*notes, *result.notes)))
        return
    _print_caller_notes(notes)
    if explain:
        _echo_explanation(result.explanation)
    if not result.hits:
        typer.echo("Nothing found that this caller may see.")
    for place, hit in enumerate(result.hits, start=1):
        matter_name = (
            f"{hit.matter_ref} {hit.matter_title}".strip() if hit.matter_ref != hit.matter_title else hit.matter_ref
        )
        typer.echo(f"{place:2}. {printable(hit.title)}  [{hit.version_status}]  {hit.score:.4f}")
        typer.echo(f"    {printable(f'{hit.source}:{hit.path}')}{_page(hit.page)}")
        typer.echo(f"    {printable(matter_name + ('  |  ' + hit.heading if hit.heading else ''))}")
        dated = "" if hit.document_date is None else f"  |  {hit.document_date} ({hit.date_evidence})"
        typer.echo(f"    type {hit.document_type}  |  language {hit.language}{dated}")
        typer.echo(f"    {one_line(hit.passage, 220)}")
        if hit.most_binding is not None:
            typer.echo(f"    also: {hit.most_binding.version_status} ({printable(hit.most_binding.path)})")
        if explain:
            for leg in hit.legs:
                typer.echo(f"    {leg.leg:<10} #{leg.rank:<4} {leg.score:.4f}")
        for line in hit.degraded:
            typer.echo(f"    degraded: {one_line(line, 200)}")
        found_by = ", ".join(f"{leg.leg} #{leg.rank}" for leg in hit.legs)
        typer.echo(f"    {found_by}  ki show {hit.hit_id} --as {printable(principals)}\n")
    if explain:
        for note in result.notes:
            typer.echo(f"Note: {printable(note)}.")


def _echo_explanation(explanation: "QueryExplanation") -> None:
    for value in explanation.values:
        typer.echo(f"Recognised: {printable(value)}")
    if explanation.mention:
        titles = "; ".join(explanation.mentioned)
        typer.echo(f"Names a paper: {printable(' '.join(explanation.mention))} -> {printable(titles)}")
        typer.echo(f"Asked within it: {printable(explanation.question)}")
    for clause_type in explanation.clause_types:
        typer.echo(f"Asks for a clause: {printable(clause_type)}")
    sizes = ", ".join(f"{leg} {size}" for leg, size in explanation.leg_sizes)
    typer.echo(f"Found: {sizes}; {explanation.holds_wording} hold the query as it is worded\n")


def show(
    context: typer.Context,
    hit: Annotated[str, typer.Argument(metavar="HIT", help="The id that a search printed.")],
    principals: _AsOption,
    versions: Annotated[bool, typer.Option("--versions", help="List the paper's versions, earliest first.")] = False,
    thread: Annotated[bool, typer.Option("--thread", help="List the mails of its thread, oldest first.")] = False,
    text_state: Annotated[
        TextState | None,
        typer.Option("--state", help="The text around the hit as it was, as it is, or with marks around changes."),
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="With --state: the whole text.")] = False,
    changes: Annotated[bool, typer.Option("--changes", help="List the tracked changes of the hit's paper.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Show a hit's passage, or a view of its paper.

    A thread is made of what the mails state that the caller may see; that of an attachment is its mail's.
    """
    from knowledge_index.access import caller_notes
    from knowledge_index.domain.principals import parse_principals
    from knowledge_index.retrieval import list_versions, show_as, show_changes, show_state, show_thread

    if sum((versions, thread, changes, text_state is not None)) > 1:
        raise UsageError("--versions, --thread, --state and --changes are views of their own; ask for one at a time")
    if whole and text_state is None:
        raise UsageError("--whole goes with --state: say which state of the text to show")
    state: State = context.obj
    caller = parse_principals(principals)
    with state.catalog() as catalog:
        with catalog.transaction() as session:
            notes = caller_notes(session, caller)
        # Also for the views: that the paper was looked into is on record before any of it is shown.
        shown = show_as(catalog, state.recorder(), caller, hit)
        if versions:
            _print_versions(list_versions(catalog, hit, caller), as_json)
            return
        if thread:
            _print_thread(show_thread(catalog, hit, caller), as_json=as_json)
            return
        if changes:
            print_changes(hit, show_changes(catalog, hit, caller), as_json)
            return
        if text_state is not None:
            print_state(hit, show_state(catalog, hit, caller, text_state, whole=whole), as_json)
            return
    each = shown.occurrence
    if as_json:
        print_json(
            {
                "hit_id": hit,
                "source": each.source,
                "path": each.path,
                "title": each.title,
                "heading": each.heading,
                "version_status": each.version_status,
                "matter_ref": each.matter_ref,
                "matter_title": each.matter_title,
                "start_char": each.start_char,
                "end_char": each.end_char,
                "text_sha256": each.text_sha256,
                "converter": each.converter,
                "page": shown.reading.page,
                "degraded": shown.reading.degraded,
                "before": shown.before,
                "passage": shown.passage,
                "after": shown.after,
                "notes": notes,
            }
        )
        return
    _print_caller_notes(notes)
    typer.echo(f"{printable(each.title)}  [{each.version_status}]")
    typer.echo(printable(f"{each.source}:{each.path}") + _page(shown.reading.page))
    for line in shown.reading.degraded:
        typer.echo(f"degraded: {one_line(line, 200)}")
    typer.echo(printable(f"Matter {each.matter_ref} {each.matter_title}".rstrip()))
    typer.echo(f"Characters {each.start_char} to {each.end_char} of the text {each.text_sha256} by {each.converter}\n")
    before, passage, after = (printable(text.strip(), "\n\t") for text in (shown.before, shown.passage, shown.after))
    typer.echo(f"… {before}" if before else "")
    typer.echo(f"\n>>> {passage} <<<\n")
    typer.echo(f"{after} …" if after else "")


def _print_caller_notes(notes: Sequence[str]) -> None:
    for note in notes:
        typer.echo(f"Note: {printable(note)}.", err=True)


def _print_thread(mails: "Sequence[ShownMail]", *, as_json: bool) -> None:
    if as_json:
        print_json({"mails": mails})
        return
    if not mails:
        typer.echo("The hit is no mail and lies in none.")
    for place, each in enumerate(mails, start=1):
        mark = "  <- this one" if each.is_asked_for else ""
        typer.echo(f"{place:2}. {each.sent_at or 'no date':25}  {printable(each.title)}{mark}")
        typer.echo(f"    {printable(f'{each.source}:{each.path}')}")


def _page(number: int | None) -> str:
    return "" if number is None else f", page {number}"


def _print_versions(chain: "VersionChain", as_json: bool) -> None:
    if as_json:
        print_json(chain)
        return
    for place, each in enumerate(chain.versions, start=1):
        mark = "  <- this hit" if each.is_asked_for else ""
        typer.echo(f"{place:2}. {printable(f'{each.source}:{each.path}')}{mark}")
        typer.echo(f"    {each.version_status}: {printable(each.status_evidence)}")
        typer.echo(f"    order: {printable(each.order_evidence or 'nothing says')}")
        for link in each.links:
            typer.echo(f"    {link.evidence} {printable(link.path)} ({link.similarity:.2f})")
