"""add-source, sync, run, status."""

import os
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from knowledge_index.cli.output import print_json, print_list
from knowledge_index.cli.progress import console_progress
from knowledge_index.cli.reports import held_line, print_run_report, print_sync_outcome
from knowledge_index.cli.state import State
from knowledge_index.domain.errors import InputError, PreconditionError, SourceError, UsageError

_FINDING_TITLES = {
    "unreadable": "could not be read by the last sync",
    "skipped": "skipped by the last sync",
    "grants_without_file": "entries of ACL maps that match no file",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("add-source")(add_source)
    app.command("sync")(sync)
    app.command("run")(run)
    app.command("status")(status)


def add_source(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to index; it is never written to.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="A short name of your choice.")],
    acl_map: Annotated[
        Path | None,
        typer.Option("--acl-map", metavar="FILE", help="JSON: path -> [{principal, access}]. None: seen by nobody."),
    ] = None,
) -> None:
    """Connect a folder as a source.

    Its files are observed by the next sync; they are never written to. The source is of kind local_fs.
    """
    from knowledge_index.sources import LOCAL_FS
    from knowledge_index.sources.acl_map import load_acl_map

    state: State = context.obj
    state.load_config()
    if not name.strip() or any(not character.isprintable() or character in "/:" for character in name):
        raise UsageError(f"--name {name!r}: use printable characters other than '/' and ':'")
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder")
    root = folder.resolve()
    home = state.home_folder.resolve()
    if home == root or home.is_relative_to(root):
        raise UsageError(f"{root}: holds this installation's home {home}, which would index itself; move one of them")
    entries = len(load_acl_map(acl_map)) if acl_map else 0
    home_now = state.home()
    with home_now.writing(), state.catalog() as catalog, catalog.transaction() as session:
        session.sources.add(name, LOCAL_FS, str(root), os.path.abspath(acl_map) if acl_map else None)
    grants = f"{entries} paths have grants" if acl_map else "no ACL map: visible to nobody"
    typer.echo(f"Source '{name}' added: {root} ({grants}). Next: ki sync")


def sync(
    context: typer.Context,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="One source; else all.")] = None,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read every file again, whatever size and time say.")
    ] = False,
    confirm_deletions: Annotated[
        bool, typer.Option("--confirm-deletions", help="Believe at once that what is missing was deleted.")
    ] = False,
) -> None:
    """Observe what changed in the sources.

    Records what is new, changed, moved or gone, and who may see it. Exits 1 when a file could not be read. Where all
    files of a source are missing, or most of many, they are held until three syncs agree: a share may be unmounted.
    """
    from datetime import UTC, datetime

    from knowledge_index.pipeline import SourceFailure, configured_sources, sync_sources

    state: State = context.obj
    state.load_config()
    home = state.home()
    with home.writing(), state.catalog() as catalog:
        outcomes = sync_sources(
            home,
            catalog,
            configured_sources(catalog, source),
            state.recorder(),
            rehash=rehash,
            confirm_deletions=confirm_deletions,
            scan_counts=True,
            clock=lambda: datetime.now(UTC),
            progress=console_progress(),
        )
    for outcome in outcomes:
        print_sync_outcome(outcome)
    failures = [each for each in outcomes if isinstance(each, SourceFailure)]
    if failures:
        raise SourceError("\n".join(f"source '{each.source}': {each.message}" for each in failures))
    if any(not isinstance(each, SourceFailure) and each.unreadable for each in outcomes):
        raise typer.Exit(1)


def run(
    context: typer.Context,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many objects.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when anything was newly quarantined.")] = False,
) -> None:
    """Index what the last sync saw.

    Takes pending objects through convert, relate, enrich and index; a run that was killed goes on where it stood.
    """
    state: State = context.obj
    config = state.load_config().config
    from knowledge_index.embed import build_embedder
    from knowledge_index.pipeline import run_pipeline

    home = state.home()
    embedder = build_embedder(config.embedding)
    with home.writing(), state.catalog() as catalog:
        with catalog.transaction() as session:
            rows_wait = session.pipeline_objects.to_unindex() or session.meta.index_write_open()
            if not session.sources.all() and not rows_wait:
                raise PreconditionError(
                    f"{home.folder}: there is no source yet; connect one with 'ki add-source DIR --name NAME', "
                    "then 'ki sync' and run again"
                )
        report = run_pipeline(home, catalog, config, embedder, limit=limit, progress=console_progress())
    print_run_report(report)
    # What someone attached is not the operator's to change: a picture in a mail must not fail every strict run.
    failed = [each for each in report.quarantined if not (each.is_contained and each.error_class == "unsupported")]
    if report.unread or (strict and failed):
        raise typer.Exit(1)


def status(
    context: typer.Context,
    principals: Annotated[
        str | None,
        typer.Option("--as", metavar="PRINCIPALS", help="Only what this caller may know. None: what operators may."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Show how the estate stands.

    What is indexed, pending, quarantined, visible to nobody, or on both sides of a wall; for a caller, how many
    documents that caller may see and search.
    """
    from knowledge_index.catalog.records import FindingKind
    from knowledge_index.convert.sandbox import sandbox_summary

    state: State = context.obj
    if principals is not None:
        _status_of_caller(state, principals, as_json)
        return
    state.load_config()
    with state.catalog() as catalog, catalog.transaction() as session:
        sources = session.status.sources()
        quarantined = session.status.quarantined()
        degraded = session.status.degraded()
        twins = session.status.wall_twins()
        held = session.status.held_deletions()
        without_grants = session.status.without_grants()
        findings = {kind: [each for each in session.status.findings() if each.kind == kind] for kind in FindingKind}
        passages, rows = session.status.index_counts()
        signature = session.meta.embedding_signature()
        interrupted = session.meta.index_write_open()
        epoch = session.meta.policy_epoch()
    if as_json:
        print_json(
            {
                "home": str(state.home_folder),
                "sources": sources,
                "quarantined": quarantined,
                "degraded": degraded,
                "on_both_sides_of_a_wall": twins,
                "held_deletions": held,
                "without_grants": without_grants,
                **findings,
                "passages": passages,
                "index_rows": rows,
                "embedding_signature": signature,
                "run_interrupted": interrupted,
                "policy_epoch": epoch,
                "conversion_isolation": sandbox_summary(),
            }
        )
        return
    typer.echo(f"Home: {state.home_folder}")
    if not sources:
        typer.echo("No sources yet. Next: ki add-source DIR --name NAME")
        return
    for each in sources:
        typer.echo(f"\n{each.name} ({each.kind}): {each.root}")
        typer.echo(f"  ACL map       {each.acl_map or 'none: visible to nobody'}")
        typer.echo(f"  last synced   {each.last_synced_at or 'never'}")
        typer.echo(f"  objects       {each.current}, of which {each.indexed} indexed, {each.pending} pending")
        typer.echo(
            f"  contained     {each.contained} of the objects lie in mails and archives; "
            f"{each.decorations} decorations are left out"
        )
        typer.echo(f"  quarantined   {each.quarantined}")
        typer.echo(f"  no grants     {each.without_grants} (visible to nobody)")
        typer.echo(f"  history       {each.superseded} superseded, {each.tombstoned} tombstoned")
    typer.echo(f"\nConversion: {sandbox_summary()}")
    typer.echo(f"Index: {passages} passages in {rows} distinct rows; embedding {signature or 'none yet'}")
    if interrupted:
        typer.echo("A run did not end: run 'ki run' to go on where it stood.")
    print_list(
        f"{len(held)} sources with held deletions; the files stay findable",
        [held_line(each) for each in held],
    )
    unread = [each for each in quarantined if each.is_contained and each.error_class == "unsupported"]
    print_list(
        f"{len(quarantined) - len(unread)} quarantined",
        [
            f"{each.source}:{each.path}: {each.error_class}: {each.message}"
            for each in quarantined
            if each not in unread
        ],
    )
    suffixes = Counter(PurePosixPath(each.path).suffix.lower() or "no suffix" for each in unread)
    print_list(
        f"{len(unread)} files inside mails and archives are of formats that are not read",
        [f"{suffix}: {count}" for suffix, count in sorted(suffixes.items())],
    )
    scanned = sum(each.pages_without_text for each in degraded)
    print_list(
        f"{len(degraded)} degraded, {scanned} scanned pages without text",
        [f"{each.source}:{each.path}: {'; '.join(each.degraded)}" for each in degraded],
    )
    print_list(f"{len(twins)} contents on both sides of a wall", [" = ".join(each.paths) for each in twins])
    for kind, title in _FINDING_TITLES.items():
        print_list(
            f"{len(findings[FindingKind(kind)])} {title}",
            [f"{each.source}:{each.path}: {each.reason}" for each in findings[FindingKind(kind)]],
        )
    print_list(
        f"{len(without_grants)} without grants, visible to nobody",
        [f"{each.source}:{each.path}" for each in without_grants],
    )


def _status_of_caller(state: State, principals: str, as_json: bool) -> None:
    from knowledge_index.access import compile_scope
    from knowledge_index.domain.principals import parse_principals

    caller = parse_principals(principals)
    with state.catalog() as catalog, catalog.transaction() as session:
        sources = session.status.visible(compile_scope(session, caller))
    if as_json:
        print_json({"sources": sources})
        return
    if not sources:
        typer.echo("There is nothing that this caller may see.")
    for each in sources:
        typer.echo(
            f"{each.name}: {each.documents} documents visible, of which {each.searchable} can be searched, "
            f"{each.waiting} wait for the next run, {each.unreadable} cannot be read"
        )
