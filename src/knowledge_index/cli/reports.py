"""What a sync and a run tell the person who started them."""

import shlex
from typing import TYPE_CHECKING

import typer

from knowledge_index.cli.output import print_list

if TYPE_CHECKING:
    from knowledge_index.catalog.records import HeldDeletion
    from knowledge_index.pipeline import RunReport, SourceFailure
    from knowledge_index.sources.sync import SyncReport


def print_sync_outcome(outcome: "SyncReport | SourceFailure") -> None:
    """What one sync of one source found, or that it could not be read."""
    from knowledge_index.pipeline import SourceFailure
    from knowledge_index.sources.disappearance import SCANS_THAT_HAVE_TO_AGREE

    if isinstance(outcome, SourceFailure):
        typer.echo(f"{outcome.source}: not synced; grants changed on {outcome.grants_changed}")
        return
    report = outcome
    typer.echo(
        f"{report.source}: {report.new} new, {report.changed} changed, {report.moved} moved, "
        f"{report.gone} gone, {report.unchanged} unchanged; grants changed on {report.grants_changed}; "
        f"{report.hashed} files read"
    )
    if report.hold is not None:
        typer.echo(
            f"  HELD: {len(report.hold.object_ids)} files are missing at once, as when a share is unmounted. They stay "
            f"findable until {SCANS_THAT_HAVE_TO_AGREE} syncs agree that they are gone ({report.hold.scans} so far), "
            f"or until you say so: {_confirm(report.source)}"
        )
    if report.noise:
        typer.echo(f"  {report.noise} files of programs ignored, such as .DS_Store, Thumbs.db, ~$… and *.tmp")
    if report.vanished:
        typer.echo(f"  {report.vanished} files went away while they were looked at; the next sync decides")
    print_list(f"{len(report.skipped)} skipped", [f"{each.path}: {each.reason}" for each in report.skipped])
    print_list(
        f"{len(report.unreadable)} could not be read, their last known state is kept",
        [each.reason for each in report.unreadable],
    )
    print_list(
        f"{len(report.moved_out_of_sight)} moved to where nobody has grants, visible to nobody now",
        [f"{each.origin.path} -> {each.to}" for each in report.moved_out_of_sight],
    )
    print_list(f"{len(report.grants_without_file)} entries of the ACL map match no file", report.grants_without_file)
    print_list(f"{len(report.without_grants)} without grants, visible to nobody", report.without_grants)


def print_run_report(report: "RunReport") -> None:
    """What a run did."""
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
    print_list(
        f"{len(report.quarantined)} newly quarantined",
        [f"{each.path}: {each.error_class}: {each.message}" for each in report.quarantined],
    )
    print_list(f"{len(report.unread)} could not be read", [f"{path}: {reason}" for path, reason in report.unread])


def held_line(held: "HeldDeletion") -> str:
    """One source's held deletions and what ends them."""
    from knowledge_index.sources.disappearance import SCANS_THAT_HAVE_TO_AGREE

    return (
        f"{held.source}: {held.objects} files missing since {held.since}, {held.scans} of "
        f"{SCANS_THAT_HAVE_TO_AGREE} syncs agree; to believe it at once: {_confirm(held.source)}"
    )


def _confirm(source: str) -> str:
    return f"ki sync --source {shlex.quote(source)} --confirm-deletions"
