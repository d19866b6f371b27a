"""A task set becomes a firm: a tree of documents with grants, scenarios, a manifest and gold."""

import glob
import hashlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from filelock import FileLock

from knowledge_index.benchmark.criterion_values import fold
from knowledge_index.benchmark.gold import derive_gold
from knowledge_index.benchmark.gold_file import gold_text
from knowledge_index.benchmark.manifest import (
    ACL_FILE,
    GOLD_FILE,
    MANIFEST_FILE,
    MOCK_DMS,
    SCENARIOS_FILE,
    SCHEMA_VERSION,
    FirmCounts,
    FirmManifest,
    GeneratorArguments,
    corpus_sha256_of,
    json_lines,
    json_text,
)
from knowledge_index.benchmark.packing import PackedScenario, pack
from knowledge_index.benchmark.task_set import read_task_set
from knowledge_index.config import ConversionSettings
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.domain.errors import ConversionError, InputError, UsageError
from knowledge_index.domain.progress import Progress

_WORKSHOP_LOCK = "generating.lock"


@dataclass(frozen=True)
class GeneratedFirm:
    """What was built in ``folder``; ``unreadable`` has the error class of every document without text, by path."""

    folder: Path
    manifest: FirmManifest
    unreadable: dict[str, str]


def generate_benchmark(
    source: Path,
    out: Path,
    *,
    areas: tuple[str, ...] | None,
    matters: int,
    docs_target: int,
    seed: int,
    progress: Progress,
) -> GeneratedFirm:
    """Pack a task set into the firm tree ``out``, which must not exist or be empty.

    The same task set, arguments and versions of the converters give the same bytes. ``out`` appears whole or not at
    all; the source is only read.

    Raises:
        UsageError: ``matters`` or ``docs_target`` is below 1.
        InputError: the task set is malformed, nothing of it fits, or ``out`` cannot be used; nothing was written.
    """
    if matters < 1 or docs_target < 1:
        raise UsageError("--matters and --docs-target have to be 1 or more")
    source, out = source.absolute(), out.absolute()
    _check_places(source, out)
    scenarios = read_task_set(source, areas)
    packed = pack(scenarios, matters=matters, docs_target=docs_target, seed=seed)
    if not packed:
        if any(scenario.documents for scenario in scenarios):
            raise InputError(f"the first scenario to pack has more than {docs_target} documents; raise --docs-target")
        raise InputError(f"no scenario of {source} has documents; put them into documents/ beside its task.json")
    with _built_aside(out) as folder:
        digests = _copy_documents(packed, folder / MOCK_DMS, progress)
        texts, unreadable = _read_texts(folder / MOCK_DMS, digests, progress)
        gold = derive_gold(packed, texts)
        arguments = GeneratorArguments(
            areas=None if areas is None else tuple(sorted(set(areas))),
            matters=matters,
            docs_target=docs_target,
            seed=seed,
        )
        counts = FirmCounts(
            matters=len({each.matter_ref for each in packed}),
            scenarios=len(packed),
            documents=len(digests),
            documents_by_suffix=_sorted_counts(PurePosixPath(path).suffix.lower() for path in digests),
            documents_by_area=_sorted_counts(each.scenario.area for each in packed for _ in each.paths),
            unreadable=_sorted_counts(unreadable.values()),
            skipped_scenarios=sum(not scenario.documents for scenario in scenarios),
            skipped_files=sum(each.scenario.skipped_files for each in packed),
            gold_by_kind=_sorted_counts(query.kind.value for query in gold.queries),
            factoids_by_value_kind=_sorted_counts(kind.value for kind in gold.value_kinds),
        )
        manifest = FirmManifest(
            schema_version=SCHEMA_VERSION,
            arguments=arguments,
            counts=counts,
            principals=tuple(sorted({str(each.principal) for each in packed})),
            corpus_sha256=corpus_sha256_of(digests),
        )
        grants = {
            path: [{"principal": str(each.principal), "access": "allow"}] for each in packed for path in each.paths
        }
        _write(folder / ACL_FILE, json_text(grants))
        _write(folder / SCENARIOS_FILE, json_lines(_scenario_record(each) for each in packed))
        _write(folder / GOLD_FILE, gold_text(gold.queries))
        _write(folder / MANIFEST_FILE, json_text(manifest.model_dump(mode="json")))
    return GeneratedFirm(
        folder=out,
        manifest=manifest,
        unreadable=unreadable,
    )


def _check_places(source: Path, out: Path) -> None:
    if os.path.lexists(out) and not out.is_dir():
        raise InputError(f"{out} is not a folder; name one that does not exist or is empty")
    real_source, real_out = source.resolve(), out.resolve()
    if real_out.is_relative_to(real_source) or real_source.is_relative_to(real_out):
        raise InputError(f"{out} and the task set {source} lie in each other; name a folder apart from it")
    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out} is not empty; name a folder that does not exist or is empty")


@contextmanager
def _built_aside(out: Path) -> Iterator[Path]:
    """A new folder beside ``out`` that becomes ``out`` when the block ends well, and disappears when it does not."""
    target = out.resolve()
    beside = next(parent for parent in target.parents if parent.is_dir())
    prefix = f".{target.name[:40]}.partial-"
    _remove_abandoned(beside, prefix)
    try:
        workshop = Path(tempfile.mkdtemp(dir=beside, prefix=prefix))
        lock = FileLock(workshop / _WORKSHOP_LOCK)
        # A file system that knows no locks will do: nobody can take the lock there to remove the workshop.
        with suppress(NotImplementedError):
            lock.acquire(blocking=False)
    except OSError as error:
        raise InputError(f"{out} cannot be made: {beside} cannot be written to ({error.strerror})") from error
    try:
        # The workshop is private to its owner; what is renamed out of it has the usual permissions.
        folder = workshop / "firm"
        folder.mkdir()
        yield folder
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(target)
    except OSError as error:
        raise InputError(f"{out} cannot be made: {error.filename or out}: {error.strerror or error}") from error
    finally:
        lock.release()
        shutil.rmtree(workshop, ignore_errors=True)


def _remove_abandoned(beside: Path, prefix: str) -> None:
    """Remove what killed generations left: workshops whose lock nobody holds; any other folder is not ours."""
    for workshop in sorted(beside.glob(f"{glob.escape(prefix)}*")):
        if (workshop / _WORKSHOP_LOCK).is_file():
            with suppress(OSError, NotImplementedError), FileLock(workshop / _WORKSHOP_LOCK, blocking=False):
                shutil.rmtree(workshop, ignore_errors=True)


def _copy_documents(packed: Sequence[PackedScenario], mock_dms: Path, progress: Progress) -> dict[str, str]:
    """Copy every document to its place; the SHA-256 of each in hex, by path."""
    digests: dict[str, str] = {}
    total = sum(len(each.paths) for each in packed)
    with progress.task("copying documents", total) as task:
        for each in packed:
            for document, path in zip(each.scenario.documents, each.paths, strict=True):
                try:
                    data = document.file.read_bytes()
                except OSError as error:
                    raise InputError(f"{document.file} cannot be read: {error.strerror}") from error
                target = mock_dms / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                digests[path] = hashlib.sha256(data).hexdigest()
                task.advance()
    return digests


def _read_texts(mock_dms: Path, digests: dict[str, str], progress: Progress) -> tuple[dict[str, str], dict[str, str]]:
    """Folded text by path, and error class by path where there is none; equal bytes of one format are read once.

    The class is ``internal`` where a converter failed by a fault of its own, as in a run of the pipeline.
    """
    outcomes: dict[tuple[str, str], str | ConversionError] = {}
    settings = ConversionSettings.model_validate({})
    texts: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    with progress.task("reading documents", len(digests)) as task, IsolatedConverter(settings) as converter:
        for path, digest in sorted(digests.items()):
            blob = (digest, PurePosixPath(path).suffix.lower())
            if blob not in outcomes:
                data = (mock_dms / path).read_bytes()
                try:
                    outcomes[blob] = fold(converter.convert(path, data).text)
                except ConversionError as error:
                    outcomes[blob] = error
            outcome = outcomes[blob]
            if isinstance(outcome, ConversionError):
                unreadable[path] = outcome.error_class
            else:
                texts[path] = outcome
            task.advance()
    return texts, unreadable


def _scenario_record(packed: PackedScenario) -> dict[str, object]:
    scenario = packed.scenario
    return {
        "scenario_id": scenario.scenario_id,
        "matter_ref": packed.matter_ref,
        "matter_title": packed.matter_title,
        "practice_area": scenario.area,
        "principal": str(packed.principal),
        "instrument": scenario.instrument,
        "task_type": scenario.task_type,
        "title": scenario.title,
        "instructions": scenario.instructions,
        "criteria": scenario.criteria_as_read,
        "document_paths": packed.paths,
    }


def _sorted_counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")
