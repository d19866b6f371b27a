"""What was typed: values that stand in papers as they are, quotations, and the rest."""

import re
from dataclasses import dataclass
from functools import lru_cache

from knowledge_index.domain.identifiers import Identifier, extract_identifiers

# Straight and typographic, English and German; an apostrophe opens no quotation.
_QUOTATION = re.compile(r"[\"“„«»”]([^\"“”„«»]{2,400})[\"“”«»]")
_VALUE_SHARE = 0.6


@dataclass(frozen=True)
class QueryAnalysis:
    """A query taken apart.

    ``identifiers`` are references, register and account numbers, dates and amounts. ``is_identifier``: they are the
    query, so that a paper which holds them is what is asked for. ``quotations`` are the wordings in quotation marks,
    where there is more around them.
    """

    query: str
    identifiers: tuple[Identifier, ...]
    is_identifier: bool
    quotations: tuple[str, ...]

    @property
    def identifier_terms(self) -> frozenset[str]:
        """The index terms of the identifiers."""
        return frozenset(each.term for each in self.identifiers)


@lru_cache(maxsize=256)
def analyse_query(query: str) -> QueryAnalysis:
    """Take a query apart; a function of its text alone."""
    identifiers = tuple(extract_identifiers(query))
    visible_chars = sum(not each.isspace() for each in query)
    covered = {place for each in identifiers for place in range(each.start_char, each.end_char)}
    covered_chars = sum(not query[place].isspace() for place in covered)
    quotations = tuple(match[1].strip() for match in _QUOTATION.finditer(query) if len(match[0]) < len(query.strip()))
    return QueryAnalysis(
        query=query,
        identifiers=identifiers,
        is_identifier=bool(identifiers) and covered_chars >= _VALUE_SHARE * visible_chars,
        quotations=tuple(each for each in quotations if each),
    )
