"""client_report.md: where retrieval stands, for those who decide what is done next."""

from knowledge_index.benchmark.spans.comparing import difference_words
from knowledge_index.benchmark.spans.failure_labels import FailureLabel, SpanEvidence
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.levers import BacklogEntry, LeverDelta, fix_backlog
from knowledge_index.benchmark.spans.markdown import quoted, table
from knowledge_index.benchmark.spans.metrics import TOP_K
from knowledge_index.benchmark.spans.report import NOT_RUN, lever_setting, number
from knowledge_index.benchmark.spans.running import QueryOutcome, SpanRun

_EXAMPLES = 2
_SHOWN_SPANS = 3
_WORDING_CHARS = 300
_MEANINGS = {
    FailureLabel.CEILING_BOUND: "Everything that is relevant was shown: there is nothing to fix in retrieval.",
    FailureLabel.CHUNK_SEVERANCE: "The wording is split over several chunks, so that no single hit can show it whole.",
    FailureLabel.RETRIEVAL_MISS: "The passage was not among the candidates at all.",
    FailureLabel.RANK_MISS: f"The passage was among the candidates, but below the first {TOP_K}.",
    FailureLabel.PARTIAL_GROUNDING: f"The first {TOP_K} show a part of the wording, less than half of it.",
}


def client_report(run: SpanRun) -> str:
    """The report in Markdown; four sections."""
    backlog = fix_backlog(run)
    lines = [
        f"# Retrieval on {run.eval_set.name}",
        "",
        *_standing(run),
        *_patterns(run, backlog),
        *_backlog(run, backlog),
        *_scope(run),
    ]
    return "\n".join(lines)


def _standing(run: SpanRun) -> list[str]:
    asked = len(run.eval_set.queries)
    base = run.baseline
    complete = sum(each.failure is None for each in base.queries)
    rows = []
    for each in run.outcomes:
        grounded = sum(query.failure is None for query in each.queries)
        rows.append(
            [
                each.configuration.name,
                f"{grounded} of {asked}",
                number(each.means.span_coverage_at_5),
                number(each.means.mrr),
            ]
        )
    rows += [[each.configuration.name, NOT_RUN, NOT_RUN, NOT_RUN] for each in run.not_run]
    return [
        "## 1. Where retrieval stands",
        "",
        f"With `{base.configuration.name}`, {complete} of {asked} questions find every passage that answers them among "
        f"the first {TOP_K} hits; {asked - complete} do not. The sections below are about those.",
        "",
        *table(["configuration", "questions answered in full", "share of the wording shown", "MRR"], rows),
    ]


def _patterns(run: SpanRun, backlog: tuple[BacklogEntry, ...]) -> list[str]:
    lines = ["## 2. Top failure patterns", ""]
    if not backlog:
        return [*lines, "No question failed.", ""]
    texts = {each.doc_id: each.text for each in run.eval_set.documents}
    titles = {each.doc_id: each.title or each.doc_id for each in run.eval_set.documents}
    for entry in backlog:
        lines += [f"### {entry.label}: {len(entry.failures)} questions", "", _MEANINGS[entry.label], ""]
        for each in entry.failures[:_EXAMPLES]:
            lines += _example(each, texts[each.query.doc_id], titles[each.query.doc_id])
    return lines


def _example(each: QueryOutcome, text: str, title: str) -> list[str]:
    assert each.failure is not None
    clause_type = f", {each.query.clause_type}" if each.query.clause_type else ""
    lines = [f"- **{each.query.query_id}**{clause_type}, in {quoted(title)}: {quoted(each.query.query)}"]
    failed = each.failure.failed_spans
    lines += [
        f"  - missed: {quoted(_wording(text, span.span))} ({_whereabouts(span)})" for span in failed[:_SHOWN_SPANS]
    ]
    if len(failed) > _SHOWN_SPANS:
        lines.append(f"  - and {len(failed) - _SHOWN_SPANS} more, which taxonomy.json lists")
    return [*lines, ""]


def _wording(text: str, span: Span) -> str:
    words = " ".join(text[span.start : span.end].split())
    return words if len(words) <= _WORDING_CHARS else words[: _WORDING_CHARS + 1].rpartition(" ")[0] + " …"


def _whereabouts(span: SpanEvidence) -> str:
    ranks = [chunk.rank for chunk in span.chunks if chunk.rank is not None]
    where = f"best rank {min(ranks)}" if ranks else "not among the candidates"
    return f"characters {span.span.start} to {span.span.end}, {span.coverage:.0%} shown, {where}"


def _backlog(run: SpanRun, backlog: tuple[BacklogEntry, ...]) -> list[str]:
    rows = []
    for entry in backlog:
        failures = str(len(entry.failures))
        if not entry.levers:
            rows.append([entry.label, failures, "none: nothing to fix", "", "", ""])
        for lever in entry.levers:
            deltas = [delta for delta in entry.deltas if delta.lever is lever]
            if not deltas:
                rows.append([entry.label, failures, lever.words, "", "not measured", ""])
            for delta in deltas:
                resolved = f"{delta.resolved} of {failures}"
                words = difference_words(delta.difference)
                change = f"{lever.words}: {_change(run, delta)}"
                rows.append([entry.label, failures, change, delta.configuration, words, resolved])
    base = run.baseline.configuration.name
    return [
        "## 3. Fix backlog",
        "",
        f"The most frequent failures of `{base}` first. A lever's delta is the difference in complete_grounding@5 over "
        f"all questions between `{base}` and a configuration that differs from it in that lever alone, with its "
        "interval; where this run holds no such configuration it was not measured.",
        "",
        *table(["failure", "questions", "lever", "measured by", "delta", "of these resolved"], rows),
    ]


def _change(run: SpanRun, delta: LeverDelta) -> str:
    outcome = run.outcome(delta.configuration)
    assert outcome is not None
    before, after = (lever_setting(getattr(each.configuration, delta.lever.value)) for each in (run.baseline, outcome))
    return f"{before} to {after}"


def _scope(run: SpanRun) -> list[str]:
    documents, queries = run.eval_set.documents, run.eval_set.queries
    types = {query.clause_type for query in queries if query.clause_type}
    spans = sum(len(query.gold_spans) for query in queries)
    asked_of = len({query.doc_id for query in queries})
    return [
        "## 4. Scope",
        "",
        f"- {len(queries)} questions of {len(types)} clause types, asked of {asked_of} of {len(documents)} documents; "
        f"{spans} gold spans.",
        "- Measured is whether the right characters are retrieved, by arithmetic on offsets. No model judged anything, "
        "and no answer was written.",
        "- The gold spans are taken as given: a passage that answers a question and is not annotated counts as "
        "irrelevant.",
        *(f"- `{each.configuration.name}` was {NOT_RUN}: {each.reason}." for each in run.not_run),
        "",
    ]
