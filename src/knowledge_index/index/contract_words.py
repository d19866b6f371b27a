"""How common words are in contracts at large, which a caller's few matters cannot tell.

Who sees three matters of one client sees that client's name in every second row, and "indemnify" in few: counted over
what may be seen alone, the name looks common and the boilerplate rare. So some rows of contracts at large are counted
beside the visible ones. They are a table that ships with the product, the same for every caller and every estate, so
that nothing behind a wall is in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_TABLE_NAME = "contract_words.tsv"
# A word that is not in the table stands in fewer rows than any that is.
_UNLISTED_SHARE = 1e-4
_LEAST_KNOWN_SHARE = 1 / 3


@dataclass(frozen=True)
class ContractRows:
    """``rows`` imagined rows of contracts, of which each term is in its share."""

    rows: int
    share_of: Mapping[str, float]

    def holding(self, term: str) -> float:
        """In how many of the rows an index term of a word stands."""
        return self.rows * self.share_of.get(term, _UNLISTED_SHARE)

    @property
    def holding_unlisted(self) -> float:
        """In how many of the rows a term stands that is in no table."""
        return self.rows * _UNLISTED_SHARE


NO_CONTRACT_ROWS = ContractRows(0, {})


def contract_rows(words: Sequence[Sequence[str]], rows: int) -> ContractRows:
    """The rows to count beside the visible ones for a query of these words, each as the terms that stand for it.

    None for a query of which the table knows less than a third of the words: it is English, and says nothing of a
    German query, of a name or of a reference.
    """
    if not rows or not words:
        return NO_CONTRACT_ROWS
    share_of = _share_of()
    known = sum(any(term in share_of for term in spellings) for spellings in words)
    return ContractRows(rows, share_of) if known >= _LEAST_KNOWN_SHARE * len(words) else NO_CONTRACT_ROWS


@lru_cache(maxsize=1)
def _share_of() -> dict[str, float]:
    """The share of contracts' passages that hold each term of the table."""
    lines = (files(__package__) / _TABLE_NAME).read_text(encoding="utf-8").splitlines()
    entries = [line.split("\t") for line in lines if not line.startswith("#")]
    return {term: float(share) for term, share in entries}
