"""A run through every store, judged by what it wrote and by no code of its own."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from span_sets import small_workshop

from knowledge_index.benchmark.spans.client_report import client_report
from knowledge_index.benchmark.spans.configurations import SCOPED_CONFIGURATIONS, select_configurations
from knowledge_index.benchmark.spans.report import report
from knowledge_index.benchmark.spans.run_files import prepare_folder, write_run_files
from knowledge_index.benchmark.spans.running import SpanRun, run_spans
from knowledge_index.domain.errors import UsageError
from small_firm import WordEmbedder

RERANKED = {"clause+rerank", "clause+hybrid+rerank"}
RAN = [each.name for each in SCOPED_CONFIGURATIONS if each.name not in RERANKED]


def write(run: SpanRun, folder: Path) -> Path:
    prepare_folder(folder)
    write_run_files(run, folder)
    (folder / "report.md").write_text(report(run), "utf-8")
    (folder / "client_report.md").write_text(client_report(run), "utf-8")
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spans")


@pytest.fixture(scope="module")
def written(base: Path) -> Path:
    with small_workshop(base) as (eval_set, workshop):
        return write(run_spans(eval_set, workshop, SCOPED_CONFIGURATIONS, None), base / "out")


def read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def rankings(written: Path, name: str) -> dict[str, dict[str, Any]]:
    lines = (written / f"rankings-{name}.jsonl").read_text("utf-8").splitlines()
    return {line["query_id"]: line for line in map(json.loads, lines)}


def overlap(one: list[int], other: list[int]) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def covered(span: list[int], chunks: list[list[int]]) -> float:
    held = {place for chunk in chunks for place in range(*chunk)} & set(range(*span))
    return len(held) / (span[1] - span[0])


def label_of(gold: list[list[int]], ranked: list[list[int]], chunks: list[list[int]], text: str) -> str | None:
    """The label by its definition in docs/spans.md, from the rankings file and the eval set alone."""
    failed = [span for span in gold if covered(span, ranked[:5]) < 0.5]
    if not failed:
        return None
    of_span = [[chunk for chunk in chunks if overlap(chunk, span)] for span in failed]
    relevant = [chunk for chunk in chunks if any(overlap(chunk, span) for span in failed)]
    if len(relevant) < 5 and all(chunk in ranked[:5] for chunk in relevant):
        return "ceiling-bound"
    for span in failed:
        assert text[span[0] : span[1]].strip() == text[span[0] : span[1]]
        if not any(chunk[0] <= span[0] and span[1] <= chunk[1] for chunk in chunks):
            return "chunk-severance"
    if any(not any(chunk in ranked for chunk in own) for own in of_span):
        return "retrieval-miss"
    if any(not any(chunk in ranked[:5] for chunk in own) for own in of_span):
        return "rank-miss"
    return "partial-grounding"


def test_labels_from_the_written_files_cover_every_failed_question_once(base: Path, written: Path) -> None:
    eval_set = read(base / "small.json")
    texts = {each["doc_id"]: each["text"] for each in eval_set["documents"]}
    taxonomy = read(written / "taxonomy.json")["configurations"]
    assert list(taxonomy) == RAN
    seen = set()
    for name in RAN:
        lines = rankings(written, name)
        expected = {}
        for query in eval_set["queries"]:
            line = lines[query["query_id"]]
            label = label_of(query["gold_spans"], line["ranked"], line["chunks"], texts[query["doc_id"]])
            if label:
                expected[query["query_id"]] = label
        failures = taxonomy[name]["failures"]
        assert {each["query_id"]: each["label"] for each in failures} == expected
        assert len(failures) == len(expected) == taxonomy[name]["failed"] == sum(taxonomy[name]["counts"].values())
        seen |= set(expected.values())
    # Else the test would prove little.
    assert {"rank-miss", "chunk-severance"} <= seen


def test_metrics_follow_from_the_written_rankings(base: Path, written: Path) -> None:
    gold = {each["query_id"]: each["gold_spans"] for each in read(base / "small.json")["queries"]}
    for entry in read(written / "per_query.json")["queries"]:
        for name, found in entry["configurations"].items():
            line = rankings(written, name)[entry["query_id"]]
            spans = gold[entry["query_id"]]
            relevant = [any(overlap(chunk, span) for span in spans) for chunk in line["ranked"]]
            total = sum(any(overlap(chunk, span) for span in spans) for chunk in line["chunks"])
            metrics = found["metrics"]
            assert metrics["precision@5"] == pytest.approx(sum(relevant[:5]) / 5)
            assert metrics["recall@10"] == pytest.approx(sum(relevant[:10]) / total)
            assert metrics["MRR"] == pytest.approx(1 / (relevant.index(True) + 1) if any(relevant) else 0)
            shares = [covered(span, line["ranked"][:5]) for span in spans]
            assert found["span_coverage"] == pytest.approx(shares)
            assert metrics["complete_grounding@5"] == all(share >= 0.5 for share in shares)
            missed = [span for span, share in zip(spans, shares, strict=True) if share < 0.5]
            assert found["missed_spans"] == missed


def test_every_chunk_of_the_document_is_written_and_rankings_have_no_chunk_twice(written: Path) -> None:
    for name in RAN:
        for line in rankings(written, name).values():
            own = [tuple(chunk) for chunk in line["ranked"] if chunk != [0, 0]]
            assert len(own) == len(set(own))
            assert set(own) <= {tuple(chunk) for chunk in line["chunks"]}
            assert len(line["ranked"]) <= 30


def test_document_scope_and_metadata_filter_let_through_what_they_say(base: Path, written: Path) -> None:
    countries = {each["doc_id"]: each["country"] for each in read(base / "small.json")["documents"]}
    found_elsewhere = set()
    for entry in read(written / "per_query.json")["queries"]:
        searched = {
            name: {chunk["doc_id"] for chunk in each["ranking"]} for name, each in entry["configurations"].items()
        }
        assert searched["clause"] == searched["full"] == {entry["doc_id"]}
        assert {countries[doc_id] for doc_id in searched["clause-filtered"]} == {countries[entry["doc_id"]]}
        found_elsewhere |= searched["clause-unfiltered"] - {entry["doc_id"]}
    assert found_elsewhere == set(countries)


def test_spans_of_the_product_count_the_characters_of_the_set(base: Path, written: Path) -> None:
    texts = {each["doc_id"]: each["text"] for each in read(base / "small.json")["documents"]}
    for query in read(base / "small.json")["queries"]:
        text = texts[query["doc_id"]]
        start = query["gold_spans"][0][0]
        end = start + 20
        holding = [
            chunk for chunk in rankings(written, "full")[query["query_id"]]["chunks"] if overlap(chunk, [start, end])
        ]
        # Every clause is of one chunk's length, and begins with its number.
        (chunk,) = holding
        assert re.match(r"\d\. [A-Z][a-z]+\. ", text[chunk[0] : chunk[1]])
        assert text[start:end] in text[chunk[0] : chunk[1]]


def test_what_cannot_run_reads_not_run(written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    for name in sorted(RERANKED):
        assert f"| {name} | not run |" in text
        assert f"- {name}: not run, retrieval.rerank_model is not set" in text
        assert not (written / f"rankings-{name}.jsonl").exists()
    assert "was not run: retrieval.rerank_model is not set" in (written / "client_report.md").read_text("utf-8")


def test_a_second_run_embeds_nothing_and_writes_the_same_bytes(base: Path, written: Path) -> None:
    embedder = WordEmbedder()
    with small_workshop(base, embedder) as (eval_set, workshop):
        again = write(run_spans(eval_set, workshop, SCOPED_CONFIGURATIONS, None), base / "again")
        assert workshop.embedder.computed == 0
        assert workshop.embedder.reused > 0
    assert embedder.asked == []
    names = sorted(each.name for each in written.iterdir())
    assert names == sorted(each.name for each in again.iterdir())
    for name in names:
        assert (again / name).read_bytes() == (written / name).read_bytes(), name
    assert list((base / "home" / "spans").iterdir()) == []


def test_configurations_that_share_a_chunker_share_its_index(base: Path, written: Path) -> None:
    with small_workshop(base) as (eval_set, workshop):
        run_spans(
            eval_set, workshop, select_configurations(SCOPED_CONFIGURATIONS, ["clause", "clause+bm25"]), "clause+bm25"
        )
        assert [each.name for each in workshop.folder.iterdir()] == ["clause"]


class LastWordFirst:
    """Keeps ``Reranker``: prefers what comes last in the alphabet."""

    def score(self, query: str, passages: list[str]) -> list[float]:
        return [float(sorted(passages).index(passage)) for passage in passages]


def test_a_reranker_orders_the_pool(base: Path, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "knowledge_index.benchmark.spans.working.build_reranker",
        lambda settings: LastWordFirst() if settings.rerank_enabled else None,
    )
    with small_workshop(base) as (eval_set, workshop):
        retrieval = workshop.config.retrieval.model_copy(update={"rerank_model": "made-up"})
        workshop = replace(workshop, config=workshop.config.model_copy(update={"retrieval": retrieval}))
        run = run_spans(eval_set, workshop, select_configurations(SCOPED_CONFIGURATIONS, ["clause+rerank"]), None)
    texts = {each.doc_id: each.text for each in eval_set.documents}
    for each in run.outcomes[0].queries:
        passages = [texts[chunk.place.doc_id][slice(*chunk.place.span)] for chunk in each.ranking]
        assert passages == sorted(passages, reverse=True)


def test_a_baseline_has_to_be_among_those_that_run(base: Path, written: Path) -> None:
    with small_workshop(base) as (eval_set, workshop):
        wanted = select_configurations(SCOPED_CONFIGURATIONS, ["naive", "clause+rerank"])
        with pytest.raises(UsageError, match=r"--baseline clause: is not among .* name it with --config too"):
            run_spans(eval_set, workshop, wanted, "clause")
        with pytest.raises(UsageError, match="rerank_model is not set"):
            run_spans(eval_set, workshop, wanted, "clause+rerank")
        with pytest.raises(UsageError, match="no configuration can run"):
            run_spans(eval_set, workshop, wanted[1:], None)


def test_an_unknown_configuration_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no configuration 'fulll'; there are naive, clause, .*, full"):
        select_configurations(SCOPED_CONFIGURATIONS, ["fulll"])


def test_no_number_stands_in_a_report_that_the_run_did_not_produce(written: Path) -> None:
    means = [
        f"{value:.3f}"
        for entry in read(written / "per_query.json")["queries"]
        for each in entry["configurations"].values()
        for value in each["metrics"].values()
    ]
    assert means
    text = (written / "report.md").read_text("utf-8")
    table = text.split("## Configurations")[1].split("What each of them is")[0]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] not in RAN:
            continue
        entries = read(written / "per_query.json")["queries"]
        for place, name in enumerate(entries[0]["configurations"][cells[0]]["metrics"], start=1):
            values = [entry["configurations"][cells[0]]["metrics"][name] for entry in entries]
            assert float(cells[place]) == pytest.approx(sum(values) / len(values), abs=5e-4)
