"""verify, replay, keys."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowledge_index.cli.output import print_json, printable
from knowledge_index.cli.state import State
from knowledge_index.domain.errors import InputError, UsageError

if TYPE_CHECKING:
    from knowledge_index.evidence.keys import PublicKey
    from knowledge_index.evidence.replaying import Replay

_EXIT_FAILED = 1
_JsonOption = Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")]
ReceiptOption = Annotated[
    Path | None, typer.Option("--receipt", metavar="FILE", help="Write a signed receipt of the result to this file.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("verify")(verify)
    app.command("replay")(replay)
    keys_app = typer.Typer(help="The keys that sign receipts.", no_args_is_help=True, rich_markup_mode=None)
    keys_app.command("show")(show_keys)
    keys_app.command("rotate")(rotate_key)
    keys_app.command("export")(export_keys)
    app.add_typer(keys_app, name="keys")


def write_receipt(file: Path, receipt: bytes) -> None:
    """Write a receipt, before its result is printed.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        file.write_bytes(receipt)
    except OSError as error:
        raise InputError(f"{file}: the receipt cannot be written: {error.strerror or error}") from error


def verify(
    receipt: Annotated[Path, typer.Argument(metavar="RECEIPT", help="A file that --receipt wrote.")],
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="Public keys that you trust, as 'ki keys export' writes them."),
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option("--text", metavar="FILE", help="A passage, or the converted text that it stands in, in UTF-8."),
    ] = None,
    document: Annotated[
        Path | None, typer.Option("--document", metavar="FILE", help="The file that a passage is from.")
    ] = None,
    as_json: _JsonOption = False,
) -> None:
    """Check a receipt, without index, network or secret.

    Exits 0 where every check is passed, 1 where one fails, 2 where it cannot be made.
    """
    from knowledge_index.evidence.keys import parse_trusted_keys
    from knowledge_index.evidence.verifying import verify_receipt

    if key is None:
        raise UsageError(
            "--key is missing: give the file of a public key that you got from whom you trust; a key that comes with "
            "a receipt proves nothing"
        )
    data = _read(receipt)
    trusted = parse_trusted_keys(_read(key), str(key))
    passage = None if text is None else _read_text(text)
    content = None if document is None else _read(document)
    found = verify_receipt(data, trusted, passage, content)
    notes = []
    if found.passed and found.receipt is not None and document is not None and content is not None:
        from knowledge_index.config import ConversionSettings
        from knowledge_index.convert.isolated import IsolatedConverter
        from knowledge_index.evidence.converted import check_converted

        with IsolatedConverter(ConversionSettings()) as converter:  # type: ignore[call-arg]
            converted = check_converted(found.receipt, content, lambda data: converter.convert(document.name, data))
        if converted.check is None:
            notes.append(converted.note)
        else:
            found = replace(found, checks=(*found.checks, converted.check))
    if as_json:
        print_json({"passed": found.passed, "checks": found.checks, "notes": notes})
    else:
        for each in found.checks:
            typer.echo(f"{'ok    ' if each.passed else 'FAILED'}  {each.name:<10} {printable(each.detail)}")
        for note in notes:
            typer.echo(f"Note: {printable(note)}.")
        typer.echo("The receipt holds." if found.passed else "The receipt does NOT hold.")
    if not found.passed:
        raise typer.Exit(_EXIT_FAILED)


def replay(
    context: typer.Context,
    receipt: Annotated[Path, typer.Argument(metavar="RECEIPT", help="A file that --receipt wrote here.")],
    query: Annotated[str, typer.Option("--query", metavar="TEXT", help="The query or question, to the letter.")],
    principals: Annotated[
        str, typer.Option("--as", metavar="PRINCIPALS", help="The caller whom the receipt was issued to.")
    ],
    as_json: _JsonOption = False,
) -> None:
    """Search again as a receipt says, and show what changed.

    Refused where query or caller are not those of the receipt, or this installation did not sign it.
    """
    from knowledge_index.domain.principals import parse_principals
    from knowledge_index.evidence.keys import parse_trusted_keys
    from knowledge_index.evidence.verifying import verify_receipt

    state: State = context.obj
    caller = parse_principals(principals)
    data = _read(receipt)
    config = state.load_config().config
    recorder = state.recorder()

    from knowledge_index.embed import build_embedder
    from knowledge_index.evidence.issuing import open_issuer
    from knowledge_index.evidence.replaying import compare, refuse_another_request, settings_of
    from knowledge_index.retrieval import open_retrieval

    issuer = open_issuer(state.home(), recorder)
    own = parse_trusted_keys(b"".join(each.pem for each in issuer.keys.public_keys()), "the keys of this home")
    verified = verify_receipt(data, own)
    before = verified.receipt
    if before is None or not verified.passed:
        fault = next(each for each in verified.checks if not each.passed)
        raise UsageError(f"{receipt}: is no receipt of this installation ({fault.name}: {fault.detail})")
    refuse_another_request(before, query, issuer.caller_hash(caller))
    settings, filters = settings_of(before)
    with state.catalog() as catalog:
        replayed = config.model_copy(update={"retrieval": settings})
        service = open_retrieval(state.home(), catalog, replayed, build_embedder(config.embedding))
        if before.kind == "ask":
            from knowledge_index.answers.receipts import answer_with_receipt

            again = answer_with_receipt(service, recorder, issuer, caller, query, settings, filters, before.limit, None)
            hits, new = again.hits, again.receipt
        else:
            from knowledge_index.retrieval.receipts import search_with_receipt_as

            result, new = search_with_receipt_as(
                service, recorder, issuer, caller, query, settings, filters, before.limit
            )
            hits = result.hits
        leaves = [each.leaf for each in before.results]
        still_visible = issuer.leaves_still_visible(catalog, recorder, caller, leaves)
    now = verify_receipt(new, own).receipt
    assert now is not None
    report = compare(before, now, hits, still_visible)
    if as_json:
        print_json({"is_same": report.is_same, "changes": report.changes, "documents": report.documents})
    else:
        _print_replay(report)


def show_keys(context: typer.Context, as_json: _JsonOption = False) -> None:
    """List all public keys, the oldest first. Makes the first key where there is none."""
    found = _keys(context)
    if as_json:
        print_json([{"key_id": each.key_id, "made_at": each.made_at, "is_current": each.is_current} for each in found])
        return
    for each in found:
        typer.echo(f"{each.key_id}  made {each.made_at}{'  current' if each.is_current else ''}")


def rotate_key(context: typer.Context) -> None:
    """Sign with a new key from now on. The old private key is destroyed, its public key stays known."""
    from knowledge_index.access.audit_chain import AuditAction
    from knowledge_index.evidence.keys import KeyStore

    state: State = context.obj
    recorder = state.recorder()
    recorder.record_operation(AuditAction.SIGNING_KEY, act="rotate")
    new = KeyStore(state.home().keys_folder, recorder.clock).rotate()
    typer.echo(f"Receipts are signed with key {new.key_id} from now on. Give its public key out: ki keys export FILE")


def export_keys(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to; standard output without one.")
    ] = None,
) -> None:
    """Write all public keys as PEM, for those who verify. No private key ever leaves."""
    text = b"".join(each.pem for each in _keys(context))
    if file is None:
        typer.echo(text.decode("ascii"), nl=False)
        return
    try:
        file.write_bytes(text)
    except OSError as error:
        raise InputError(f"{file}: the keys cannot be written: {error.strerror or error}") from error


def _keys(context: typer.Context) -> "tuple[PublicKey, ...]":
    from datetime import UTC, datetime

    from knowledge_index.evidence.keys import KeyStore

    state: State = context.obj
    return KeyStore(state.home().keys_folder, lambda: datetime.now(UTC)).public_keys()


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error


def _read_text(file: Path) -> str:
    try:
        return _read(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}: is not UTF-8; give the passage or the converted text, not the file itself"
        ) from error


def _print_replay(report: "Replay") -> None:
    for line in report.changes:
        typer.echo(f"Changed: {printable(line)}")
    for document in report.documents:
        typer.echo(f"{document.document_sha256[:16]}  {printable(document.path or 'not among the results now')}")
        for each in document.results:
            places = f"rank {each.rank_before or '-'} -> {each.rank_now or '-'}"
            scores = f"score {_score(each.score_before_ppm)} -> {_score(each.score_now_ppm)}"
            span = f"characters {each.start_char} to {each.end_char}"
            typer.echo(f"    {each.state:<6} {places:<16} {scores}  {span}")
    typer.echo("Nothing changed for these results." if report.is_same else "The results are not what they were.")


def _score(ppm: int | None) -> str:
    return "-" if ppm is None else f"{ppm / 1_000_000:.6f}"
