"""What a search returned, told in the ids that are scored."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_index.benchmark.gold_types import GoldGroup, GoldQuery
from knowledge_index.domain.search import SearchHit
from knowledge_index.domain.versions import VersionStatus


@dataclass(frozen=True)
class RankedHit:
    """One place of a ranking.

    ``document_id`` has no white space, so that it can stand in a TREC file. It is the gold group's id at the group's
    first hit and ``<group>#n`` at its n-th; a hit outside the gold has an id that no group has.
    """

    document_id: str
    path: str
    version_status: VersionStatus


@dataclass(frozen=True)
class Ranking:
    """The hits of one query in the order they were returned; the rank of a hit is its place, starting at 1."""

    gold_id: str
    hits: tuple[RankedHit, ...]


def canonical_path(path: str) -> str:
    """The path in NFC, as hits carry it: a gold file may spell umlauts the other way."""
    return unicodedata.normalize("NFC", path)


def group_id(group: GoldGroup) -> str:
    """A short id made from the group's paths alone: equal groups of two queries share it."""
    return "g" + _short_hash("\n".join(sorted(canonical_path(path) for path in group.paths)))


def rank_hits(query: GoldQuery, hits: Sequence[SearchHit]) -> Ranking:
    """Name each hit by the gold group that it finds; every hit keeps its place, also when it finds nothing new."""
    groups = {canonical_path(path): group_id(group) for group in query.groups for path in group.paths}
    seen: Counter[str] = Counter()
    ranked = []
    for hit in hits:
        path = canonical_path(hit.path)
        name = groups.get(path) or "x" + _short_hash(f"{hit.source}\0{path}")
        seen[name] += 1
        document_id = name if seen[name] == 1 else f"{name}#{seen[name]}"
        ranked.append(RankedHit(document_id, path, hit.version_status))
    return Ranking(query.gold_id, tuple(ranked))


def group_ranks(query: GoldQuery, ranking: Ranking) -> list[int | None]:
    """The rank of each group's first hit, in the gold's order; None where the group was not found."""
    ranks = {hit.document_id: rank for rank, hit in enumerate(ranking.hits, start=1)}
    return [ranks.get(group_id(group)) for group in query.groups]


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
