"""principals, access explain, break-glass: all for operators."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from knowledge_index.cli.output import print_json, printable, state_of
from knowledge_index.cli.state import State

if TYPE_CHECKING:
    from knowledge_index.access.explain import Deciding, Explanation
    from knowledge_index.catalog.status_records import WallOpening
    from knowledge_index.domain.principals import Declaration

_JsonOption = Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")]
_OPEN = "open"


class _OpeningGroup(TyperGroup):
    """Takes ``ki break-glass user:a …`` for ``ki break-glass open user:a …``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [_OPEN, *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    principals = typer.Typer(help="Say which groups and roles users have.", no_args_is_help=True, rich_markup_mode=None)
    principals.command("set-groups")(set_groups)
    principals.command("list")(list_principals)
    principals.command("show")(show_principal)
    app.add_typer(principals, name="principals")
    access = typer.Typer(help="Ask who sees what, and why.", no_args_is_help=True, rich_markup_mode=None)
    access.command("explain")(explain)
    app.add_typer(access, name="access")
    openings = typer.Typer(
        cls=_OpeningGroup, help="Open one wall for one person, for a time.", no_args_is_help=True, rich_markup_mode=None
    )
    openings.command(_OPEN)(open_wall)
    openings.command("list")(list_openings)
    openings.command("revoke")(revoke)
    app.add_typer(openings, name="break-glass")


def set_groups(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON: user or group -> [groups and roles that it belongs to].")
    ],
    as_json: _JsonOption = False,
) -> None:
    """Replace all groups by those of a file.

    From then on searches follow the new groups, whatever the index holds; the file is taken whole or not at all.
    """
    from knowledge_index.access.audit_chain import AuditAction
    from knowledge_index.access.groups_file import load_groups_file, replace_groups
    from knowledge_index.domain.principals import PrincipalKind

    state: State = context.obj
    groups = load_groups_file(file)
    users = sum(each.principal.kind is PrincipalKind.USER for each in groups.declarations)
    counts = {"users": users, "groups": len(groups.declarations) - users}
    recorder = state.recorder()
    with state.catalog() as catalog, catalog.transaction() as session:
        epoch = replace_groups(session, groups)
        recorder.record_operation(AuditAction.PRINCIPALS, file_sha256=groups.sha256, policy_epoch=epoch, **counts)
    if as_json:
        print_json({**counts, "policy_epoch": epoch, "file_sha256": groups.sha256})
    else:
        typer.echo(
            f"{counts['users']} users and {counts['groups']} groups; in force from now on (policy epoch {epoch})"
        )


def list_principals(context: typer.Context, as_json: _JsonOption = False) -> None:
    """List the declared users and groups."""
    state: State = context.obj
    with state.catalog() as catalog, catalog.transaction() as session:
        declared = session.principals.all()
    if as_json:
        print_json([_declared(each) for each in declared])
        return
    for each in declared:
        typer.echo(f"{each.principal}: {', '.join(map(str, sorted(each.member_of))) or 'no groups'}")
    if not declared:
        typer.echo("No groups are known. Declare them with ki principals set-groups FILE.")


def show_principal(
    context: typer.Context,
    principal: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="user:NAME or group:NAME.")],
    as_json: _JsonOption = False,
) -> None:
    """Show all that a principal acts under, and through which groups."""
    from knowledge_index.access import expand
    from knowledge_index.domain.principals import Principal

    state: State = context.obj
    asked = Principal.parse(principal)
    with state.catalog() as catalog, catalog.transaction() as session:
        acting = expand(session, frozenset({asked}))
        is_known = asked in session.principals.known({asked})
    chains = [[str(link) for link in acting[each].chain] for each in sorted(acting)]
    if as_json:
        print_json({"principal": str(asked), "is_known": is_known, "acts_as": chains})
        return
    typer.echo(f"{asked}" + ("" if is_known else ": in no groups file; acts for itself alone"))
    for chain in chains:
        if len(chain) > 1:
            typer.echo(f"  {chain[-1]}  through {' > '.join(chain)}")


def explain(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file's path under its source's folder.")],
    principals: Annotated[str, typer.Option("--as", metavar="PRINCIPALS", help="Whose access: user:a,group:b.")],
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only this source.")] = None,
    as_json: _JsonOption = False,
) -> None:
    """Say which grant decides whether a caller sees a file.

    Tells operators the grants, and the groups through which they concern the caller. It is not for callers.
    """
    from datetime import UTC, datetime

    from knowledge_index.access.explain import explain_access
    from knowledge_index.domain.principals import parse_principals

    state: State = context.obj
    caller = parse_principals(principals)
    with state.catalog() as catalog, catalog.transaction() as session:
        answers = explain_access(session, path, source, caller, datetime.now(UTC))
    if as_json:
        print_json([_explained(each) for each in answers])
        return
    for each in answers:
        place = f"{each.source}:{each.path}" if each.source else each.path
        typer.echo(f"{printable(place)}: {'visible' if each.is_visible else 'not visible'}: {each.verdict}")
        for opening in each.openings:
            typer.echo(f"  wall {opening.id} is open for {opening.principal} until {opening.expires_at}")
        for decision in each.deciding:
            typer.echo(f"  {_grant_line(decision)}")
        by = "overruled by the opened wall" if each.openings else "overruled: deny wins"
        for decision in each.overruled:
            typer.echo(f"  {_grant_line(decision)} ({by})")


def open_wall(
    context: typer.Context,
    principal: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="For whom: one user:NAME.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the audit log.")],
    minutes: Annotated[int, typer.Option("--minutes", metavar="N", help="For how long; a day at most.")],
    path: Annotated[
        str, typer.Option("--path", metavar="PATH", help="A file or folder under its source's folder.")
    ] = "",
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="The source; alone: all of it.")
    ] = None,
    with_others: Annotated[
        bool, typer.Option("--with-others", help="Open also what has the same grants and was not named.")
    ] = False,
    as_json: _JsonOption = False,
) -> None:
    """Open the wall around a file or folder for one person.

    It stands above every denial, ends by itself, and is in the audit log with each search made through it.
    """
    from knowledge_index.access import break_glass
    from knowledge_index.domain.principals import Principal

    state: State = context.obj
    person = Principal.parse(principal)
    recorder = state.recorder()
    with state.catalog() as catalog:
        opened = break_glass.open_wall(
            catalog,
            recorder,
            person,
            source=source,
            path=path,
            reason=reason,
            minutes=minutes,
            with_others=with_others,
        )
    opening = opened.opening
    if as_json:
        print_json({**_opening(opening), "objects": opened.object_count})
        return
    typer.echo(
        f"Wall {opening.id} is open for {opening.principal} until {opening.expires_at}: {opened.object_count} objects "
        f"in {len(opening.acl_class_ids)} ACL classes. Close it with: ki break-glass revoke {opening.id}"
    )


def list_openings(context: typer.Context, as_json: _JsonOption = False) -> None:
    """List the walls that were opened, and until when."""
    from datetime import UTC, datetime

    from knowledge_index.access.break_glass import record_expired
    from knowledge_index.access.scope import instant

    state: State = context.obj
    recorder = state.recorder()
    with state.catalog() as catalog:
        record_expired(catalog, recorder)
        with catalog.transaction() as session:
            openings = session.wall_openings.all()
    now = instant(datetime.now(UTC))
    if as_json:
        print_json([{**_opening(each), "state": state_of(each, now, "open")} for each in openings])
        return
    for each in openings:
        place = printable(f"{each.source}:{each.path}")
        typer.echo(f"{each.id}  {state_of(each, now, 'open')}  {each.principal}  {place}  until {each.expires_at}")
        typer.echo(f"    {printable(each.reason)}")
    if not openings:
        typer.echo("No wall was ever opened.")


def revoke(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="As open and list print it.")],
) -> None:
    """Close an open wall before its time."""
    from knowledge_index.access.break_glass import revoke_opening

    state: State = context.obj
    recorder = state.recorder()
    with state.catalog() as catalog:
        opening = revoke_opening(catalog, recorder, number)
    typer.echo(f"Wall {opening.id} is closed for {opening.principal}")


def _opening(opening: "WallOpening") -> dict[str, object]:
    return {**vars(opening), "principal": str(opening.principal)}


def _declared(declaration: "Declaration") -> dict[str, object]:
    return {
        "principal": str(declaration.principal),
        "member_of": [str(each) for each in sorted(declaration.member_of)],
    }


def _explained(answer: "Explanation") -> dict[str, object]:
    return {
        **vars(answer),
        "deciding": [_decided(each) for each in answer.deciding],
        "overruled": [_decided(each) for each in answer.overruled],
        "openings": [_opening(each) for each in answer.openings],
    }


def _decided(decision: "Deciding") -> dict[str, object]:
    return {
        "principal": str(decision.grant.principal),
        "access": decision.grant.access,
        "chain": [str(each) for each in decision.chain],
    }


def _grant_line(decision: "Deciding") -> str:
    through = " > ".join(map(str, decision.chain))
    return f"{decision.grant.access} {decision.grant.principal}" + (
        f", through {through}" if len(decision.chain) > 1 else ", stated by the caller"
    )
