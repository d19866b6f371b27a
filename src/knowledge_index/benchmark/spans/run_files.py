"""What a run writes beside its reports: rankings, metrics and labels, for machines."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from knowledge_index.benchmark.spans.failure_labels import FailureLabel, SpanEvidence
from knowledge_index.benchmark.spans.metrics import (
    GROUNDED_SHARE,
    METRIC_NAMES,
    POOL,
    TOP_K,
    SpanMetrics,
    is_relevant,
    retrieved_shares,
)
from knowledge_index.benchmark.spans.running import ConfigurationOutcome, QueryOutcome, SpanRun
from knowledge_index.domain.errors import UsageError

_RANKINGS_PATTERN = "rankings-*.jsonl"
# A chunk of another document shares no character with the question's gold: told as a span of none.
_ELSEWHERE = [0, 0]


def prepare_folder(folder: Path) -> None:
    """Make the folder, and take the rankings of an earlier run out: beside a new report they would be taken for its.

    Raises:
        UsageError: the folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stale in sorted(folder.glob(_RANKINGS_PATTERN)):
            stale.unlink()
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written to ({error.strerror}); name another --out") from error


def write_text(file: Path, text: str) -> None:
    """Write a file of the run.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror}); name another --out") from error


def write_json(file: Path, content: object) -> None:
    """Write a JSON file of the run."""
    write_text(file, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def write_lines(file: Path, lines: Iterable[object]) -> None:
    """Write a JSONL file of the run."""
    write_text(file, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def write_run_files(run: SpanRun, folder: Path) -> None:
    """Write ``rankings-<config>.jsonl``, ``per_query.json`` and ``taxonomy.json``."""
    for outcome in run.outcomes:
        lines = [_ranking_line(outcome, each) for each in outcome.queries]
        write_lines(folder / f"rankings-{outcome.configuration.name}.jsonl", lines)
    write_json(folder / "per_query.json", _per_query(run))
    write_json(folder / "taxonomy.json", _taxonomy(run))


def metrics_json(metrics: SpanMetrics) -> dict[str, float | None]:
    """Metrics under the names that reports use."""
    return {METRIC_NAMES[name]: value for name, value in asdict(metrics).items()}


def _ranking_line(outcome: ConfigurationOutcome, each: QueryOutcome) -> dict[str, object]:
    doc_id = each.query.doc_id
    return {
        "query_id": each.query.query_id,
        "ranked": [list(ranked.place.span) if ranked.place.doc_id == doc_id else _ELSEWHERE for ranked in each.ranking],
        "chunks": [list(place.span) for place in outcome.chunks.get(doc_id, ())],
    }


def _per_query(run: SpanRun) -> dict[str, object]:
    texts = {each.doc_id: each.text for each in run.eval_set.documents}
    return {
        "eval_set": {"name": run.eval_set.name, "sha256": run.eval_set.sha256},
        "top_k": TOP_K,
        "pool": POOL,
        "queries": [
            _query_json(query.query_id, texts[query.doc_id], [(each, each.queries[position]) for each in run.outcomes])
            for position, query in enumerate(run.eval_set.queries)
        ],
    }


def _query_json(
    query_id: str, text: str, outcomes: list[tuple[ConfigurationOutcome, QueryOutcome]]
) -> dict[str, object]:
    query = outcomes[0][1].query
    shares = {
        outcome.configuration.name: retrieved_shares(query, [ranked.place for ranked in each.ranking[:TOP_K]])
        for outcome, each in outcomes
    }
    return {
        "query_id": query_id,
        "doc_id": query.doc_id,
        "clause_type": query.clause_type,
        "query": query.query,
        "gold_spans": [
            {
                "span": list(span),
                "text": text[span.start : span.end],
                "found_by": [name for name, values in shares.items() if values[place] >= GROUNDED_SHARE],
            }
            for place, span in enumerate(query.gold_spans)
        ],
        "configurations": {
            outcome.configuration.name: {
                "metrics": metrics_json(each.metrics),
                "span_coverage": shares[outcome.configuration.name],
                "missed_spans": [
                    list(span)
                    for span, share in zip(query.gold_spans, shares[outcome.configuration.name], strict=True)
                    if share < GROUNDED_SHARE
                ],
                "label": each.failure.label if each.failure else None,
                "ranking": [
                    {
                        "rank": rank,
                        "chunk_id": ranked.place.chunk_id,
                        "doc_id": ranked.place.doc_id,
                        "start": ranked.place.span.start,
                        "end": ranked.place.span.end,
                        "score": ranked.score,
                        "relevant": is_relevant(query, ranked.place),
                    }
                    for rank, ranked in enumerate(each.ranking, start=1)
                ],
            }
            for outcome, each in outcomes
        },
    }


def _taxonomy(run: SpanRun) -> dict[str, object]:
    return {
        "eval_set": {"name": run.eval_set.name, "sha256": run.eval_set.sha256},
        "top_k": TOP_K,
        "pool": POOL,
        "grounded_share": GROUNDED_SHARE,
        "configurations": {outcome.configuration.name: _labels_json(outcome) for outcome in run.outcomes},
    }


def _labels_json(outcome: ConfigurationOutcome) -> dict[str, object]:
    failures = [(each.query, each.failure) for each in outcome.queries if each.failure]
    return {
        "failed": len(failures),
        "counts": {str(label): sum(failure.label is label for _, failure in failures) for label in FailureLabel},
        "failures": [
            {
                "query_id": query.query_id,
                "label": failure.label,
                "failed_spans": [_evidence_json(span) for span in failure.failed_spans],
            }
            for query, failure in failures
        ],
    }


def _evidence_json(span: SpanEvidence) -> dict[str, object]:
    return {
        "span": list(span.span),
        "coverage": span.coverage,
        "intact_in_one_chunk": span.intact,
        "opening_words": span.opening_words,
        "chunks": [
            {
                "chunk_id": chunk.place.chunk_id,
                "start": chunk.place.span.start,
                "end": chunk.place.span.end,
                "rank": chunk.rank,
                "opening_words": chunk.opening_words,
            }
            for chunk in span.chunks
        ],
    }


def summary_json(run: SpanRun) -> dict[str, object]:
    """The means and chunking statistics of each configuration."""
    return {
        "eval_set": {"name": run.eval_set.name, "sha256": run.eval_set.sha256},
        "baseline": run.baseline.configuration.name,
        "configurations": {
            each.configuration.name: {"metrics": metrics_json(each.means), "chunking": asdict(each.statistics)}
            for each in run.outcomes
        },
        "not_run": {each.configuration.name: each.reason for each in run.not_run},
    }
