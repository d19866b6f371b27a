"""What a grid run leaves: results for machines, a report for people, and TREC files for any other scorer."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from knowledge_index import __version__
from knowledge_index.benchmark.models.choosing import ALL_KINDS, Choice, Margin, choose
from knowledge_index.benchmark.models.freezing import Frozen, Look
from knowledge_index.benchmark.models.grid import GridResult, GridRow
from knowledge_index.benchmark.models.measuring import ModelCost
from knowledge_index.benchmark.models.scoring import MEASURES, mean_of
from knowledge_index.benchmark.spans.markdown import cell, table
from knowledge_index.domain.errors import UsageError

RESULTS_NAME = "results.json"
SCHEMA_VERSION = 1
_HEADS = ("success@1", "success@5", "success@10", "recall@10", "MRR@10", "nDCG@10")


def results_of(result: GridResult, frozen: Frozen | None, looks: Sequence[Look]) -> dict[str, Any]:
    """The results as JSON has them."""
    dataset = result.dataset
    choice = choose(result, frozen.configuration if frozen else None)
    return {
        "schema_version": SCHEMA_VERSION,
        "program": __version__,
        "dataset": {
            "name": dataset.name,
            "split": str(dataset.split),
            "split_rule": dataset.split_rule,
            "sha256": dataset.sha256,
            "documents": len(dataset.documents),
            "passages": result.passages,
            "questions": len(dataset.questions),
            "clusters": len({each.cluster for each in dataset.questions}),
            "notes": list(dataset.notes),
        },
        "unit": str(result.unit),
        "rows": [_row(result, row) for row in result.rows],
        "choice": None if choice is None else _choice(choice),
        "costs": [asdict(each) for each in result.costs],
        "frozen": None if frozen is None else frozen.as_json(),
        "looks": [look.as_json() for look in looks],
    }


def write_results(result: GridResult, results: Mapping[str, Any], folder: Path) -> None:
    """Write ``report.md``, ``results.json``, ``per_query.jsonl``, ``qrels.txt`` and a run file for each row.

    Raises:
        UsageError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = [
            json.dumps({"configuration": row.configuration.name, "query_id": query_id, **asdict(values)})
            for row in result.rows
            for query_id, values in sorted(row.values.items())
        ]
        _write(folder / "per_query.jsonl", lines)
        qrels = [
            f"{query_id} 0 {unit} {grade}"
            for query_id, grades in sorted(result.relevant.items())
            for unit, grade in sorted(grades.items())
        ]
        _write(folder / "qrels.txt", qrels)
        for row in result.rows:
            if row.not_run is None:
                _write(folder / f"{_file_name(row.configuration.name)}.run", _run_lines(row))
        _write(folder / "report.md", report(results))
        # Last: who finds it finds the rest.
        _write(folder / RESULTS_NAME, [json.dumps(results, ensure_ascii=False, indent=2)])
    except OSError as error:
        raise UsageError(f"{folder}: results cannot be written ({error.strerror}); name another --out") from error


def report(results: Mapping[str, Any]) -> list[str]:
    """The report's lines, in Markdown."""
    dataset = results["dataset"]
    return [
        f"# Models on {cell(dataset['name'])}, {dataset['split']}",
        "",
        f"{dataset['questions']} questions on {dataset['clusters']} contracts, scenarios or topics; "
        f"{dataset['documents']} documents, {dataset['passages']} passages; unit: {results['unit']}. "
        f"Split: {dataset['split_rule']}. Data SHA-256 `{dataset['sha256']}`.",
        "",
        *(f"- {note}" for note in dataset["notes"]),
        *([""] if dataset["notes"] else []),
        *_looks(results["frozen"], results["looks"]),
        *_measures(results["rows"]),
        *_choice_lines(results["choice"], results["frozen"]),
        *_costs(results["costs"]),
    ]


def _row(result: GridResult, row: GridRow) -> dict[str, Any]:
    kinds = {each.query_id: each.kind for each in result.dataset.questions}
    groups = {ALL_KINDS: list(row.values)}
    for kind in sorted(set(kinds.values())):
        groups[kind] = [query_id for query_id in row.values if kinds[query_id] == kind]
    means = {kind: asdict(mean_of([row.values[each] for each in ids])) for kind, ids in groups.items() if ids}
    return {
        "name": row.configuration.name,
        "sha256": row.sha256,
        "not_run": row.not_run,
        "means": means,
        "questions": {kind: len(ids) for kind, ids in groups.items()},
    }


def _choice(choice: Choice) -> dict[str, Any]:
    def margin(each: Margin) -> dict[str, Any]:
        difference = each.difference
        return {
            "name": each.name,
            "kind": each.kind,
            "difference": difference.mean,
            "low": difference.low,
            "high": difference.high,
            "tied": each.is_tied,
        }

    return {"name": choice.name, "margins": [margin(each) for each in choice.margins]}


def _measures(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    body: list[tuple[str, ...]] = []
    missing: set[str] = set()
    for row in rows:
        if row["not_run"]:
            # Behind a first stage that did not run, its rerankers tell nothing more; results.json has every row.
            if row["name"].partition("+")[0] not in missing:
                missing.add(row["name"])
                body.append((row["name"], "not run", *[""] * (len(_HEADS))))
            continue
        one_kind = len(row["means"]) == 2
        for kind, values in row["means"].items():
            if kind != ALL_KINDS and one_kind:
                continue
            name = row["name"] if kind == ALL_KINDS else f"… {kind}"
            figures = (f"{values[measure]:.3f}" for measure in MEASURES)
            body.append((name, str(row["questions"][kind]), *figures))
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["not_run"]:
            reasons.setdefault(row["not_run"], []).append(row["name"])
    lines = ["## Measures", "", *table(("configuration", "questions", *_HEADS), body)]
    lines += [f"- not run, {len(names)} rows: {cell(why)}" for why, names in reasons.items()]
    return [*lines, ""] if reasons else lines


def _choice_lines(choice: Mapping[str, Any] | None, frozen: Mapping[str, Any] | None) -> list[str]:
    if choice is None:
        return ["## Choice", "", "Nothing ran.", ""]
    how = "frozen on dev before the test split was looked at" if frozen else "the highest mean nDCG@10"
    if frozen and frozen["after_looks"]:
        how = f"frozen after {frozen['after_looks']} look(s) at the test split"
    body = []
    for each in choice["margins"]:
        interval = "none: one cluster" if each["low"] is None else f"{each['low']:+.4f} to {each['high']:+.4f}"
        verdict = "tied" if each["tied"] else "ahead" if each["difference"] > 0 else "behind"
        name = each["name"] if each["kind"] == ALL_KINDS else f"… {each['name']}, {each['kind']}"
        body.append((name, f"{each['difference']:+.4f}", interval, verdict))
    lines = ["## Choice", "", f"`{choice['name']}`: {how}. Margins are its nDCG@10 less the other's, with a 95 % "
             "bootstrap interval over contracts, not adjusted for the number of comparisons.", ""]  # fmt: skip
    return [*lines, *table(("other", "margin", "95 % interval", "the choice is"), body)] if body else lines


def _costs(costs: Sequence[Mapping[str, Any]]) -> list[str]:
    def figure(value: float | None, form: str) -> str:
        return "not measured" if value is None else format(value, form)

    body = [
        (
            each.model,
            figure(each.memory_mb, ".0f"),
            figure(each.device_memory_mb, ".0f"),
            "not measured" if each.latency_s is None else f"{each.latency_s:.2f} (n={each.latencies})",
            "" if each.load_low is None else f"{each.load_low:.1f} to {each.load_high:.1f} on {each.cores} cores",
        )
        for each in (ModelCost(**cost) for cost in costs)
    ]
    if not body:
        return []
    heads = ("model", "peak memory, MB", "device memory, MB", "s per 40 candidates", "load while measuring")
    return ["## Cost", "", *table(heads, body)]


def _looks(frozen: Mapping[str, Any] | None, looks: Sequence[Mapping[str, Any]]) -> list[str]:
    if not looks:
        return []
    lines = ["## Looks at the test split", ""]
    for number, look in enumerate(looks, start=1):
        reason = f", again: “{cell(look['reason'])}”" if look["reason"] else ""
        ended = "" if look["finished_at"] else ", not finished"
        lines.append(f"{number}. {look['started_at']}: `{cell(look['configuration'])}`{reason}{ended}")
    if len(looks) > 1:
        lines += ["", f"**The test split has been looked at {len(looks)} times: its figures are no longer those of a "
                  "first look.**"]  # fmt: skip
    if frozen:
        lines += ["", f"Frozen {frozen['frozen_at']}, key `{frozen['key_id'][:16]}…`."]
    return [*lines, ""]


def _run_lines(row: GridRow) -> list[str]:
    return [
        f"{query_id} Q0 {unit} {rank} {len(units) - rank + 1} {_file_name(row.configuration.name)}"
        for query_id, units in sorted(row.rankings.items())
        for rank, unit in enumerate(units, start=1)
    ]


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.+-]", "_", name)


def _write(file: Path, lines: Sequence[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
