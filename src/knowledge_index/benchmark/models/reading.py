"""Finds a data set by name or folder and reads one split of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from knowledge_index.benchmark.models.dataset import ModelDataset, Split
from knowledge_index.benchmark.models.reading_folders import is_retrieval_folder, read_retrieval_folder
from knowledge_index.benchmark.models.reading_spans import read_contract_nli, read_cuad
from knowledge_index.benchmark.models.reading_task_set import read_task_set_split
from knowledge_index.domain.errors import InputError, UsageError
from knowledge_index.domain.progress import Progress

_Reader = Callable[[Path, Split, int, Progress], ModelDataset]
# The folder of each under the data folder, and what it is known by.
_KNOWN: dict[str, tuple[str, str, _Reader]] = {
    "task-set": ("task-set", "tasks", read_task_set_split),
    "cuad": ("cuad", "clauses.jsonl", read_cuad),
    "contractnli": ("legalbench-rag", "benchmarks/contractnli.json", read_contract_nli),
}


def open_dataset(asked: str, data: Path, split: Split, seed: int, progress: Progress) -> ModelDataset:
    """The split of ``task-set``, ``cuad`` or ``contractnli`` under ``data``, or of a folder that holds one of these,
    a BEIR set, or a set of parquet or JSONL files as MLEB has them.

    Raises:
        UsageError: it is neither a known name nor a folder.
        InputError: the folder holds no such set, the set is malformed, or the split is empty.
    """
    if asked in _KNOWN:
        folder, mark, read = _KNOWN[asked]
        place = data / folder
        if not (place / mark).exists():
            raise InputError(f"{place}: the set '{asked}' is not there; name the folder that holds it with --data")
        dataset = read(place, split, seed, progress)
    else:
        place = Path(asked).expanduser()
        if not place.is_dir():
            raise UsageError(f"--dataset {asked}: is neither {', '.join(_KNOWN)} nor a folder")
        dataset = _read_folder(place, split, seed, progress)
    if not dataset.questions:
        raise InputError(f"{asked}: the {split} split has no questions; it is too small to be split")
    return dataset


def _read_folder(place: Path, split: Split, seed: int, progress: Progress) -> ModelDataset:
    for _, mark, read in _KNOWN.values():
        if (place / mark).exists():
            dataset = read(place, split, seed, progress)
            return replace(dataset, name=place.resolve().name)
    if is_retrieval_folder(place):
        return read_retrieval_folder(place, split, seed)
    raise InputError(
        f"{place}: holds no set that is known: tasks/ (task set), clauses.jsonl and contracts/ (cuad), "
        "benchmarks/contractnli.json and corpus/ (ContractNLI), or corpus, queries and qrels (BEIR, MLEB)"
    )
