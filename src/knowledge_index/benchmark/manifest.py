"""The files of a generated firm, and the manifest that says what it was made from."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from knowledge_index.domain.errors import InputError

MOCK_DMS = "mock_dms"
ACL_FILE = "acl-by-path.json"
SCENARIOS_FILE = "scenarios.jsonl"
MANIFEST_FILE = "scenario.json"
GOLD_FILE = "retrieval-gold.jsonl"

SCHEMA_VERSION = 1

# JSON leaves these unescaped, but readers that split lines by Unicode's rules would cut a record at them.
_LINE_SEPARATORS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GeneratorArguments(_Record):
    """What was asked of the generator; ``areas`` is None for all of them. Paths are left out: they name a machine."""

    areas: tuple[str, ...] | None
    matters: int
    docs_target: int
    seed: int


class FirmCounts(_Record):
    """What was packed and what was not.

    ``unreadable`` counts packed documents without text by error class: they hold no value. ``skipped_scenarios`` have
    no documents; ``skipped_files`` are hidden files and leavings of office programs inside the packed bundles.
    """

    matters: int
    scenarios: int
    documents: int
    documents_by_suffix: dict[str, int]
    documents_by_area: dict[str, int]
    unreadable: dict[str, int]
    skipped_scenarios: int
    skipped_files: int
    gold_by_kind: dict[str, int]
    factoids_by_value_kind: dict[str, int]


class FirmManifest(_Record):
    """``scenario.json``: arguments, counts, the principals that grants name, and :func:`corpus_sha256` of the tree."""

    schema_version: int
    arguments: GeneratorArguments
    counts: FirmCounts
    principals: tuple[str, ...]
    corpus_sha256: str


def read_manifest(firm: Path) -> FirmManifest:
    """Read ``scenario.json`` of a generated firm.

    Raises:
        InputError: it is missing or not what the generator writes.
    """
    path = firm / MANIFEST_FILE
    try:
        return FirmManifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{firm} is not a generated firm: {path} cannot be read ({error.strerror}); "
            "make one with ki generate-benchmark"
        ) from error
    except ValidationError as error:
        raise InputError(
            f"{path} is not a manifest of ki generate-benchmark: {first_fault(error)}; generate the firm again"
        ) from error


def corpus_sha256(mock_dms: Path) -> str:
    """The content hash of a tree of documents, in hex.

    SHA-256 over one record for every file, in the code-point order of the paths: the path relative to ``mock_dms`` with
    forward slashes, in UTF-8; a zero byte; the lower-case hex SHA-256 of the file's bytes; a line feed. File times,
    modes and empty folders are no part of it.

    Raises:
        InputError: a file cannot be read.
    """
    paths = sorted(
        (Path(folder) / name).relative_to(mock_dms).as_posix()
        for folder, _, names in os.walk(mock_dms)
        for name in names
    )
    digests: dict[str, str] = {}
    for path in paths:
        try:
            with (mock_dms / path).open("rb") as file:
                digests[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{mock_dms / path} cannot be read: {error.strerror}") from error
    return corpus_sha256_of(digests)


def corpus_sha256_of(digests: dict[str, str]) -> str:
    """:func:`corpus_sha256` from the hex SHA-256 of every file by its path."""
    whole = hashlib.sha256()
    for path, digest in sorted(digests.items()):
        whole.update(path.encode("utf-8", "surrogateescape") + b"\0" + digest.encode("ascii") + b"\n")
    return whole.hexdigest()


def json_text(value: Any) -> str:
    """``value`` as JSON for people: sorted keys, two blanks of indent, nothing escaped that need not be, a last LF."""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True).translate(_LINE_SEPARATORS) + "\n"


def json_lines(values: Iterable[dict[str, Any]]) -> str:
    """One compact JSON object a line, keys in the order given, each line ended by LF."""
    lines = (json.dumps(value, ensure_ascii=False).translate(_LINE_SEPARATORS) + "\n" for value in values)
    return "".join(lines)


def first_fault(error: ValidationError) -> str:
    """The first thing that a validation found wrong, with its place in the value."""
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    return f"{place}: {fault['msg']}" if place else fault["msg"]
