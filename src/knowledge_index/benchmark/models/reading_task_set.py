"""The task set: working sets and pasted values, split by scenario."""

from pathlib import Path, PurePosixPath

from knowledge_index.benchmark.criterion_values import fold
from knowledge_index.benchmark.gold import derive_gold
from knowledge_index.benchmark.models.dataset import EvalQuestion, EvalText, ModelDataset, Split, half_of
from knowledge_index.benchmark.packing import PackedScenario, pack
from knowledge_index.benchmark.task_set import read_task_set
from knowledge_index.config import ConversionSettings
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import ConversionError, InputError
from knowledge_index.domain.progress import Progress
from knowledge_index.domain.versions import document_key_of

_EVERYTHING = 10**9
_PACKING_SEED = 42


def read_task_set_split(place: Path, split: Split, seed: int, progress: Progress) -> ModelDataset:
    """Half of the scenarios, packed, read and turned into gold as ``ki generate-benchmark`` does it.

    Scenarios that share a file to the byte stay together. A question is asked of all that its practice group sees, and
    finds a paper by any of its versions.

    Raises:
        InputError: the task set is malformed or none of its documents can be read.
    """
    scenarios = [each for each in read_task_set(place, None) if each.documents]
    packed = pack(scenarios, matters=_EVERYTHING, docs_target=_EVERYTHING, seed=_PACKING_SEED)
    data = {
        path: document.file.read_bytes()
        for each in packed
        for path, document in zip(each.paths, each.scenario.documents, strict=True)
    }
    together = _together(packed, data)
    kept_groups = half_of(list(together.values()), split, seed)
    kept = [each for each in packed if together[each.scenario.scenario_id] in kept_groups]
    texts, unread = _texts(kept, data, progress)
    gold = derive_gold(kept, {path: fold(text) for path, text in texts.items()})
    documents = tuple(
        EvalText(path, _paper(path), PurePosixPath(path).stem, texts[path], each.principal)
        for each in kept
        for path in each.paths
        if path in texts
    )
    if not documents:
        raise InputError(f"{place}: no document of the {split} split can be read")
    questions = tuple(
        EvalQuestion(
            each.gold_id,
            each.query,
            str(each.kind),
            together[each.scenario_id],
            papers={_paper(group.paths[0]): group.grade for group in each.groups},
            group=each.principal,
        )
        for each in gold.queries
    )
    notes = (f"{unread} documents cannot be read and are found by nothing",) if unread else ()
    return ModelDataset("task-set", split, f"half of the scenarios, by a hash of seed {seed} and name",
                        documents, questions, notes)  # fmt: skip


def _paper(path: str) -> str:
    return "p" + sha256_text(document_key_of(path))[:16]


def _together(packed: list[PackedScenario], data: dict[str, bytes]) -> dict[str, str]:
    """For each scenario the least id of those that it shares files with, directly or through others."""
    leader = {each.scenario.scenario_id: each.scenario.scenario_id for each in packed}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    first: dict[bytes, str] = {}
    for each in packed:
        for path in each.paths:
            one, other = find(each.scenario.scenario_id), find(first.setdefault(data[path], each.scenario.scenario_id))
            leader[max(one, other)] = min(one, other)
    return {name: find(name) for name in leader}


def _texts(kept: list[PackedScenario], data: dict[str, bytes], progress: Progress) -> tuple[dict[str, str], int]:
    texts: dict[str, str] = {}
    unread = 0
    paths = [path for each in kept for path in each.paths]
    settings = ConversionSettings.model_validate({})
    with progress.task("read documents", len(paths)) as task, IsolatedConverter(settings) as converter:
        for path in paths:
            try:
                texts[path] = converter.convert(path, data[path]).text
            except ConversionError:
                unread += 1
            task.advance()
    return texts, unread
