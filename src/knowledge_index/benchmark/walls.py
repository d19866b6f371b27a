"""Whether a search showed anyone what they may not see, decided from the grants alone."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from knowledge_index.benchmark.gold_types import GoldQuery
from knowledge_index.benchmark.presets import PresetName
from knowledge_index.benchmark.rankings import canonical_path
from knowledge_index.benchmark.report import Leak, WallProbe, WallRow, WallsReport, WallStatus
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal, PrincipalKind
from knowledge_index.domain.search import SearchHit

# What every object's source states, by (source, path); an object without grants has an empty tuple or no entry.
ObjectGrants: TypeAlias = Mapping[tuple[str, str], tuple[Grant, ...]]

# The groups and roles that each declared principal states to belong to, not yet followed further.
MemberOf: TypeAlias = Mapping[Principal, frozenset[Principal]]

_MAX_LISTED_LEAKS = 20
_OUTSIDER_NAME = "benchmark-outsider"


def may_see(principal: Principal, grants: Iterable[Grant]) -> bool:
    """Whether the grants allow the principal and do not deny it.

    Deliberately naive and apart from ``access/``: a check that asked the code under test would share its faults.
    """
    own = {grant.access for grant in grants if grant.principal == principal}
    return Access.ALLOW in own and Access.DENY not in own


def inherited_grants(grants: ObjectGrants, member_of: MemberOf, principals: Collection[Principal]) -> ObjectGrants:
    """The grants with, for each of ``principals``, those of all groups and roles that it is in, as its own."""
    inherited = {each: _all_groups(each, member_of) for each in principals}
    return {
        place: (
            *object_grants,
            *(
                Grant(principal, grant.access)
                for grant in object_grants
                for principal, groups in inherited.items()
                if grant.principal in groups
            ),
        )
        for place, object_grants in grants.items()
    }


def _all_groups(principal: Principal, member_of: MemberOf) -> set[Principal]:
    found: set[Principal] = set()
    open_ends = [principal]
    while open_ends:
        groups = member_of.get(open_ends.pop(), frozenset()) - found
        found |= groups
        open_ends += groups
    return found


def outsider_of(queries: Sequence[GoldQuery], grants: ObjectGrants) -> Principal:
    """A user whom neither a grant nor the gold names; the same one for the same input."""
    known = set(_principals(queries, grants))
    number = 1
    while True:
        outsider = Principal(PrincipalKind.USER, _OUTSIDER_NAME if number == 1 else f"{_OUTSIDER_NAME}-{number}")
        if outsider not in known:
            return outsider
        number += 1


def principals_to_probe(queries: Sequence[GoldQuery], grants: ObjectGrants) -> tuple[Principal, ...]:
    """Every principal that the gold or a grant names, sorted: each must stay inside its own grants."""
    return tuple(sorted(_principals(queries, grants)))


def _principals(queries: Sequence[GoldQuery], grants: ObjectGrants) -> set[Principal]:
    granted = {grant.principal for object_grants in set(grants.values()) for grant in object_grants}
    return granted | {query.principal for query in queries}


class WallAudit:
    """Counts probes and finds the hits that their caller may not see."""

    def __init__(self, grants: ObjectGrants, outsider: Principal, presets: Sequence[PresetName]) -> None:
        self._grants = {(source, canonical_path(path)): each for (source, path), each in grants.items()}
        self._outsider = outsider
        self._presets = tuple(presets)
        self._principals: dict[tuple[WallProbe, PresetName], set[Principal]] = {}
        self._n_searches: dict[tuple[WallProbe, PresetName], int] = {}
        self._n_hits: dict[tuple[WallProbe, PresetName], int] = {}
        self._leaks: dict[tuple[WallProbe, PresetName], list[Leak]] = {}

    def record(
        self, probe: WallProbe, preset: PresetName, principal: Principal, gold_id: str, hits: Collection[SearchHit]
    ) -> None:
        """Check the hits of one search that ``principal`` made; an outsider may have none at all."""
        key = (probe, preset)
        self._principals.setdefault(key, set()).add(principal)
        self._n_searches[key] = self._n_searches.get(key, 0) + 1
        self._n_hits[key] = self._n_hits.get(key, 0) + len(hits)
        for hit in hits:
            grants = self._grants.get((hit.source, canonical_path(hit.path)), ())
            if probe is WallProbe.OUTSIDER or not may_see(principal, grants):
                self._leaks.setdefault(key, []).append(
                    Leak(
                        probe=probe,
                        preset=preset,
                        gold_id=gold_id,
                        principal=str(principal),
                        source=hit.source,
                        path=hit.path,
                    )
                )

    def report(self) -> WallsReport:
        """What was found; a kind of probe that never ran is there too, as not probed."""
        rows = tuple(self._row(probe, preset) for probe in WallProbe for preset in self._presets)
        leaks = [leak for row in rows for leak in self._leaks.get((row.probe, row.preset), [])]
        return WallsReport(
            outsider=str(self._outsider), rows=rows, n_leaks=len(leaks), leaks=tuple(leaks[:_MAX_LISTED_LEAKS])
        )

    def _row(self, probe: WallProbe, preset: PresetName) -> WallRow:
        key = (probe, preset)
        n_searches, n_hits = self._n_searches.get(key, 0), self._n_hits.get(key, 0)
        n_leaks = len(self._leaks.get(key, []))
        if n_leaks:
            status = WallStatus.LEAKED
        elif not n_searches:
            status = WallStatus.NOT_PROBED
        elif not n_hits and probe is not WallProbe.OUTSIDER:
            # A search that finds nothing shows nothing of what it may not find; only an outsider has to find nothing.
            status = WallStatus.NOTHING_CAME_BACK
        else:
            status = WallStatus.HELD
        return WallRow(
            probe=probe,
            preset=preset,
            status=status,
            n_principals=len(self._principals.get(key, ())),
            n_searches=n_searches,
            n_hits=n_hits,
            n_leaks=n_leaks,
        )
