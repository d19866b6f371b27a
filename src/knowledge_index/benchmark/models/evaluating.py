"""One run on a split: what is asked for on dev, what was frozen on test; and the freezing of a choice."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge_index.benchmark.models.configurations import Configuration, configurations_of
from knowledge_index.benchmark.models.dataset import ModelDataset, Split, Unit
from knowledge_index.benchmark.models.forms import forms_of
from knowledge_index.benchmark.models.freezing import Frozen, Ledger
from knowledge_index.benchmark.models.grid import GridResult, GridWork, run_grid
from knowledge_index.benchmark.models.reading import open_dataset
from knowledge_index.benchmark.models.report import RESULTS_NAME, SCHEMA_VERSION, results_of
from knowledge_index.domain.errors import InputError, ModelError, PreconditionError, UsageError
from knowledge_index.domain.progress import Progress
from knowledge_index.embed.registry import (
    AskedModel,
    EmbedderCard,
    RerankerCard,
    registered_embedders,
    registered_rerankers,
)
from knowledge_index.evidence.canonical import MalformedJsonError, parse_json


@dataclass(frozen=True)
class Asked:
    """What a caller wants to run; None where nothing was named; ``reason`` is why test is looked at again."""

    embedders: Sequence[AskedModel] | None
    rerankers: Sequence[AskedModel] | None
    unit: Unit | None
    seed: int
    reason: str | None


def evaluate_models(
    dataset: ModelDataset, asked: Asked, work: GridWork, ledger: Ledger
) -> tuple[GridResult, dict[str, Any]]:
    """Run the grid on dev, or the frozen configurations on test, where the ledger allows it.

    Raises:
        UsageError: chunks are asked for where only papers are judged, or a model is not registered.
        ModelError: on test, a frozen configuration does not run.
        PreconditionError: on test, what is asked for was not frozen, has changed, or was looked at before.
    """
    if dataset.split is Split.DEV:
        unit = asked.unit or (Unit.CHUNK if dataset.has_spans else Unit.DOCUMENT)
        if unit is Unit.CHUNK and not dataset.has_spans:
            raise UsageError(f"--unit chunk: '{dataset.name}' says which papers answer, not which passages")
        embedders = _named_or_all(asked.embedders, registered_embedders())
        rerankers = _named_or_all(asked.rerankers, registered_rerankers())
        forms = forms_of(embedders, rerankers, work.config, unit)
        grid = configurations_of([each.name for each in embedders], [each.name for each in rerankers])
        result = run_grid(dataset, embedders, rerankers, grid, forms, work)
        # A choice on dev after a look at test is no free one, so the looks stand in every report.
        return result, {**results_of(result, None, ledger.looks(dataset.name)), "seed": asked.seed}
    frozen = ledger.frozen(dataset.name)
    if frozen is None:
        raise PreconditionError(
            f"nothing is frozen for '{dataset.name}': run 'ki models eval --split dev', choose, and run "
            "'ki models freeze'; only then the test split may be looked at"
        )
    _refuse_not_frozen(asked, frozen)
    wanted, embedders, rerankers = _frozen_grid(asked, frozen)
    forms = forms_of(embedders, rerankers, work.config, Unit(frozen.unit))
    digests = {each.name: forms.sha256(each) for each in wanted}
    look = ledger.begin_look(frozen, digests, dataset.sha256, asked.reason)
    result = run_grid(dataset, embedders, rerankers, wanted, forms, work)
    for row in result.rows:
        if row.not_run is not None:
            # Nothing was shown, so the look goes on when the model can be loaded again.
            raise ModelError(f"{row.configuration.name}: {row.not_run}")
    ledger.finish_look(look)
    return result, {**results_of(result, frozen, ledger.looks(dataset.name, dataset.sha256)), "seed": asked.seed}


def _named_or_all(named: Sequence[AskedModel] | None, cards: Sequence[EmbedderCard | RerankerCard]) -> list[AskedModel]:
    return list(named) if named is not None else [AskedModel(card.name, None) for card in cards]


def freeze_choice(
    run: Path, configuration: str, asked: str | None, data: Path, ledger: Ledger, progress: Progress
) -> Frozen:
    """Freeze a configuration of a dev run in ``run``, with the hashes of both splits as they are now.

    Raises:
        InputError: the folder holds no finished dev run, or the data is no longer that of the run.
        UsageError: the configuration did not run.
    """
    file = run / RESULTS_NAME
    try:
        content = file.read_bytes()
        results = parse_json(content)
        dataset, rows, unit, seed = results["dataset"], results["rows"], results["unit"], results["seed"]
        compared = {row["name"]: row["sha256"] for row in rows if row["not_run"] is None}
        is_dev_run = results["schema_version"] == SCHEMA_VERSION and dataset["split"] == Split.DEV
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); name the --out of 'ki models eval'") from error
    except (MalformedJsonError, KeyError, TypeError) as error:
        raise InputError(f"{file}: is not what 'ki models eval' writes") from error
    if not is_dev_run:
        raise InputError(f"{file}: is no run on dev of this version of the program; a choice is made on dev alone")
    name = asked or dataset["name"]
    dev, test = (open_dataset(name, data, split, seed, progress) for split in (Split.DEV, Split.TEST))
    if dev.sha256 != dataset["sha256"]:
        raise InputError(f"{run}: was run over other data than '{name}' has now; run the dev split again")
    return ledger.freeze(
        dataset=dataset["name"],
        unit=unit,
        seed=seed,
        configuration=configuration,
        compared=compared,
        dev_sha256=dev.sha256,
        test_sha256=test.sha256,
        dev_results_sha256=hashlib.sha256(content).hexdigest(),
    )


def _refuse_not_frozen(asked: Asked, frozen: Frozen) -> None:
    if asked.seed != frozen.seed:
        raise PreconditionError(f"--seed {asked.seed}: the choice was frozen for the split of seed {frozen.seed}")
    if asked.unit is not None and asked.unit != frozen.unit:
        raise PreconditionError(f"--unit {asked.unit}: the choice was frozen for the unit {frozen.unit}")
    _, embedders, rerankers = _parsed(frozen)
    known = {each.name for each in (*embedders, *rerankers)}
    for model in (*(asked.embedders or ()), *(asked.rerankers or ())):
        if model.name not in known:
            raise PreconditionError(
                f"'{model.name}' is not among what was frozen for '{frozen.dataset}': compare it on dev and freeze anew"
            )


def _parsed(frozen: Frozen) -> tuple[list[Configuration], list[AskedModel], list[AskedModel]]:
    configurations = []
    for name in frozen.compared:
        first, _, reranker = name.partition("+")
        stage, _, embedder = first.partition(":")
        found = configurations_of([embedder] if embedder else [], [reranker] if reranker else [])
        configurations += [each for each in found if each.name == name and each.first_stage == stage]
    embedders = list(dict.fromkeys(each.embedder for each in configurations if each.embedder))
    rerankers = list(dict.fromkeys(each.reranker for each in configurations if each.reranker))
    return (
        configurations,
        [AskedModel(each, None) for each in embedders],
        [AskedModel(each, None) for each in rerankers],
    )


def _frozen_grid(asked: Asked, frozen: Frozen) -> tuple[list[Configuration], list[AskedModel], list[AskedModel]]:
    """What was frozen, each model with the folder that the caller named for it."""
    configurations, embedders, rerankers = _parsed(frozen)
    folders = {each.name: each for each in (*(asked.embedders or ()), *(asked.rerankers or ()))}
    return (
        configurations,
        [folders.get(each.name, each) for each in embedders],
        [folders.get(each.name, each) for each in rerankers],
    )
