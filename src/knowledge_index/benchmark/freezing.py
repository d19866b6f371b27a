"""Frozen gold: the only gold that an evaluation reads, kept under a name with its checksum beside it."""

import hashlib
import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from knowledge_index.benchmark.gold_file import parse_gold
from knowledge_index.benchmark.gold_types import GoldQuery
from knowledge_index.benchmark.manifest import (
    GOLD_FILE,
    MOCK_DMS,
    GeneratorArguments,
    corpus_sha256,
    first_fault,
    json_text,
    read_manifest,
)
from knowledge_index.domain.errors import InputError

SCHEMA_VERSION = 1
_GOLD_SUFFIX = ".gold.jsonl"
_META_SUFFIX = ".meta.json"
# A file name has 255 bytes at most; the suffixes and those of a temporary file need the rest.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")


class FrozenGoldMeta(BaseModel):
    """``NAME.meta.json``: what the gold was derived from, and the SHA-256 of ``NAME.gold.jsonl``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int
    name: str
    corpus_sha256: str
    generator: GeneratorArguments
    counts_by_kind: dict[str, int]
    gold_sha256: str


@dataclass(frozen=True)
class FrozenGold:
    """Gold as it was frozen, its checksum verified; ``queries`` keep the file's order."""

    meta: FrozenGoldMeta
    queries: tuple[GoldQuery, ...]


@dataclass(frozen=True)
class FreezeResult:
    """What freezing did; ``unchanged`` when the same gold stood under the name already and nothing was written."""

    gold: FrozenGold
    gold_file: Path
    unchanged: bool


def packaged_gold_folder() -> Path:
    """Where gold lies that ``run-retrieval-eval`` finds by name: the ``data`` folder of this package."""
    return Path(str(resources.files("knowledge_index.benchmark"))) / "data"


def freeze_gold(firm: Path, name: str, to: Path, force: bool) -> FreezeResult:
    """Keep the gold of a generated firm as ``NAME.gold.jsonl`` and ``NAME.meta.json`` in ``to``.

    Raises:
        InputError: the name is no name; the firm is not whole (its documents are not those that its manifest hashes,
            or its gold names a document that is not there); another gold stands under the name and ``force`` is false.
    """
    if not _NAME.fullmatch(name) or name.endswith((_GOLD_SUFFIX, _META_SUFFIX)):
        raise InputError(
            f"'{name}' cannot name frozen gold: use at most 200 lower-case letters, digits, '.', '_' and '-', "
            "a letter or digit first, and no file suffix"
        )
    manifest = read_manifest(firm)
    if corpus_sha256(firm / MOCK_DMS) != manifest.corpus_sha256:
        raise InputError(
            f"{firm / MOCK_DMS} is not what was generated: a document was added, changed or removed; "
            "generate the firm again before freezing its gold"
        )
    gold_bytes = _read(firm / GOLD_FILE)
    queries = parse_gold(gold_bytes, firm / GOLD_FILE)
    for query in queries:
        for path in (path for group in query.groups for path in group.paths):
            if not (firm / MOCK_DMS / path).is_file():
                raise InputError(f"{firm / GOLD_FILE}: {query.gold_id} names {path}, which is not under {MOCK_DMS}")
    meta = FrozenGoldMeta(
        schema_version=SCHEMA_VERSION,
        name=name,
        corpus_sha256=manifest.corpus_sha256,
        generator=manifest.arguments,
        counts_by_kind=dict(sorted(Counter(query.kind.value for query in queries).items())),
        gold_sha256=hashlib.sha256(gold_bytes).hexdigest(),
    )
    meta_bytes = json_text(meta.model_dump(mode="json")).encode("utf-8")
    gold_file, meta_file = to / (name + _GOLD_SUFFIX), to / (name + _META_SUFFIX)
    wanted = ((gold_file, gold_bytes), (meta_file, meta_bytes))
    unchanged = all(file.is_file() and _read(file) == content for file, content in wanted)
    if not unchanged:
        if not force:
            for file, content in wanted:
                if os.path.lexists(file) and not (file.is_file() and _read(file) == content):
                    raise InputError(
                        f"{file} holds another gold under the name '{name}': choose another name, or pass --force "
                        "to replace it (figures measured with it can then no longer be compared)"
                    )
        _write_all(to, wanted)
    return FreezeResult(FrozenGold(meta, queries), gold_file, unchanged)


def load_frozen_gold(name_or_file: str) -> FrozenGold:
    """Read frozen gold by its name in this package, or from a file ``NAME.gold.jsonl`` with its meta file beside it.

    Raises:
        InputError: there is no such gold, a file is malformed, or the gold is not the one its meta file has the
            SHA-256 of.
    """
    if _NAME.fullmatch(name_or_file) and not name_or_file.endswith(_GOLD_SUFFIX):
        folder = packaged_gold_folder()
        gold_file = folder / (name_or_file + _GOLD_SUFFIX)
        if not gold_file.is_file():
            names = sorted(file.name.removesuffix(_GOLD_SUFFIX) for file in folder.glob("*" + _GOLD_SUFFIX))
            raise InputError(
                f"no frozen gold is named '{name_or_file}' (there is: {', '.join(names) or 'none'}); "
                f"make it with ki freeze-gold, or give the path of a file NAME{_GOLD_SUFFIX}"
            )
    else:
        gold_file = Path(name_or_file)
        if not gold_file.name.endswith(_GOLD_SUFFIX):
            raise InputError(
                f"{gold_file} is not frozen gold: give a name or a file NAME{_GOLD_SUFFIX}; "
                "an evaluation never makes gold, ki freeze-gold does"
            )
    gold_bytes = _read(gold_file)
    meta_file = gold_file.with_name(gold_file.name.removesuffix(_GOLD_SUFFIX) + _META_SUFFIX)
    try:
        meta = FrozenGoldMeta.model_validate_json(_read(meta_file))
    except ValidationError as error:
        raise InputError(f"{meta_file} does not describe frozen gold: {first_fault(error)}; freeze it again") from error
    if meta.schema_version != SCHEMA_VERSION:
        raise InputError(
            f"{meta_file} has schema version {meta.schema_version}, and {SCHEMA_VERSION} is read: freeze it again"
        )
    if hashlib.sha256(gold_bytes).hexdigest() != meta.gold_sha256:
        raise InputError(
            f"{gold_file} was changed after it was frozen: its SHA-256 is not the one in {meta_file.name}; "
            "restore it or freeze it again"
        )
    return FrozenGold(meta, parse_gold(gold_bytes, gold_file))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error


def _write_all(folder: Path, contents: tuple[tuple[Path, bytes], ...]) -> None:
    """Replace files, each whole or not at all; loading notices by the checksum if only some were replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in contents:
            descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{file.name}.")
            try:
                with os.fdopen(descriptor, "wb") as handle:
                    handle.write(content)
                # A temporary file is private; gold is for everyone who may read the checkout.
                Path(temporary).chmod(0o644)
                Path(temporary).replace(file)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"frozen gold cannot be written to {folder}: {error.strerror}") from error
