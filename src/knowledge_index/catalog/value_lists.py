"""Lists of values in statements, longer than these take variables: SQLite reads them as JSON."""

import json
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Select, bindparam, func, select, text


def values_of(values: Collection[Any]) -> Select[Any]:
    """These values, as what ``in_`` takes."""
    return select(text("value")).select_from(func.json_each(json.dumps(sorted(values))))


def values_asked(name: str) -> Select[Any]:
    """The values of the parameter ``name``, a JSON list: for statements that are built once."""
    return select(text("value")).select_from(func.json_each(bindparam(name)))


def lists_asked(**values: Iterable[Any]) -> dict[str, str]:
    """The parameters of a statement that asks for lists of values."""
    return {name: json.dumps(list(each)) for name, each in values.items()}
