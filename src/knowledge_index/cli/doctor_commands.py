"""doctor."""

from contextlib import closing
from typing import Annotated

import typer

from knowledge_index.cli.output import one_line
from knowledge_index.cli.state import State

_KEYS_SHOWN = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Mend the indexes after the catalog.")] = False,
) -> None:
    """Compare the catalog and the indexes row by row.

    Exits 1 when they differ; with --repair the indexes are mended, and it exits 0.
    """
    from knowledge_index.embed import CachedEmbedder, VectorCache, build_embedder
    from knowledge_index.index import open_lexical_index, open_profile_index, open_vector_index
    from knowledge_index.pipeline.doctor import Doctor

    state: State = context.obj
    config = state.load_config().config
    home = state.home()
    embedder = build_embedder(config.embedding)
    with home.writing(), state.catalog() as catalog, closing(VectorCache(home.vector_cache_file)) as cache:
        surgeon = Doctor(
            catalog,
            open_lexical_index(home.lexical_folder),
            open_profile_index(home.profile_folder),
            open_vector_index(home.vector_folder, embedder.signature),
            CachedEmbedder(embedder, cache),
        )
        found = surgeon.examine()
        indexes = (
            ("lexical index", found.lexical),
            ("profile index", found.profiles),
            ("vector index", found.vectors),
        )
        for name, each in indexes:
            for damage in each.damaged:
                typer.echo(f"{name}: {one_line(damage, 300)}")
            for what, keys in (("missing", each.missing), ("extra", each.extra), ("altered", each.altered)):
                if keys:
                    shown = ", ".join(sorted(keys)[:_KEYS_SHOWN]) + (" …" if len(keys) > _KEYS_SHOWN else "")
                    typer.echo(f"{name}: {len(keys)} rows {what}: {one_line(shown, 200)}")
        if found.unfinished:
            typer.echo(f"{len(found.unfinished)} rows whose write or removal did not end")
        if found.is_healthy:
            typer.echo("The stores agree.")
            return
        if not repair:
            typer.echo("Run 'ki doctor --repair' to mend the indexes after the catalog.")
            raise typer.Exit(1)
        surgeon.repair(found)
        if not surgeon.examine().is_healthy:
            typer.echo("The stores still differ; run 'ki run', then 'ki doctor' again.")
            raise typer.Exit(1)
    typer.echo("Repaired: the stores agree.")
