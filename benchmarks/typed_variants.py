"""How much a search loses when a pasted value is typed otherwise than it stands in the paper.

    python benchmarks/typed_variants.py --home HOME --gold NAME|FILE [--preset full]

HOME is an installation in which the gold's firm is indexed. Of each factoid query five variants are made: in lower
case; without punctuation; in part; the first words; and, where it holds a date, the date in its German form. Each is
compared in nDCG@10 with the exact form of the same queries, as their quotient and as a difference with a 95 % interval
from resampling scenarios. A query that a variant does not change is left out of that variant.

In part: of an amount the number without its currency, of a date day and month without the year, of anything else the
first 60 % of the words. First words: the first 60 % of the words of any value. What is left may be less than a search
can answer: "last for" stands in many papers. So each part is looked up in the texts of all documents that its caller
may see, as a run of whole words in any case. Where a document that is no right answer holds it too, the part does not
say what is meant: parts are reported together, then clear and ambiguous ones apart. Which ones these are is a fact of
the texts, whatever the search finds.

"By chance" is what somebody would score who finds all papers that hold the words typed and no other, and cannot tell
them apart: the mean nDCG@10 over all orders of these papers, each with one place.
"""

import argparse
import dataclasses
import math
import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path

from knowledge_index.access import compile_scope
from knowledge_index.benchmark.evaluation import SEARCH_LIMIT
from knowledge_index.benchmark.freezing import load_frozen_gold
from knowledge_index.benchmark.gold_types import GoldKind, GoldQuery
from knowledge_index.benchmark.metrics import score_rankings
from knowledge_index.benchmark.presets import PresetName, preset
from knowledge_index.benchmark.rankings import rank_hits
from knowledge_index.benchmark.statistics import paired_cluster_bootstrap
from knowledge_index.catalog import CatalogSession, open_catalog
from knowledge_index.catalog.passage_records import RowKind
from knowledge_index.config import load_config
from knowledge_index.config.home import Home
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.identifiers import IdentifierKind, extract_identifiers
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed import build_embedder
from knowledge_index.retrieval import open_retrieval

PARTIAL_SHARE = 0.6
IN_PART = "in part"
FIRST_WORDS = "first words"
GERMAN_MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)
# Typographic marks beside those of ASCII.
_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}–—’‘“”„«»§…·]")
_NUMBER = re.compile(r"\d[\d.,' ]*\d|\d")
_YEAR_AT_END = re.compile(r"[\s,]+\d{4}\s*$")
# A number with its separators is one word, so that "140,000" is not found in "1,140,000".
_WORD = re.compile(r"\w(?:[\w.,’'/-]*\w)?")


def without_punctuation(query: str) -> str:
    """Every mark becomes a blank, as someone types who does not look for it on the keyboard."""
    return " ".join(_PUNCTUATION.sub(" ", query).split())


def in_part(query: str) -> str:
    """The number of an amount, day and month of a date, else the first 60 % of the words, at least one."""
    found = extract_identifiers(query)
    if found and found[0].raw == query.strip():
        if found[0].kind is IdentifierKind.AMOUNT and (number := _NUMBER.search(query)):
            return number[0]
        if found[0].kind is IdentifierKind.DATE and (year := _YEAR_AT_END.search(query)):
            return query[: year.start()]
    return first_words(query)


def first_words(query: str) -> str:
    """The first 60 % of the words, at least one."""
    words = query.split()
    return " ".join(words[: max(1, math.floor(PARTIAL_SHARE * len(words)))])


def with_german_dates(query: str) -> str:
    """``March 1, 2026`` as ``1. März 2026``; anything else stays."""
    typed = query
    for each in reversed(extract_identifiers(query)):
        if each.kind is IdentifierKind.DATE:
            day = date.fromisoformat(each.normalised)
            german = f"{day.day}. {GERMAN_MONTHS[day.month - 1]} {day.year}"
            typed = f"{typed[: each.start_char]}{german}{typed[each.end_char :]}"
    return typed


VARIANTS: dict[str, Callable[[str], str]] = {
    "lower case": str.lower,
    "no punctuation": without_punctuation,
    IN_PART: in_part,
    FIRST_WORDS: first_words,
    "German date": with_german_dates,
}


def variants_of(queries: Sequence[GoldQuery]) -> dict[str, list[GoldQuery]]:
    """The typed form of each query that it changes, by variant."""
    made = {
        name: [dataclasses.replace(each, query=typed(each.query)) for each in queries]
        for name, typed in VARIANTS.items()
    }
    exact = {each.gold_id: each.query for each in queries}
    return {
        name: [each for each in typed if each.query.strip() and each.query != exact[each.gold_id]]
        for name, typed in made.items()
    }


def running_words(text: str) -> str:
    """The words of a text in lower case with one blank around each."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFC', text).casefold()))} "


@dataclasses.dataclass(frozen=True)
class SeenText:
    """The running words of a document that a caller may see, and the paper that it is a version of."""

    words: str
    paper: str


def texts_seen_by(session: CatalogSession, scope: Scope) -> dict[str, SeenText]:
    """Every document in the scope, by path."""
    text_of = {row.row_key: text for row, text in session.passages.rows_with_text(RowKind.PROFILE)}
    return {
        each.path: SeenText(running_words(text_of[each.row_key]), each.document_key)
        for each in session.occurrences.of_rows(text_of.keys(), scope)
    }


def holders(query: GoldQuery, seen: Mapping[str, SeenText]) -> set[str]:
    """The paths of the documents that hold the query's words one after the other."""
    asked = running_words(query.query)
    return {path for path, text in seen.items() if asked in text.words}


def says_what_is_meant(query: GoldQuery, seen: Mapping[str, SeenText]) -> bool:
    """Whether no document that the caller may see holds the query's words, but those that are right."""
    return holders(query, seen) <= {path for group in query.groups for path in group.paths}


def ndcg_by_chance(query: GoldQuery, seen: Mapping[str, SeenText]) -> float:
    """The mean nDCG@10 over all orders of the papers that hold the query's words, each with one place."""
    holding = holders(query, seen)
    papers = {seen[path].paper for path in holding}
    right = sum(not holding.isdisjoint(group.paths) for group in query.groups)
    discounts = [1 / math.log2(rank + 1) for rank in range(1, 11)]
    if not papers:
        return 0.0
    return right / len(papers) * math.fsum(discounts[: len(papers)]) / math.fsum(discounts[: len(query.groups)])


def main() -> None:
    """Measure and print one line a variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--gold", required=True)
    parser.add_argument("--preset", type=PresetName, default=PresetName.FULL)
    arguments = parser.parse_args()
    home = Home(arguments.home)
    config = load_config(home.folder, {}).config
    settings = preset(arguments.preset, config.retrieval)
    queries = [each for each in load_frozen_gold(arguments.gold).queries if each.kind is GoldKind.FACTOID]
    catalog = open_catalog(home.catalog_file)
    try:
        service = open_retrieval(home, catalog, config, build_embedder(config.embedding))
        with catalog.transaction() as session:
            scopes = {each.principal: compile_scope(session, frozenset({each.principal})) for each in queries}

        def ndcg_of(asked: Sequence[GoldQuery]) -> dict[str, float]:
            rankings = [
                rank_hits(
                    each,
                    service.search(each.query, scopes[each.principal], settings, SearchFilters(), SEARCH_LIMIT).hits,
                )
                for each in asked
            ]
            return {gold_id: each.ndcg_at_10 for gold_id, each in score_rankings(asked, rankings).items()}

        exact = ndcg_of(queries)
        print(f"{len(queries)} factoid queries, exact: nDCG@10 {math.fsum(exact.values()) / len(exact):.3f}")
        variants = variants_of(queries)
        with catalog.transaction() as session:
            seen = {principal: texts_seen_by(session, scope) for principal, scope in scopes.items()}
        for name in (IN_PART, FIRST_WORDS):
            clear = {each.gold_id for each in variants[name] if says_what_is_meant(each, seen[each.principal])}
            variants |= {
                f"{name}, clear": [each for each in variants[name] if each.gold_id in clear],
                f"{name}, ambiguous": [each for each in variants[name] if each.gold_id not in clear],
            }
        for name, asked in variants.items():
            if not asked:
                print(f"  {name:22} no query is changed by it")
                continue
            typed = ndcg_of(asked)
            mean = math.fsum(typed.values()) / len(asked)
            mean_exact = math.fsum(exact[each.gold_id] for each in asked) / len(asked)
            found = paired_cluster_bootstrap(
                [typed[each.gold_id] - exact[each.gold_id] for each in asked], [each.scenario_id for each in asked]
            )
            relative = mean / mean_exact if mean_exact else math.nan
            interval = "none" if found.low is None else f"{found.low:+.3f} to {found.high:+.3f}"
            print(
                f"  {name:22} {len(asked):4} queries  nDCG@10 {mean:.3f} of {mean_exact:.3f} = {relative:6.1%}"
                f"  difference {found.mean:+.3f} ({interval})"
            )
            if name.startswith((IN_PART, FIRST_WORDS)):
                chance = math.fsum(ndcg_by_chance(each, seen[each.principal]) for each in asked) / len(asked)
                print(f"  {'':22} by chance among the papers that hold the words: {chance:.3f}")
    finally:
        catalog.close()


if __name__ == "__main__":
    main()
