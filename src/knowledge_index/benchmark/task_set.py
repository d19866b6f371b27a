"""Reading task sets: ``tasks/<area…>/<instrument>-<task type>/[scenario-NN/]task.json``, ``documents/`` beside it."""

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from knowledge_index.benchmark.manifest import first_fault
from knowledge_index.domain.errors import InputError

TASK_TYPES = (
    "first-draft",
    "first-turn-redline",
    "subsequent-turn-redline",
    "counterparty-paper-review",
    "playbook-escalation",
    "term-negotiation",
)
GENERAL_TASK_TYPE = "general"
"""The task type of a folder whose name ends in none of the known ones."""

# In the flat layout the task folder is its own only scenario; no folder of the other layout can bear this name.
_FLAT_SCENARIO = "scenario"
_SCENARIO_FOLDER = re.compile(r"scenario-\d+")
_LEAVINGS = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
_Text = Annotated[str, StringConstraints(strip_whitespace=False, pattern=r"\S")]


class Criterion(BaseModel):
    """One thing that the work on a task is judged by; ``match_criteria`` reads "PASS if … FAIL if …"."""

    model_config = ConfigDict(frozen=True, extra="allow", coerce_numbers_to_str=True)

    id: _Text
    title: _Text
    match_criteria: _Text


class _TaskFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    title: _Text
    instructions: _Text
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]


@dataclass(frozen=True)
class BundleFile:
    """A document of a scenario: ``path`` is relative to ``documents/``, in NFC; ``file`` is where its bytes are."""

    path: str
    file: Path


@dataclass(frozen=True)
class Scenario:
    """One task with its bundle of documents.

    ``criteria_as_read`` holds the criteria as the file has them, every field kept, for writing them on untouched.
    ``documents`` are sorted by path; ``skipped_files`` counts hidden files and leavings of office programs.
    """

    scenario_id: str
    area: str
    instrument: str
    task_type: str
    name: str
    title: str
    instructions: str
    criteria: tuple[Criterion, ...]
    criteria_as_read: tuple[dict[str, Any], ...]
    documents: tuple[BundleFile, ...]
    skipped_files: int


def read_task_set(source: Path, areas: tuple[str, ...] | None) -> list[Scenario]:
    """The scenarios of a task set, sorted by their id; with ``areas`` only those in one of them or below it.

    Raises:
        InputError: ``source`` has no ``tasks/``, an area is unknown, a ``task.json`` is not JSON or lacks its fields,
            or a document's name or link cannot be taken over. The message names the file.
    """
    root = source / "tasks"
    if not root.is_dir():
        raise InputError(
            f"{source} is not a task set: it has no folder tasks/; --source takes the folder that holds it"
        )
    root = root.resolve()
    found = list(_task_files(root, root))
    if not found:
        raise InputError(f"{root} holds no task.json: expected tasks/<area>/<instrument>-<task type>/task.json")
    by_area = [(_area_of(root, task_folder), task_folder, task_file) for task_folder, task_file in found]
    if areas is not None:
        known = {area for area, _, _ in by_area}
        asked = _asked_areas(areas, known)
        by_area = [entry for entry in by_area if _lies_in(entry[0], asked)]
    scenarios = [_read_scenario(root, *entry) for entry in by_area]
    scenarios.sort(key=lambda scenario: scenario.scenario_id)
    for earlier, later in pairwise(scenarios):
        if earlier.scenario_id == later.scenario_id:
            raise InputError(
                f"{root}: two folders are both {later.scenario_id} after Unicode normalisation; rename one"
            )
    return scenarios


def split_task_folder(name: str) -> tuple[str, str]:
    """Instrument and task type of a task folder; a name that ends in no known type is all instrument."""
    for task_type in TASK_TYPES:
        instrument = name.removesuffix("-" + task_type)
        if instrument not in ("", name):
            return instrument, task_type
    return name, GENERAL_TASK_TYPE


def _task_files(root: Path, folder: Path) -> Iterator[tuple[Path, Path]]:
    """(task folder, task.json) below ``folder``, in sorted order; documents are not searched for tasks."""
    entries, _ = _entries(root, folder)
    is_task = any(entry.name == "task.json" for entry in entries)
    if is_task:
        yield (folder.parent if _SCENARIO_FOLDER.fullmatch(folder.name) else folder), folder / "task.json"
    for entry in entries:
        if entry.is_dir() and not (is_task and entry.name == "documents"):
            yield from _task_files(root, Path(entry.path))


def _entries(root: Path, folder: Path) -> tuple[list[os.DirEntry[str]], int]:
    """What lies in ``folder``, sorted, each name and link checked; and how many leavings were passed over."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: (_nfc(entry.name), entry.name))
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}") from error
    kept = [entry for entry in entries if not _is_leaving(entry.name)]
    for entry in kept:
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in entry.name):
            raise InputError(f"{str(folder)!r} holds {entry.name!r}, a name that cannot be kept; rename the file")
        if entry.is_symlink() and not _target_is_inside(root, Path(entry.path)):
            raise InputError(f"{entry.path} is a link that leads out of {root} or nowhere; put the file there itself")
        if entry.is_symlink() and entry.is_dir():
            raise InputError(f"{entry.path} is a link to a folder, which is not followed; put the folder there itself")
    return kept, len(entries) - len(kept)


def _target_is_inside(root: Path, link: Path) -> bool:
    try:
        return link.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _is_leaving(name: str) -> bool:
    return name.startswith((".", "~$")) or name.casefold() in _LEAVINGS


def _area_of(root: Path, task_folder: Path) -> str:
    parts = task_folder.relative_to(root).parts[:-1] if task_folder != root else ()
    if not parts:
        raise InputError(f"{task_folder} lies in no practice area: expected tasks/<area>/<instrument>-<task type>/")
    return _nfc("/".join(parts))


def _asked_areas(areas: tuple[str, ...], known: set[str]) -> frozenset[str]:
    asked = frozenset(_nfc(area).strip().strip("/") for area in areas)
    for area in sorted(asked):
        if not area or not any(_lies_in(each, frozenset({area})) for each in known):
            raise InputError(f"there is no practice area '{area}': the task set has {', '.join(sorted(known))}")
    return asked


def _lies_in(area: str, asked: frozenset[str]) -> bool:
    return any(area == each or area.startswith(each + "/") for each in asked)


def _read_scenario(root: Path, area: str, task_folder: Path, task_file: Path) -> Scenario:
    task, criteria_as_read = _read_task_file(task_file)
    name = _nfc(task_file.parent.name) if task_file.parent != task_folder else _FLAT_SCENARIO
    task_folder_name = _nfc(task_folder.name)
    instrument, task_type = split_task_folder(task_folder_name)
    documents: list[BundleFile] = []
    folder = task_file.parent / "documents"
    skipped = _collect_documents(root, folder, "", documents) if folder.is_dir() else 0
    documents.sort(key=lambda document: document.path)
    for earlier, later in pairwise(documents):
        if earlier.path == later.path:
            raise InputError(f"{later.file}: another file has the same name after Unicode normalisation; rename one")
    return Scenario(
        scenario_id=f"{area}/{task_folder_name}/{name}",
        area=area,
        instrument=instrument,
        task_type=task_type,
        name=name,
        title=task.title,
        instructions=task.instructions,
        criteria=task.criteria,
        criteria_as_read=criteria_as_read,
        documents=tuple(documents),
        skipped_files=skipped,
    )


def _collect_documents(root: Path, folder: Path, prefix: str, documents: list[BundleFile]) -> int:
    """Add the documents below ``folder`` to ``documents``; the number of leavings passed over."""
    entries, skipped = _entries(root, folder)
    for entry in entries:
        path = prefix + _nfc(entry.name)
        if entry.is_dir():
            skipped += _collect_documents(root, Path(entry.path), path + "/", documents)
        elif entry.is_file():
            documents.append(BundleFile(path, Path(entry.path)))
        else:
            raise InputError(f"{entry.path} is neither a file nor a folder; remove it")
    return skipped


def _read_task_file(path: Path) -> tuple[_TaskFile, tuple[dict[str, Any], ...]]:
    try:
        raw = json.loads(path.read_bytes().decode("utf-8-sig"), parse_constant=_refuse_constant)
        # A lone surrogate can be written as an escape and read, but never be written out again.
        json.dumps(raw, ensure_ascii=False).encode("utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON in UTF-8: {error}") from error
    try:
        task = _TaskFile.model_validate(raw)
    except ValidationError as error:
        raise InputError(
            f"{path} is not a task: {first_fault(error)}; it needs title, instructions and criteria, "
            "each criterion id, title and match_criteria"
        ) from error
    seen: set[str] = set()
    for criterion in task.criteria:
        if criterion.id in seen:
            raise InputError(f"{path} is not a task: the criterion id {criterion.id} occurs twice")
        seen.add(criterion.id)
    return task, tuple(raw["criteria"])


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
