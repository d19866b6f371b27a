"""A paper's versions as one caller sees them: the chain in order, and the most binding place of a wording."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.passage_records import Occurrence
from knowledge_index.catalog.records import VersionPair, VersionRecord
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import OtherVersion
from knowledge_index.domain.versions import BINDING_FIRST, DIRECTED, PairEvidence, VersionStatus
from knowledge_index.retrieval.showing import occurrence_of


@dataclass(frozen=True)
class VersionLink:
    """What a version's text says of another version of the chain; ``similarity`` is the overlap of both, 0 to 1."""

    evidence: PairEvidence
    path: str
    similarity: float


@dataclass(frozen=True)
class ChainVersion:
    """One version in its chain, with what its status and its place rest on."""

    source: str
    path: str
    version_status: VersionStatus
    status_evidence: str
    order_evidence: str
    links: tuple[VersionLink, ...]
    text_sha256: str
    is_asked_for: bool


@dataclass(frozen=True)
class VersionChain:
    """The versions of one paper that the caller may see, earliest first."""

    document_key: str
    versions: tuple[ChainVersion, ...]


@dataclass(frozen=True)
class BindingPlace:
    """Where a found wording is shown: ``occurrence`` stands in the most binding visible version that holds it.

    ``most_binding`` is the most binding version of the paper where that is another one; ``other_versions`` counts the
    visible versions beside the shown one.
    """

    occurrence: Occurrence
    other_versions: int
    most_binding: OtherVersion | None


def list_versions(catalog: Catalog, hit_id: str, principals: frozenset[Principal]) -> VersionChain:
    """The chain of the paper that ``hit_id`` is a passage of, as far as the caller may see it.

    Raises:
        NotVisibleError: as for :func:`show_hit`.
    """
    with catalog.transaction() as session:
        scope = compile_scope(session, principals)
        shown = occurrence_of(session, hit_id, scope)
        versions, pairs = chain_of(session, shown.document_key, scope)
    links = _links(pairs, {each.object_id: each.path for each in versions})
    return VersionChain(
        shown.document_key,
        tuple(
            ChainVersion(
                source=each.source,
                path=each.path,
                version_status=each.version_status,
                status_evidence=each.status_evidence,
                order_evidence=each.order_evidence,
                links=tuple(links[each.object_id]),
                text_sha256=each.text_sha256,
                is_asked_for=each.object_id == shown.object_id,
            )
            for each in versions
        ),
    )


def chain_of(session: CatalogSession, document_key: str, scope: Scope) -> tuple[list[VersionRecord], list[VersionPair]]:
    """The versions of the paper of this name that the scope lets be seen, earliest first, and what connects them."""
    versions = session.versions.chains([document_key], scope)[document_key]
    pairs = session.versions.pairs_among([each.object_id for each in versions])
    return in_order(versions, pairs), pairs


def in_order(versions: Sequence[VersionRecord], pairs: Iterable[VersionPair]) -> list[VersionRecord]:
    """The versions, earliest first.

    By what names, folders and texts say of each; where those say nothing of one of two, what was made from the other
    comes behind it. Evidence that contradicts itself is passed over.
    """
    ordered = sorted(versions, key=lambda each: (each.version_order, each.path))
    place_of = {each.object_id: place for place, each in enumerate(ordered)}
    made_of_it: defaultdict[int, set[int]] = defaultdict(set)
    for pair in pairs:
        if pair.evidence in DIRECTED and pair.object_id in place_of and pair.other_id in place_of:
            later, earlier = place_of[pair.object_id], place_of[pair.other_id]
            both_say = ordered[later].order_evidence and ordered[earlier].order_evidence
            if not both_say or ordered[later].version_order == ordered[earlier].version_order:
                made_of_it[earlier].add(later)
    waits_for = [0] * len(ordered)
    for several in made_of_it.values():
        for later in several:
            waits_for[later] += 1
    ready = [place for place, count in enumerate(waits_for) if not count]
    left = set(range(len(ordered)))
    result: list[VersionRecord] = []
    while left:
        place = heapq.heappop(ready) if ready else min(left)
        if place not in left:
            continue
        left.remove(place)
        result.append(ordered[place])
        for later in sorted(made_of_it[place]):
            waits_for[later] -= 1
            if not waits_for[later]:
                heapq.heappush(ready, later)
    return result


def binding_places(
    session: CatalogSession,
    occurrences: Sequence[Occurrence],
    scope: Scope,
    *,
    one_place_a_paper: bool,
    fitting: Callable[[Sequence[Occurrence]], Sequence[Occurrence]],
) -> list[BindingPlace]:
    """Where each found passage is to be shown, in the order given; ``fitting`` keeps those that may be shown.

    With ``one_place_a_paper`` a passage moves to the most binding visible version that has the same wording, whatever
    its white space: an executed PDF breaks its lines elsewhere, so that its passages are rows of their own.
    """
    chains = session.versions.chains({each.document_key for each in occurrences}, scope)
    moved = _moved(session, occurrences, chains, scope, fitting) if one_place_a_paper else list(occurrences)
    return [
        BindingPlace(each, len(chains[each.document_key]) - 1, _most_binding(chains[each.document_key], each))
        for each in moved
    ]


def _moved(
    session: CatalogSession,
    occurrences: Sequence[Occurrence],
    chains: Mapping[str, Sequence[VersionRecord]],
    scope: Scope,
    fitting: Callable[[Sequence[Occurrence]], Sequence[Occurrence]],
) -> list[Occurrence]:
    more_binding = {
        (version.object_id, each.wording_key)
        for each in occurrences
        for version in chains[each.document_key]
        if each.wording_key and _binding(version) < _binding(each)
    }
    if not more_binding:
        return list(occurrences)
    places: defaultdict[tuple[str, str], list[Occurrence]] = defaultdict(list)
    for found in fitting(session.occurrences.of_wordings(more_binding, scope)):
        places[found.document_key, found.wording_key].append(found)
    taken = {_place(each) for each in occurrences}
    moved: list[Occurrence] = []
    for each in occurrences:
        best = min((each, *places[each.document_key, each.wording_key]), key=lambda one: (_binding(one), _place(one)))
        if _binding(best) < _binding(each) and _place(best) not in taken:
            taken.add(_place(best))
            moved.append(best)
        else:
            moved.append(each)
    return moved


def _most_binding(chain: Sequence[VersionRecord], shown: Occurrence) -> OtherVersion | None:
    best = min(chain, key=_binding)
    if _binding(best) >= _binding(shown):
        return None
    return OtherVersion(best.path, best.version_status)


def binding_first(each: Occurrence) -> tuple[int, tuple[int, ...], str]:
    """Executed, final, draft, unknown; the latest version first within one status; then by place."""
    return BINDING_FIRST[each.version_status], _latest_first(each.version_order), tie_key(each)


def is_more_binding(one: Occurrence, other: Occurrence) -> bool:
    """Whether ``one`` comes first by :func:`binding_first`; the tie key, dear to make, is seldom asked."""
    ranks = BINDING_FIRST[one.version_status], BINDING_FIRST[other.version_status]
    if ranks[0] != ranks[1]:
        return ranks[0] < ranks[1]
    latest = _latest_first(one.version_order), _latest_first(other.version_order)
    return latest[0] < latest[1] if latest[0] != latest[1] else tie_key(one) < tie_key(other)


def tie_key(each: Occurrence) -> str:
    """A key that is a keyed hash of source and path, then the place in the text: never the order of insertion."""
    return f"{each.object_key}.{each.start_char:012d}"


def _binding(each: Occurrence | VersionRecord) -> tuple[int, tuple[int, ...], str]:
    """As :func:`binding_first`, of versions and not of places in them."""
    return BINDING_FIRST[each.version_status], _latest_first(each.version_order), each.object_key


@lru_cache(maxsize=4096)
def _latest_first(version_order: str) -> tuple[int, ...]:
    return tuple(-int(number) for number in version_order.split("."))


def _place(each: Occurrence) -> tuple[str, int, int]:
    return each.object_key, each.start_char, each.end_char


def _links(pairs: Iterable[VersionPair], path_of: Mapping[int, str]) -> defaultdict[int, list[VersionLink]]:
    """What each version says of others, the nearest first: directed evidence at its later end, the rest at both."""
    links: defaultdict[int, list[VersionLink]] = defaultdict(list)
    for pair in pairs:
        links[pair.object_id].append(VersionLink(pair.evidence, path_of[pair.other_id], pair.similarity))
        if pair.evidence not in DIRECTED:
            links[pair.other_id].append(VersionLink(pair.evidence, path_of[pair.object_id], pair.similarity))
    for several in links.values():
        several.sort(key=lambda link: (link.evidence not in DIRECTED, -link.similarity, link.path, link.evidence))
    return links
