"""The table of contract_words.tsv: in what share of contracts' passages a word stands.

    python benchmarks/contract_words.py TEXTS --apart-from HOME > src/knowledge_index/index/contract_words.tsv

TEXTS is a folder of contracts as text, such as external/cuad/contracts. A contract that shares half of the 12-word runs
of a document of HOME with it is left out: HOME is an installation over the task set that retrieval is reported on, so
that the table is made of none of its papers. A passage is 170 words that follow each other; kept are terms of letters
alone, of two or more, that stand in a tenth of the contracts: what contracts say, and nobody's name.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

from knowledge_index.catalog import open_catalog
from knowledge_index.catalog.passage_records import RowKind
from knowledge_index.config.home import Home
from knowledge_index.index.analysis import indexing_analyzer, normalised

PASSAGE_WORDS = 170
LEAST_CONTRACT_SHARE = 0.1
RUN_WORDS = 12
LEAST_SHARED = 0.5
_WORD = re.compile(r"\w+")


def runs_of(text: str) -> list[int]:
    """Hashes of all runs of 12 words."""
    words = _WORD.findall(text.lower())
    return [hash(tuple(words[start : start + RUN_WORDS])) for start in range(len(words) - RUN_WORDS + 1)]


def reported_contracts(texts: dict[str, str], home: Home) -> set[str]:
    """The names of the texts that documents of the installation were made from."""
    name_of = {run: name for name, text in texts.items() for run in runs_of(text)}
    catalog = open_catalog(home.catalog_file)
    found = set()
    with catalog.transaction() as session:
        for _, text in session.passages.rows_with_text(RowKind.PROFILE):
            runs = runs_of(text)
            shared = Counter(name_of[run] for run in runs if run in name_of)
            for name, count in shared.most_common(1):
                if count >= LEAST_SHARED * len(runs):
                    found.add(name)
    catalog.close()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--apart-from", type=Path, required=True)
    arguments = parser.parse_args()
    texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(arguments.texts.glob("*.txt"))}
    for name in reported_contracts(texts, Home(arguments.apart_from)):
        del texts[name]
    analyzer = indexing_analyzer()
    passages_with: Counter[str] = Counter()
    contracts_with: Counter[str] = Counter()
    passages = 0
    for text in texts.values():
        words = text.split()
        in_contract: set[str] = set()
        for start in range(0, len(words), PASSAGE_WORDS):
            terms = set(analyzer.analyze(normalised(" ".join(words[start : start + PASSAGE_WORDS]))))
            passages_with.update(terms)
            in_contract |= terms
            passages += 1
        contracts_with.update(in_contract)
    print(
        f"# Share of {passages} passages of {len(texts)} contracts of CUAD v1 that hold a term of the English analyser."
    )
    print("# Counted by benchmarks/contract_words.py over the texts of CUAD v1, The Atticus Project, Inc., CC BY 4.0.")
    for term in sorted(contracts_with):
        if contracts_with[term] >= LEAST_CONTRACT_SHARE * len(texts) and term.isalpha() and len(term) > 1:
            print(f"{term}\t{passages_with[term] / passages:.6f}")


if __name__ == "__main__":
    main()
