"""The map that tells a source's grants: path under the root -> principals allowed or denied."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from knowledge_index.domain.errors import PermissionMapError
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal


def _principal(value: object) -> Principal:
    if not isinstance(value, str):
        raise ValueError("a principal is a text such as group:NAME")
    try:
        return Principal.parse(value)
    except PermissionMapError as error:
        raise ValueError(str(error)) from error


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    principal: Annotated[Principal, BeforeValidator(_principal)]
    access: Access


def _distinct(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """A JSON object whose repeated key would otherwise win silently, and with it perhaps lose a denial."""
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{repeated}' is listed twice")
    return table


_MAP = TypeAdapter(dict[str, list[_Entry]])


def load_acl_map(file: Path) -> Mapping[str, tuple[Grant, ...]]:
    """Read ``{"path": [{"principal": "group:…", "access": "allow"}]}``; paths are compared in NFC.

    Raises:
        PermissionMapError: the file cannot be read, one entry is malformed, or two paths are one in NFC. A map is
            taken whole or not at all, since a part of it may be the part without the denials.
    """
    try:
        entries = _MAP.validate_python(json.loads(file.read_bytes(), object_pairs_hook=_distinct))
    except OSError as error:
        raise PermissionMapError(f"{file}: the ACL map cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        detail = error.errors()[0]
        where = " > ".join(str(part) for part in detail["loc"]) or "the file"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise PermissionMapError(
            f"{file}: {where}: {detail['msg'].removeprefix('Value error, ')}{more}; nothing of the map was applied"
        ) from error
    except (ValueError, RecursionError) as error:
        raise PermissionMapError(f"{file}: is no valid ACL map: {error}; nothing of the map was applied") from error
    grants: dict[str, tuple[Grant, ...]] = {}
    for path, listed in entries.items():
        normal = unicodedata.normalize("NFC", path)
        if normal in grants:
            raise PermissionMapError(f"{file}: '{normal}' is listed twice in two Unicode forms; nothing was applied")
        grants[normal] = tuple(Grant(entry.principal, entry.access) for entry in listed)
    return grants
