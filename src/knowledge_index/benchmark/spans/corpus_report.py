"""What a corpus run writes: the report, the rankings, the metrics of every question."""

from collections.abc import Callable
from pathlib import Path

from knowledge_index.benchmark.spans.comparing import difference_words, estimate, interval_words, paired_difference
from knowledge_index.benchmark.spans.corpus import (
    CUTOFFS,
    DEPTH,
    RIGHT_DOCUMENT_K,
    CorpusMetrics,
    mean_corpus_metrics,
)
from knowledge_index.benchmark.spans.corpus_running import CorpusOutcome, CorpusRun
from knowledge_index.benchmark.spans.markdown import table
from knowledge_index.benchmark.spans.run_files import write_json, write_lines, write_text
from knowledge_index.benchmark.statistics import CONFIDENCE_LEVEL, N_RESAMPLES, SEED

_MINI_FILE_NAME = "benchmark.json"
_JUDGED: tuple[tuple[str, Callable[[CorpusMetrics], float]], ...] = (
    ("precision@1", lambda each: each.precision[CUTOFFS.index(1)]),
    ("recall@16", lambda each: each.recall[CUTOFFS.index(16)]),
    ("recall@64", lambda each: each.recall[CUTOFFS.index(64)]),
)


def write_corpus_run(run: CorpusRun, folder: Path) -> None:
    """Write ``report.md``, ``per_query.json``, ``rankings-<config>.jsonl`` and, of a mini run, ``benchmark.json``.

    Raises:
        UsageError: a file cannot be written.
    """
    for outcome in run.outcomes:
        lines = [
            {"index": query.index, "ranked": [[each.place.doc_id, *each.place.span] for each in ranking]}
            for query, ranking in zip(run.benchmark.queries, outcome.rankings, strict=True)
        ]
        write_lines(folder / f"rankings-{outcome.configuration.name}.jsonl", lines)
    write_json(folder / "per_query.json", _per_query(run))
    mini = folder / _MINI_FILE_NAME
    if is_mini(run):
        # A question that a ranking misses counts as an empty one: a mini run is scored against its own questions.
        write_json(mini, {"tests": [_test(run, place) for place in range(len(run.benchmark.queries))]})
    else:
        mini.unlink(missing_ok=True)
    write_text(folder / "report.md", corpus_report(run))


def is_mini(run: CorpusRun) -> bool:
    """Whether only some of the benchmark's questions were asked."""
    return len(run.benchmark.queries) < run.benchmark.questions_in_file


def corpus_summary_json(run: CorpusRun) -> dict[str, object]:
    """The means of each configuration, under the names that reports use."""
    return {
        "benchmark": {"name": run.benchmark.name, "sha256": run.benchmark.sha256},
        "questions": len(run.benchmark.queries),
        "documents": len(run.benchmark.documents),
        "configurations": {
            each.configuration.name: {"metrics": _metrics_json(each.means), "chunks": each.chunk_count}
            for each in run.outcomes
        },
    }


def metric_rows(run: CorpusRun) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the metrics' table."""
    heads = ["configuration", *(f"P@{k}" for k in CUTOFFS), *(f"R@{k}" for k in CUTOFFS), "right document@16"]
    rows = []
    for outcome in run.outcomes:
        means = outcome.means
        numbers = [f"{value:.1f}" for value in (*means.precision, *means.recall)]
        rows.append([outcome.configuration.name, *numbers, f"{means.right_document_at_16:.3f}"])
    return heads, rows


def corpus_report(run: CorpusRun) -> str:
    """The report in Markdown."""
    from knowledge_index import __version__

    benchmark = run.benchmark
    asked = len(benchmark.queries)
    which = f"the first {asked} of {benchmark.questions_in_file}" if is_mini(run) else f"all {asked}"
    base = run.outcomes[0]
    lines = [
        f"# Span retrieval over the corpus of {benchmark.name}",
        "",
        f"Questions: {which}. Documents: {len(benchmark.documents)}, all of them searched by every question.",
        "Precision and recall in percent of characters; right document@16 is the share of the top "
        f"{RIGHT_DOCUMENT_K} that comes from a document with gold.",
        "",
        "## Configurations",
        "",
        *table(*metric_rows(run)),
        "## How sure that is",
        "",
        f"In brackets {CONFIDENCE_LEVEL:.0%} bootstrap intervals ({N_RESAMPLES:,} resamples of whole documents, seed "
        f"{SEED}); 'not resolvable' where a difference's interval spans 0.",
        "",
        *table(["configuration", *(name for name, _ in _JUDGED)], [_estimates(run, each) for each in run.outcomes]),
    ]
    if len(run.outcomes) > 1:
        lines += [
            f"Differences from {base.configuration.name}, in percentage points:",
            "",
            *table(
                ["configuration", *(name for name, _ in _JUDGED)],
                [_differences(run, base, each) for each in run.outcomes[1:]],
            ),
        ]
    lines += [
        "## Chunking, before any retrieval",
        "",
        *table(
            ["configuration", "chunks", "median characters", "gold spans in one chunk", "chunks the embedder cuts off"],
            [_chunking(each) for each in run.outcomes],
        ),
        "## Provenance",
        "",
        f"- knowledge_index {__version__}; embedding {run.embedding_signature}",
        f"- benchmark {benchmark.name}, SHA-256 {benchmark.sha256}",
        *(f"- {each.configuration.name}: {each.chunker_signature}{_settings(each)}" for each in run.outcomes),
        f"- rankings are {DEPTH} deep; hybrid fuses two lists of {DEPTH} by reciprocal rank fusion, constant 60",
        "",
    ]
    return "\n".join(lines)


def _settings(outcome: CorpusOutcome) -> str:
    if not outcome.settings:
        return f", {outcome.configuration.retriever}, bare text"
    return (
        f", through source, sync, run and search, a folder a document; max_chunks_per_document raised to {DEPTH}, and "
        f"candidate_pool where it is smaller; else `{outcome.settings}`"
    )


def _clusters(run: CorpusRun) -> list[str]:
    return [query.cluster for query in run.benchmark.queries]


def _estimates(run: CorpusRun, outcome: CorpusOutcome) -> list[str]:
    cells = [outcome.configuration.name]
    for _, value_of in _JUDGED:
        found = estimate([value_of(each) for each in outcome.metrics], _clusters(run))
        cells.append(f"{found.mean:.1f} ({interval_words(found, '%')})" if found else "undefined")
    return cells


def _differences(run: CorpusRun, base: CorpusOutcome, outcome: CorpusOutcome) -> list[str]:
    cells = [outcome.configuration.name]
    for _, value_of in _JUDGED:
        found = paired_difference(
            [value_of(each) for each in base.metrics], [value_of(each) for each in outcome.metrics], _clusters(run)
        )
        cells.append(difference_words(found, "%"))
    return cells


def _chunking(outcome: CorpusOutcome) -> list[str]:
    truncated = "not measured" if outcome.truncated is None else f"{outcome.truncated:.1%}"
    return [
        outcome.configuration.name,
        f"{outcome.chunk_count:,}",
        f"{outcome.median_chars:.0f}",
        f"{outcome.snippets_intact:.1%}",
        truncated,
    ]


def _metrics_json(metrics: CorpusMetrics) -> dict[str, float]:
    return {
        **{f"precision@{k}": value for k, value in zip(CUTOFFS, metrics.precision, strict=True)},
        **{f"recall@{k}": value for k, value in zip(CUTOFFS, metrics.recall, strict=True)},
        f"right_document@{RIGHT_DOCUMENT_K}": metrics.right_document_at_16,
    }


def _per_query(run: CorpusRun) -> dict[str, object]:
    return {
        "benchmark": {"name": run.benchmark.name, "sha256": run.benchmark.sha256},
        "means": {each.configuration.name: _metrics_json(mean_corpus_metrics(each.metrics)) for each in run.outcomes},
        "queries": [
            {
                "index": query.index,
                "query": query.query,
                "gold": [[each.doc_id, *each.span] for each in query.gold],
                "configurations": {
                    each.configuration.name: _metrics_json(each.metrics[place]) for each in run.outcomes
                },
            }
            for place, query in enumerate(run.benchmark.queries)
        ],
    }


def _test(run: CorpusRun, place: int) -> dict[str, object]:
    query = run.benchmark.queries[place]
    return {
        "query": query.query,
        "snippets": [{"file_path": each.doc_id, "span": list(each.span)} for each in query.gold],
    }
