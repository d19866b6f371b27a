"""How results are printed."""

import dataclasses
import json
from typing import Any

import typer


def print_json(value: Any) -> None:
    """One JSON document on standard output; dataclasses become objects, sets sorted lists."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def one_line(text: str, width: int) -> str:
    """The text with its white space folded, cut to ``width`` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= width else folded[: width - 1] + "…"


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
