"""mcp and tokens: the door for agents, and its keys."""

from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.output import print_json, printable, state_of
from knowledge_index.cli.state import State

if TYPE_CHECKING:
    from datetime import datetime

    from knowledge_index.catalog.status_records import AccessTokenRecord

_JsonOption = Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")]
_AudienceOption = Annotated[
    str | None, typer.Option("--audience", metavar="NAME", help="The service that tokens are for, if not the usual.")
]
_UNIT_MINUTES = {"m": 1, "h": 60, "d": 24 * 60}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("mcp")(mcp)
    tokens = typer.Typer(help="Issue and revoke bearer tokens.", no_args_is_help=True, rich_markup_mode=None)
    tokens.command("create")(create)
    tokens.command("list")(list_tokens)
    tokens.command("revoke")(revoke)
    app.add_typer(tokens, name="tokens")


def mcp(
    context: typer.Context,
    principals: Annotated[
        str | None,
        typer.Option("--as", metavar="PRINCIPALS", help="Serve this caller over standard input and output."),
    ] = None,
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve callers with tokens over HTTP.")
    ] = None,
    audience: _AudienceOption = None,
    allow_remote: Annotated[bool, typer.Option("--allow-remote", help="Let other machines reach the address.")] = False,
    host_names: Annotated[
        list[str] | None,
        typer.Option("--host-name", metavar="NAME[:PORT]", help="A name that clients call it by; repeatable."),
    ] = None,
) -> None:
    """Serve AI agents over the Model Context Protocol.

    One caller over standard input and output, or many over HTTP.
    """
    from knowledge_index.domain.errors import UsageError
    from knowledge_index.domain.principals import parse_principals

    state: State = context.obj
    if (principals is None) == (http is None):
        raise UsageError("give --as user:NAME for standard input and output, or --http HOST:PORT with tokens; not both")
    if principals is not None and (audience or allow_remote or host_names):
        raise UsageError("--audience, --allow-remote and --host-name go with --http")
    stated = None if principals is None else parse_principals(principals)
    config = state.load_config().config

    import os
    from datetime import UTC, datetime

    from knowledge_index.access.tokens import DEFAULT_AUDIENCE
    from knowledge_index.answers import build_gateway
    from knowledge_index.embed import build_embedder
    from knowledge_index.evidence.issuing import open_issuer
    from knowledge_index.retrieval import open_retrieval
    from knowledge_index.serve.http import parse_address, serve_http
    from knowledge_index.serve.stdio import serve_stdio
    from knowledge_index.serve.tools import Caller, Toolbox

    address = None if http is None else parse_address(http, allow_remote=allow_remote)
    with state.catalog() as catalog:
        service = open_retrieval(state.home(), catalog, config, build_embedder(config.embedding))
        recorder = state.recorder()
        gateway = build_gateway(config.gateway, os.environ)
        issuer = open_issuer(state.home(), recorder)
        toolbox = Toolbox(service, recorder, config.retrieval, gateway, issuer)
        if stated is not None:
            serve_stdio(toolbox, Caller(stated, (("door", "mcp stdio"),)))
        elif address is not None:
            serve_http(
                toolbox,
                address,
                audience or DEFAULT_AUDIENCE,
                tuple(host_names or ()),
                lambda: datetime.now(UTC),
                lambda url: typer.echo(f"Serving agents at {url}", err=True),
            )


def create(
    context: typer.Context,
    principal: Annotated[str, typer.Option("--for", metavar="PRINCIPAL", help="For whom: one user:NAME.")],
    expires: Annotated[
        str, typer.Option("--expires", metavar="TIME", help="After 45m, 12h or 30d, or at 2026-03-01T09:00 (UTC).")
    ],
    audience: _AudienceOption = None,
    as_json: _JsonOption = False,
) -> None:
    """Issue a token. It is printed once and kept nowhere."""
    from knowledge_index.access import tokens
    from knowledge_index.domain.principals import Principal

    state: State = context.obj
    person = Principal.parse(principal)
    recorder = state.recorder()
    ends = _expiry(expires, recorder.clock())
    with state.catalog() as catalog:
        new = tokens.create_token(catalog, recorder, person, audience or tokens.DEFAULT_AUDIENCE, ends)
    if as_json:
        print_json({**_token(new.record), "token": new.text})
        return
    typer.echo(new.text)
    typer.echo(
        f"Token {new.record.id} for {new.record.principal} until {new.record.expires_at}. "
        f"It is not shown again. End it with: ki tokens revoke {new.record.id}",
        err=True,
    )


def list_tokens(context: typer.Context, as_json: _JsonOption = False) -> None:
    """List the tokens that were issued, never their secrets."""
    from datetime import UTC, datetime

    from knowledge_index.access.scope import instant

    state: State = context.obj
    with state.catalog() as catalog, catalog.transaction() as session:
        issued = session.access_tokens.all()
    now = instant(datetime.now(UTC))
    if as_json:
        print_json([{**_token(each), "state": state_of(each, now, "valid")} for each in issued])
        return
    for each in issued:
        typer.echo(
            f"{each.id}  {state_of(each, now, 'valid')}  {printable(str(each.principal))}  for {each.audience}  "
            f"until {each.expires_at}"
        )
    if not issued:
        typer.echo("No token was ever issued.")


def revoke(
    context: typer.Context,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As create and list print it.")],
) -> None:
    """End a token before its time."""
    from knowledge_index.access.tokens import revoke_token

    state: State = context.obj
    recorder = state.recorder()
    with state.catalog() as catalog:
        record = revoke_token(catalog, recorder, token_id)
    typer.echo(f"Token {record.id} of {record.principal} is revoked")


def _expiry(text: str, now: "datetime") -> "datetime":
    from datetime import UTC, datetime, timedelta

    from knowledge_index.domain.errors import UsageError

    amount, unit = text[:-1], text[-1:]
    if amount.isascii() and amount.isdecimal() and len(amount) <= 6 and unit in _UNIT_MINUTES:
        return now + timedelta(minutes=int(amount) * _UNIT_MINUTES[unit])
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--expires {text}: write 45m, 12h, 30d, or a time such as 2026-03-01T09:00") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _token(token: "AccessTokenRecord") -> dict[str, object]:
    shown = {name: value for name, value in vars(token).items() if name != "secret_sha256"}
    return {**shown, "principal": str(token.principal)}
