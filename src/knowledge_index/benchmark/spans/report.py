"""report.md: every configuration, for engineers."""

from statistics import fmean

from knowledge_index.benchmark.spans.bare_ranking import PUBLISHED_RRF_K
from knowledge_index.benchmark.spans.comparing import difference_words, estimate, interval_words
from knowledge_index.benchmark.spans.configurations import Configuration, Lever, differing_levers
from knowledge_index.benchmark.spans.failure_labels import FailureLabel
from knowledge_index.benchmark.spans.levers import difference_from_baseline, single_lever
from knowledge_index.benchmark.spans.markdown import table
from knowledge_index.benchmark.spans.metrics import METRIC_NAMES, POOL, TOP_K, metric_value
from knowledge_index.benchmark.spans.running import ConfigurationOutcome, SpanRun
from knowledge_index.benchmark.statistics import CONFIDENCE_LEVEL, N_RESAMPLES, SEED

NOT_RUN = "not run"


def metric_rows(run: SpanRun) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the metrics' table; a configuration that did not run says so in every cell."""
    rows = [
        [each.configuration.name, *(number(metric_value(each.means, name)) for name in METRIC_NAMES)]
        for each in run.outcomes
    ]
    rows += [[each.configuration.name, *([NOT_RUN] * len(METRIC_NAMES))] for each in run.not_run]
    return ["configuration", *METRIC_NAMES.values()], rows


def report(run: SpanRun) -> str:
    """The report in Markdown."""
    lines = [
        f"# Span retrieval on {run.eval_set.name}",
        "",
        f"{len(run.eval_set.queries)} questions on {len(run.eval_set.documents)} documents, "
        f"{sum(len(query.gold_spans) for query in run.eval_set.queries)} gold spans. Every metric is defined in "
        "docs/spans.md.",
        "",
        "## Configurations",
        "",
        *table(*metric_rows(run)),
        *(f"- {each.configuration.name}: {NOT_RUN}, {each.reason}" for each in run.not_run),
        "",
        *_levers(run),
        *_certainty(run),
        *_chunking(run),
        *_clause_types(run),
        *_labels(run),
        *_provenance(run),
    ]
    return "\n".join(lines)


def number(value: float | None) -> str:
    """A metric as reports print it."""
    return "undefined" if value is None else f"{value:.3f}"


def _levers(run: SpanRun) -> list[str]:
    def cells(configuration: Configuration) -> list[str]:
        values = [getattr(configuration, lever.value) for lever in Lever]
        return [configuration.name, *(lever_setting(value) for value in values)]

    every = [*(each.configuration for each in run.outcomes), *(each.configuration for each in run.not_run)]
    return [
        "What each of them is:",
        "",
        *table(["configuration", *(each.words for each in Lever)], [cells(each) for each in every]),
    ]


def lever_setting(value: object) -> str:
    """A lever's setting in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _certainty(run: SpanRun) -> list[str]:
    base = run.baseline.configuration.name
    others = [each for each in run.outcomes if each.configuration.name != base]
    lines = [
        "## How sure that is",
        "",
        f"{CONFIDENCE_LEVEL:.0%} bootstrap intervals of the means ({N_RESAMPLES:,} resamples of whole documents, seed "
        f"{SEED}):",
        "",
        *table(["configuration", *METRIC_NAMES.values()], [_intervals(each) for each in run.outcomes]),
    ]
    if others:
        lines += [
            f"Differences from {base}, with their intervals; 'not resolvable' where the interval spans 0. The "
            "difference belongs to a lever only where the two configurations differ in that lever alone.",
            "",
            *table(
                ["configuration", "lever", *METRIC_NAMES.values()],
                [
                    [
                        each.configuration.name,
                        _attribution(run, each),
                        *(difference_words(difference_from_baseline(run, each, name)) for name in METRIC_NAMES),
                    ]
                    for each in others
                ],
            ),
        ]
    return lines


def _intervals(outcome: ConfigurationOutcome) -> list[str]:
    documents = [each.query.doc_id for each in outcome.queries]
    cells = [outcome.configuration.name]
    for name in METRIC_NAMES:
        found = estimate([metric_value(each.metrics, name) for each in outcome.queries], documents)
        cells.append(interval_words(found) if found else "undefined")
    return cells


def _attribution(run: SpanRun, outcome: ConfigurationOutcome) -> str:
    lever = single_lever(run, outcome)
    if lever is not None:
        return lever.words
    several = differing_levers(run.baseline.configuration, outcome.configuration)
    return f"not measured: {', '.join(each.words for each in several)} differ"


def _chunking(run: SpanRun) -> list[str]:
    rows = []
    for each in run.outcomes:
        found = each.statistics
        rows.append(
            [
                each.configuration.name,
                f"{found.chunks:,}",
                f"{found.median_chars:.0f}",
                f"{found.spans_intact:.1%}",
                f"{found.relevant_per_query:.2f}",
                "not measured" if found.truncated is None else f"{found.truncated:.1%}",
                number(each.means.precision_at_5),
                number(found.precision_ceiling),
                f"{each.means.precision_at_5 / found.precision_ceiling:.1%}"
                if found.precision_ceiling
                else "undefined",
            ]
        )
    heads = [
        *("configuration", "chunks", "median characters", "spans intact in one chunk", "relevant chunks per question"),
        *("chunks the embedder cuts off", "precision@5 attained", "precision@5 ceiling", "attained of ceiling"),
    ]
    return ["## Chunking, and attained against ceiling", "", *table(heads, rows)]


def _clause_types(run: SpanRun) -> list[str]:
    types = sorted({query.clause_type for query in run.eval_set.queries})
    rows = []
    for clause_type in types:
        places = [place for place, query in enumerate(run.eval_set.queries) if query.clause_type == clause_type]
        means = [f"{fmean(each.queries[place].metrics.mrr for place in places):.3f}" for each in run.outcomes]
        rows.append([clause_type or "(none given)", str(len(places)), *means])
    heads = ["clause type", "questions", *(each.configuration.name for each in run.outcomes)]
    return ["## MRR by clause type", "", *table(heads, rows)]


def _labels(run: SpanRun) -> list[str]:
    rows = []
    for each in run.outcomes:
        labels = [query.failure.label for query in each.queries if query.failure]
        rows.append([each.configuration.name, str(len(labels)), *(str(labels.count(label)) for label in FailureLabel)])
    return [
        "## Failures",
        "",
        "Questions without complete grounding, by label; the evidence stands in taxonomy.json.",
        "",
        *table(["configuration", "failed", *FailureLabel], rows),
    ]


def _provenance(run: SpanRun) -> list[str]:
    from knowledge_index import __version__

    signatures = {each.chunker_signature: str(each.configuration.chunking) for each in run.outcomes}
    extractors = sorted(
        {f"{each.extractor} {each.extractor_version}" for each in run.eval_set.documents if each.extractor}
    )
    lines = [
        "## Provenance",
        "",
        f"- knowledge_index {__version__}; embedding {run.embedding_signature}",
        f"- eval set {run.eval_set.name}, SHA-256 {run.eval_set.sha256}",
        *(f"- {words}: {signature}" for signature, words in signatures.items()),
        f"- rankings are {POOL} deep, k is {TOP_K}; hybrid fuses two lists of {POOL} by reciprocal rank fusion, "
        f"constant {PUBLISHED_RRF_K}",
    ]
    if extractors:
        lines.append(f"- texts made by {', '.join(extractors)}")
    if any(each.configuration.through_product for each in run.outcomes):
        lines.append(
            "- full goes through source, sync, run and search, a folder a document, asked within that folder; "
            f"max_chunks_per_document raised to {POOL}, and candidate_pool where it is smaller; its spans told in the "
            f"set's own text; else `{run.settings}`"
        )
    return [*lines, ""]
