"""What each mechanism of a search is worth on the span sets: full without it, question by question.

    python benchmarks/span_ablations.py scoped EVAL_SET.json --home HOME
    python benchmarks/span_ablations.py corpus BENCHMARK.json --corpus DIR --home HOME

HOME gives the settings and keeps the vectors. The documents are indexed once, as ``full`` of ``ki spans run`` and
``full-500`` of ``ki spans run-corpus`` have them; every preset of ``--baseline ablations`` searches that one index. A
difference is a preset's value less that of full, with a 95 % interval: from resampling questions where each is asked of
its own document, from resampling documents where all are asked of the whole corpus. The p-values of one metric are one
family. ``--resample documents`` resamples documents in the first case too.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from knowledge_index.benchmark.presets import ABLATIONS, PresetName, preset, presets_of
from knowledge_index.benchmark.spans.comparing import is_resolvable
from knowledge_index.benchmark.spans.configurations import (
    CORPUS_CONFIGURATIONS,
    SCOPED_CONFIGURATIONS,
    Configuration,
    select_configurations,
)
from knowledge_index.benchmark.spans.corpus import CUTOFFS, DEPTH, load_corpus_benchmark, score_corpus_ranking
from knowledge_index.benchmark.spans.eval_set import EvalDocument, load_eval_set
from knowledge_index.benchmark.spans.metrics import POOL, chunks_by_document, score_ranking
from knowledge_index.benchmark.spans.product_ranking import ProductRanker
from knowledge_index.benchmark.spans.working import open_workshop
from knowledge_index.benchmark.statistics import CONFIDENCE_LEVEL, holm_adjusted, paired_cluster_bootstrap
from knowledge_index.config import AppConfig, RetrievalSettings, load_config
from knowledge_index.config.home import Home
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.embed import build_embedder

# By preset, the metrics' values, each of all questions in their order.
Values: TypeAlias = Mapping[PresetName, Mapping[str, Sequence[float]]]


def comparison_rows(values: Values, clusters: Sequence[str], digits: int) -> list[str]:
    """A Markdown table: full's means, then every other preset's differences to full; a column for each metric."""
    full = values[PresetName.FULL]
    others = [name for name in values if name is not PresetName.FULL]
    cells: dict[PresetName, list[str]] = {name: [] for name in others}
    for metric, base in full.items():
        found = [
            paired_cluster_bootstrap([new - old for old, new in zip(base, values[name][metric], strict=True)], clusters)
            for name in others
        ]
        adjusted = holm_adjusted([each.p_value for each in found])
        for name, each, p_holm in zip(others, found, adjusted, strict=True):
            resolved = is_resolvable(each) and p_holm < 1 - CONFIDENCE_LEVEL
            verdict = f"p {p_holm:.4f}" if resolved else "not resolvable"
            assert each.low is not None, "the sets have more than one document"
            assert each.high is not None
            cells[name].append(
                f"{each.mean:+.{digits}f} ({each.low:+.{digits}f} to {each.high:+.{digits}f}), {verdict}"
            )
    means = [f"{metric} {sum(base) / len(base):.{digits}f}" for metric, base in full.items()]
    return [
        f"| `full` without | {' | '.join(means)} |",
        "|" + "---|" * (len(means) + 1),
        *(f"| `{name}` | {' | '.join(row)} |" for name, row in cells.items()),
    ]


def scoped_rows(file: Path, home: Home, config: AppConfig, *, resample_documents: bool) -> list[str]:
    """Each question asked of its own contract."""
    loaded = load_eval_set(file)

    def scored(ranker: ProductRanker, settings: RetrievalSettings) -> dict[str, list[float]]:
        chunks = chunks_by_document([each.place for each in ranker.chunks])
        metrics = [
            score_ranking(
                query,
                ranker.rank_under(settings, query.query, frozenset({query.doc_id}), POOL),
                chunks[query.doc_id],
            )
            for query in loaded.queries
        ]
        return {
            "MRR": [each.mrr for each in metrics],
            "coverage": [each.span_coverage_at_5 for each in metrics],
            "grounding": [each.complete_grounding_at_5 for each in metrics],
        }

    (configuration,) = select_configurations(SCOPED_CONFIGURATIONS, ["full"])
    values = _measured(home, config, loaded.documents, configuration, scored)
    return comparison_rows(values, [each.doc_id if resample_documents else each.query_id for each in loaded.queries], 3)


def corpus_rows(file: Path, corpus: Path, home: Home, config: AppConfig) -> list[str]:
    """Each question asked of all documents."""
    loaded = load_corpus_benchmark(file, corpus, None)

    def scored(ranker: ProductRanker, settings: RetrievalSettings) -> dict[str, list[float]]:
        metrics = [
            score_corpus_ranking(query, [each.place for each in ranker.rank_under(settings, query.query, None, DEPTH)])
            for query in loaded.queries
        ]
        return {
            "precision@1": [each.precision[CUTOFFS.index(1)] for each in metrics],
            "recall@16": [each.recall[CUTOFFS.index(16)] for each in metrics],
            "recall@64": [each.recall[CUTOFFS.index(64)] for each in metrics],
        }

    (configuration,) = select_configurations(CORPUS_CONFIGURATIONS, ["full-500"])
    values = _measured(home, config, loaded.documents, configuration, scored)
    return comparison_rows(values, [each.cluster for each in loaded.queries], 1)


def _measured(
    home: Home,
    config: AppConfig,
    documents: Sequence[EvalDocument],
    configuration: Configuration,
    scored: Callable[[ProductRanker, RetrievalSettings], dict[str, list[float]]],
) -> Values:
    with (
        open_workshop(home, config, documents, build_embedder(config.embedding), None, SilentProgress()) as workshop,
        workshop.ranker(configuration) as ranker,
    ):
        assert isinstance(ranker, ProductRanker)
        return {name: scored(ranker, preset(name, config.retrieval)) for name in presets_of(ABLATIONS)}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sets = parser.add_subparsers(dest="set", required=True)
    scoped = sets.add_parser("scoped", help="each question asked of its own document")
    scoped.add_argument("file", type=Path, metavar="EVAL_SET.json")
    scoped.add_argument("--resample", choices=("questions", "documents"), default="questions")
    corpus = sets.add_parser("corpus", help="each question asked of all documents")
    corpus.add_argument("file", type=Path, metavar="BENCHMARK.json")
    corpus.add_argument("--corpus", type=Path, required=True)
    for each in (scoped, corpus):
        each.add_argument("--home", type=Path, required=True)
    arguments = parser.parse_args()
    home = Home(arguments.home)
    home.create()
    config = load_config(home.folder, os.environ).config
    if arguments.set == "scoped":
        rows = scoped_rows(arguments.file, home, config, resample_documents=arguments.resample == "documents")
    else:
        rows = corpus_rows(arguments.file, arguments.corpus, home, config)
    print("\n".join(rows))


if __name__ == "__main__":
    main()
