"""Small sets to compare models on."""

import csv
import json
from pathlib import Path

TOPICS = ["rent", "lease", "tenant", "notice", "cake", "plum"]


def write_beir(folder: Path, splits: tuple[str, ...] = ("test",), pairs: int = 12) -> Path:
    """Documents of two topics each, and queries that name both topics of one."""
    folder.mkdir(parents=True)
    corpus, queries, judged = [], [], []
    for number in range(pairs):
        first, second = TOPICS[number % 6], TOPICS[(number // 2 + 1) % 6]
        corpus.append({"_id": f"d{number}", "title": f"{first} {number}", "text": f"The {first} and the {second}."})
        queries.append({"_id": f"q{number}", "text": f"{first} {second} {number}"})
        judged.append((f"q{number}", f"d{number}", 1))
    (folder / "corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in corpus))
    (folder / "queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in queries))
    (folder / "qrels").mkdir()
    for place, split in enumerate(splits):
        with (folder / "qrels" / f"{split}.tsv").open("w", newline="") as stream:
            writer = csv.writer(stream, delimiter="\t")
            writer.writerow(["query-id", "corpus-id", "score"])
            writer.writerows(judged[place :: len(splits)])
    return folder


def write_contract_nli(folder: Path, contracts: int = 6) -> Path:
    """LegalBench-RAG's form: each contract has a question on its notice."""
    (folder / "benchmarks").mkdir(parents=True)
    (folder / "corpus" / "contractnli").mkdir(parents=True)
    tests = []
    for number in range(contracts):
        path = f"contractnli/nda-{number}.txt"
        clause = f"Notice is given to party {number} in writing."
        filler = f"The {number} parties keep secret what they learn from each other under this agreement. " * 5
        text = f"1. Secrecy\n{filler}\n2. Notice\n{clause} {filler}\n"
        (folder / "corpus" / path).write_text(text)
        start = text.index(clause)
        snippet = {"file_path": path, "span": [start, start + len(clause)], "answer": clause}
        tests.append({"query": f"How is notice given to party {number}?", "snippets": [snippet]})
    (folder / "benchmarks" / "contractnli.json").write_text(json.dumps({"tests": tests}))
    return folder
