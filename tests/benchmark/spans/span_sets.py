"""A small eval set, made-up rankers, and a run through every store with a made-up embedder."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from knowledge_index.benchmark.spans.configurations import SCOPED_CONFIGURATIONS, Configuration
from knowledge_index.benchmark.spans.eval_set import EvalDocument, EvalQuery, EvalSet, load_eval_set
from knowledge_index.benchmark.spans.failure_labels import label_failure
from knowledge_index.benchmark.spans.intervals import Span
from knowledge_index.benchmark.spans.metrics import ChunkingStatistics, chunks_by_document, mean_metrics, score_ranking
from knowledge_index.benchmark.spans.ranking import ChunkPlace, RankedChunk
from knowledge_index.benchmark.spans.running import ConfigurationOutcome, QueryOutcome, SpanRun
from knowledge_index.benchmark.spans.working import Workshop, open_workshop
from knowledge_index.config import AppConfig
from knowledge_index.config.home import Home
from knowledge_index.domain.progress import SilentProgress
from small_firm import WordEmbedder


def places(*spans: tuple[int, int], doc_id: str = "a") -> list[ChunkPlace]:
    return [ChunkPlace(doc_id, Span(*span)) for span in spans]


def ranked(*chunks: ChunkPlace) -> tuple[RankedChunk, ...]:
    return tuple(RankedChunk(place, 1.0 / rank) for rank, place in enumerate(chunks, start=1))


def query(*gold: tuple[int, int], query_id: str = "q1", doc_id: str = "a", clause_type: str = "Notice") -> EvalQuery:
    return EvalQuery(query_id, doc_id, clause_type, f"What about {query_id}?", tuple(Span(*each) for each in gold), {})


def outcome(
    configuration: Configuration,
    chunks: Sequence[ChunkPlace],
    rankings: Sequence[tuple[EvalQuery, Sequence[ChunkPlace]]],
    texts: dict[str, str],
) -> ConfigurationOutcome:
    """What a configuration gives that ranks just so."""
    by_document = chunks_by_document(chunks)
    queries = []
    for asked, order in rankings:
        own, ranking = by_document.get(asked.doc_id, []), ranked(*order)
        failure = label_failure(asked, texts[asked.doc_id], ranking, own)
        queries.append(QueryOutcome(asked, ranking, score_ranking(asked, ranking, own), failure))
    statistics = ChunkingStatistics(len(chunks), 10.0, 1.0, 1.0, 0.2, None)
    means = mean_metrics([each.metrics for each in queries])
    return ConfigurationOutcome(configuration, "made up", statistics, means, tuple(queries), by_document)


def run_of(outcomes: Sequence[ConfigurationOutcome], texts: dict[str, str]) -> SpanRun:
    """A run whose baseline is the first of the outcomes."""
    documents = tuple(EvalDocument(doc_id, doc_id, text, {}) for doc_id, text in texts.items())
    queries = tuple(each.query for each in outcomes[0].queries)
    return SpanRun(EvalSet("made up", "0" * 64, documents, queries), tuple(outcomes), (), outcomes[0], "made up", "{}")


def configuration(name: str) -> Configuration:
    return next(each for each in SCOPED_CONFIGURATIONS if each.name == name)


_SUBJECTS = (
    (
        "Delivery",
        "The seller brings the gearboxes to the quay at its own cost and tells the buyer ten days ahead of it.",
    ),
    ("Price", "The price of a gearbox is forty thousand euros net, and an invoice falls due after thirty days."),
    (
        "Liability",
        "Either party answers without limit for intent; else liability ends at the price of the lot concerned.",
    ),
    (
        "Term",
        "This agreement runs for three years and is renewed for another year unless a party gives notice in time.",
    ),
    (
        "Secrecy",
        "What a party learns of the other's trade is kept secret for five years after the end of the agreement.",
    ),
    (
        "Law",
        "German law governs, the convention on the sale of goods left out, and the courts of Kiel have jurisdiction.",
    ),
    (
        "Transfer",
        "No party may assign a right from this agreement to a third party without the other's written consent.",
    ),
    ("Audit", "The buyer may inspect the seller's books once a year, at a time on which both have agreed beforehand."),
)


def contract(party: str) -> str:
    """A paper of clauses of about 250 characters, with blanks and umlauts that a converter changes."""
    lines = [f"SUPPLY AGREEMENT between {party} and Kranwerk Su\u0308d\u00a0GmbH\r\n"]
    for number, (title, wording) in enumerate(_SUBJECTS, start=1):
        lines.append(f"{number}. {title}. {wording} {party} accepts this. {'It holds for every lot alike. ' * 4}  \r\n")
    return "\r\n".join(lines)


def write_small_set(file: Path) -> Path:
    """Three papers, eight questions each; gold is a clause, a part of two, or over a boundary."""
    documents = [
        {"doc_id": name, "title": f"Supply {name}", "text": contract(name), "country": country}
        for name, country in (("Nordkai", "DE"), ("Alster", "DE"), ("Elbe", "AT"))
    ]
    queries = []
    for each in documents:
        text = each["text"]
        for title, wording in _SUBJECTS:
            start = text.index(wording)
            spans = [[start, start + len(wording)]]
            if title == "Secrecy":
                # Into the next clause.
                spans[0][1] = text.index("German law") + 60
            if title == "Price":
                spans.append([text.index("Either"), text.index("Either") + 20])
            queries.append(
                {
                    "query_id": f"{each['doc_id']}-{title}",
                    "doc_id": each["doc_id"],
                    "clause_type": title,
                    "query": f"Which rule is there about {' '.join(wording.split()[3:9])}?",
                    "gold_spans": spans,
                    "filters": {"country": each["country"]},
                }
            )
    file.write_text(json.dumps({"meta": {"name": "small"}, "documents": documents, "queries": queries}), "utf-8")
    return file


@dataclass(frozen=True)
class WordCounter:
    """Keeps ``TokenCounter``: a token a word."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@contextmanager
def small_workshop(folder: Path, embedder: WordEmbedder | None = None) -> Iterator[tuple[EvalSet, Workshop]]:
    """The small set and a workshop over it, in a home under ``folder`` that a second call finds again."""
    eval_set = load_eval_set(write_small_set(folder / "small.json"))
    home = Home(folder / "home")
    home.create()
    with open_workshop(
        home, AppConfig(), eval_set.documents, embedder or WordEmbedder(), WordCounter(), SilentProgress()
    ) as workshop:
        yield eval_set, workshop
