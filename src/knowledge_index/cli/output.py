"""How results are printed."""

import dataclasses
import datetime
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from knowledge_index.catalog.status_records import AccessTokenRecord, WallOpening

_LISTED = 20
# Controls, line and paragraph separators, marks that reorder a line (bidi), and surrogates, which no stream can encode.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def print_json(value: Any) -> None:
    """One JSON document on standard output; dataclasses become objects, sets sorted lists, days ISO 8601."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def printable(text: str, keep: str = "") -> str:
    r"""The text with all that would move the cursor or rewrite the line as a visible escape such as ``\x1b``.

    File names and documents are written by others: what they hold must not reach a terminal raw. ``keep`` has the
    characters that stay as they are, such as line feed and tab in a passage. Text that is safe stays as it is.
    """
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def one_line(text: str, width: int) -> str:
    """The text with its white space folded, made :func:`printable`, cut to ``width`` characters."""
    folded = printable(" ".join(text.split()))
    return folded if len(folded) <= width else folded[: width - 1] + "…"


def print_list(title: str, lines: Sequence[str]) -> None:
    """A titled list of what needs an operator's eye, its first 20 lines, or nothing where the list is empty."""
    if not lines:
        return
    typer.echo(f"{title}:")
    for line in lines[:_LISTED]:
        typer.echo(f"  {one_line(line, 300)}")
    if len(lines) > _LISTED:
        typer.echo(f"  … and {len(lines) - _LISTED} more")


def state_of(ending: "WallOpening | AccessTokenRecord", now: str, while_it_lasts: str) -> str:
    """How something that ends by itself stands at ``now``: ``while_it_lasts``, "revoked" or "expired"."""
    if ending.revoked_at is not None:
        return "revoked"
    return while_it_lasts if ending.expires_at > now else "expired"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
