"""JSON of which one value has one text: written by RFC 8785, and read only where it was written so."""

import hashlib
import json
from typing import Any, NoReturn

import rfc8785

MAX_BYTES = 16 * 1024 * 1024


class MalformedJsonError(ValueError):
    """The bytes are no JSON that anyone should rely on; the message says why."""


class NotCanonicalError(ValueError):
    """The bytes are JSON, and not in the canonical form of what they say."""


def canonical(value: Any) -> bytes:
    """The canonical JSON (RFC 8785) of a value made of objects, lists, texts, numbers, booleans and None."""
    return rfc8785.dumps(value)


def canonical_sha256(value: Any) -> str:
    """Hex SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value)).hexdigest()


def parse_json(data: bytes) -> Any:
    """The value; a key that stands twice in one object is refused, as readers differ on which of them counts.

    Raises:
        MalformedJsonError: it is not UTF-8, no JSON, too long or too deep, or has a key twice.
    """
    if len(data) > MAX_BYTES:
        raise MalformedJsonError(f"it has more than {MAX_BYTES} bytes")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no_number)
    except MalformedJsonError:
        raise
    except UnicodeDecodeError as error:
        raise MalformedJsonError("it is not UTF-8") from error
    except RecursionError as error:
        raise MalformedJsonError("it is nested too deeply") from error
    except ValueError as error:
        raise MalformedJsonError(str(error)) from error


def refuse_not_canonical(data: bytes, value: Any) -> None:
    """Compare ``data`` with the canonical form of the ``value`` that was read from it.

    Raises:
        NotCanonicalError: they differ, or the value has no such form.
    """
    try:
        is_canonical = canonical(value) == data
    except (ValueError, RecursionError) as error:
        raise NotCanonicalError(str(error)) from error
    if not is_canonical:
        raise NotCanonicalError("the bytes are not the canonical JSON (RFC 8785) of what they say")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedJsonError(f"the key {twice[:80]!r} stands twice in one object")
    return found


def _no_number(name: str) -> NoReturn:
    raise MalformedJsonError(f"{name} is no number of JSON")
