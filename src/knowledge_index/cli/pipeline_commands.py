"""add-source, sync, run, status."""

import os
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from knowledge_index.cli.output import one_line, print_json
from knowledge_index.cli.progress import console_progress
from knowledge_index.cli.state import State
from knowledge_index.domain.errors import InputError, SourceError, UsageError

_SHOWN = 20


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
) -> None:
    """Observe what changed in the sources.

    Records what is new, changed, moved or gone, and who may see it. Exits 1 when a file could not be read.
    """
    from datetime import UTC, datetime

    from knowledge_index.pipeline import renew_relations
    from knowledge_index.sources import open_source
    from knowledge_index.sources.acl_map import load_acl_map
    from knowledge_index.sources.sync import apply_grants, sync_source

    state: State = context.obj
    home = state.home()
    failed = False
    unread: list[str] = []
    with home.writing(), state.catalog() as catalog:
        with catalog.transaction() as session:
            records = session.sources.all()
        if source is not None:
            records = [record for record in records if record.name == source]
        if not records:
            what = f"there is no source named '{source}'" if source else "there is no source yet"
            raise UsageError(f"{what}; connect one with 'ki add-source DIR --name NAME'")
        # All maps before the first sync: a malformed one stops the command before anything is recorded.
        grants = {record.name: load_acl_map(Path(record.acl_map)) if record.acl_map else {} for record in records}
        for record in records:
            try:
                report = sync_source(
                    catalog,
                    record,
                    open_source(record),
                    grants[record.name],
                    installation_key=home.installation_key(),
                    rehash=rehash,
                    clock=lambda: datetime.now(UTC),
                    progress=console_progress(),
                )
            except SourceError as error:
                regranted = apply_grants(catalog, record, grants[record.name])
                typer.echo(f"{record.name}: not synced; grants changed on {regranted}")
                unread.append(f"source '{record.name}': {error}")
                continue
            typer.echo(
                f"{report.source}: {report.new} new, {report.changed} changed, {report.moved} moved, "
                f"{report.gone} gone, {report.unchanged} unchanged; grants changed on {report.grants_changed}; "
                f"{report.hashed} files read"
            )
            _list(f"{len(report.skipped)} skipped", [f"{each.path}: {each.reason}" for each in report.skipped])
            _list(
                f"{len(report.unreadable)} could not be read, their last known state is kept",
                [each.reason for each in report.unreadable],
            )
            failed = failed or bool(report.unreadable)
        renew_relations(catalog, forget_old_titles=True)
    if unread:
        raise SourceError("\n".join(unread))
    if failed:
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
        report = run_pipeline(home, catalog, config, embedder, limit=limit, progress=console_progress())
    typer.echo(
        f"{report.objects} objects: {report.conversions} conversions, {report.enriched} enriched, "
        f"{report.indexed} indexed ({report.passages} passages), {report.unindexed} taken out"
    )
    typer.echo(
        f"{report.embeddings} embeddings ({report.vectors_reused} reused), {report.rows_written} index rows written, "
        f"{report.rows_removed} removed"
    )
    if report.left_for_later:
        typer.echo(f"{report.left_for_later} left for the next run (--limit)")
    _list(
        f"{len(report.quarantined)} newly quarantined",
        [f"{each.path}: {each.error_class}: {each.message}" for each in report.quarantined],
    )
    _list(f"{len(report.unread)} could not be read", [f"{path}: {reason}" for path, reason in report.unread])
    # What someone attached is not the operator's to change: a picture in a mail must not fail every strict run.
    failed = [each for each in report.quarantined if not (each.is_contained and each.error_class == "unsupported")]
    if report.unread or (strict and failed):
        raise typer.Exit(1)


def status(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Show operators how the estate stands.

    What is indexed, pending, quarantined, visible to nobody, or on both sides of a wall.
    """
    from knowledge_index.convert.sandbox import sandbox_summary

    state: State = context.obj
    with state.catalog() as catalog, catalog.transaction() as session:
        sources = session.status.sources()
        quarantined = session.status.quarantined()
        degraded = session.status.degraded()
        twins = session.status.wall_twins()
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
    unread = [each for each in quarantined if each.is_contained and each.error_class == "unsupported"]
    _list(
        f"{len(quarantined) - len(unread)} quarantined",
        [
            f"{each.source}:{each.path}: {each.error_class}: {each.message}"
            for each in quarantined
            if each not in unread
        ],
    )
    suffixes = Counter(PurePosixPath(each.path).suffix.lower() or "no suffix" for each in unread)
    _list(
        f"{len(unread)} files inside mails and archives are of formats that are not read",
        [f"{suffix}: {count}" for suffix, count in sorted(suffixes.items())],
    )
    scanned = sum(each.pages_without_text for each in degraded)
    _list(
        f"{len(degraded)} degraded, {scanned} scanned pages without text",
        [f"{each.source}:{each.path}: {'; '.join(each.degraded)}" for each in degraded],
    )
    _list(f"{len(twins)} contents on both sides of a wall", [" = ".join(each.paths) for each in twins])


def _list(title: str, lines: list[str]) -> None:
    """A titled list of what needs an operator's eye, or nothing where the list is empty."""
    if not lines:
        return
    typer.echo(f"{title}:")
    for line in lines[:_SHOWN]:
        typer.echo(f"  {one_line(line, 300)}")
    if len(lines) > _SHOWN:
        typer.echo(f"  … and {len(lines) - _SHOWN} more")
