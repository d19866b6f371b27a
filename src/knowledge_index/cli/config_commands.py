"""config show."""

from typing import Annotated

import typer

from knowledge_index.cli.output import print_json
from knowledge_index.cli.state import State


def register(app: typer.Typer) -> None:
    """Add the commands."""
    config_app = typer.Typer(help="Show the settings in force.", no_args_is_help=True, rich_markup_mode=None)
    config_app.command("show")(show)
    app.add_typer(config_app, name="config")


def show(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on standard output.")] = False,
) -> None:
    """Show every setting and where it comes from."""
    import json

    state: State = context.obj
    loaded = state.load_config()
    values = loaded.config.model_dump(mode="json")
    if as_json:
        print_json({"home": str(state.home_folder), "settings": values, "origins": dict(loaded.origins)})
        return
    typer.echo(f"# home: {state.home_folder}")
    typer.echo("# change a setting in config.toml there, by KI_SECTION__KEY, or by ki --set section.key=value")
    for section, settings in values.items():
        typer.echo(f"\n[{section}]")
        fields = type(getattr(loaded.config, section)).model_fields
        for key, value in settings.items():
            origin = loaded.origins.get(f"{section}.{key}", "default")
            shown = f"{key} = {json.dumps(value, ensure_ascii=False)}" if value is not None else f"# {key} is not set"
            note = f"{fields[key].description} ({origin})"
            if key == "rerank_enabled" and settings["rerank_model"] is None:
                note = f"{note}; off because no rerank_model is set"
            typer.echo(f"{shown}  # {note}")
