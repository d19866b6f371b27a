"""Runs and gold as TREC files, so that any outside tool can score them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from knowledge_index.benchmark.gold_types import GoldQuery
from knowledge_index.benchmark.metrics import run_scores
from knowledge_index.benchmark.presets import PresetName
from knowledge_index.benchmark.rankings import Ranking, canonical_path, group_id
from knowledge_index.domain.errors import UsageError

QRELS_FILE_NAME = "qrels.txt"
DOCUMENTS_FILE_NAME = "documents.tsv"
README_FILE_NAME = "README.txt"

_README = """\
qrels.txt      query, 0, document id, grade; one line for every gold group
<preset>.run   query, Q0, document id, rank, score, preset; TREC run format
documents.tsv  which path or paths each document id stands for

A document id is a gold group (g...) or a hit outside the gold (x...). A later hit of one already
found ends in #2, #3, ...: it takes its place and never counts again. Scores only mirror the rank.
Score queries that a run misses as 0: ir_measures qrels.txt full.run 'nDCG@10 R@20 RR@10'
(trec_eval needs -c).
"""


def write_run_files(
    queries: Sequence[GoldQuery], rankings: Mapping[PresetName, Sequence[Ranking]], folder: Path
) -> None:
    """Write ``qrels.txt``, one ``<preset>.run`` each, and ``documents.tsv`` into ``folder``, made if absent.

    Raises:
        UsageError: the folder cannot be written to.
    """
    documents: dict[str, str] = {}
    for query in queries:
        for group in query.groups:
            documents[group_id(group)] = "\t".join(sorted(canonical_path(path) for path in group.paths))
    for runs in rankings.values():
        for ranking in runs:
            for hit in ranking.hits:
                documents.setdefault(hit.document_id.partition("#")[0], hit.path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / README_FILE_NAME, _README.splitlines())
        _write(folder / QRELS_FILE_NAME, _qrels(queries))
        _write(folder / DOCUMENTS_FILE_NAME, [f"{name}\t{documents[name]}" for name in sorted(documents)])
        for preset, runs in rankings.items():
            _write(folder / f"{preset}.run", _run(preset, runs))
    except OSError as error:
        raise UsageError(f"{folder}: run files cannot be written ({error.strerror}); name another --run-dir") from error


def _qrels(queries: Sequence[GoldQuery]) -> list[str]:
    return [f"{query.gold_id} 0 {group_id(group)} {group.grade}" for query in queries for group in query.groups]


def _run(preset: PresetName, rankings: Sequence[Ranking]) -> list[str]:
    return [
        f"{ranking.gold_id} Q0 {hit.document_id} {rank} {score:g} {preset}"
        for ranking in rankings
        for rank, (hit, score) in enumerate(zip(ranking.hits, run_scores(ranking), strict=True), start=1)
    ]


def _write(file: Path, lines: Sequence[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
