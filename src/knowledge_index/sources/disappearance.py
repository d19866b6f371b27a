"""When a file that is missing is believed to be gone."""

from collections.abc import Collection
from dataclasses import dataclass

from knowledge_index.catalog.records import DeletionHold

SCANS_THAT_HAVE_TO_AGREE = 3
_MASS_BEGINS_ABOVE_OBJECTS = 20


@dataclass(frozen=True)
class Verdict:
    """The objects that are gone, and the hold on those that are missing and not believed to be gone."""

    gone: frozenset[int]
    hold: DeletionHold | None


def judge(
    missing: Collection[int],
    known_count: int,
    before: DeletionHold | None,
    *,
    at: str,
    confirmed: bool,
    counts: bool,
) -> Verdict:
    """Believe a small disappearance at once, a mass disappearance after three scans that agree, or when confirmed.

    ``missing`` are ids of the ``known_count`` known objects of a source. All of them, or more than half of more than
    20, are a mass: that is what a share that was unmounted looks like. Scans agree when they miss exactly the same
    objects; one that misses others begins anew. A hold ends when nothing is missing any more: while it lasts, nothing
    more is believed, since the source has shown that it comes and goes. A scan that does not ``counts`` can begin a
    hold and end it, but brings it no nearer to being believed.
    """
    ids = frozenset(missing)
    if not ids:
        return Verdict(frozenset(), None)
    is_mass = len(ids) == known_count or (known_count > _MASS_BEGINS_ABOVE_OBJECTS and 2 * len(ids) > known_count)
    if confirmed or (before is None and not is_mass):
        return Verdict(ids, None)
    if before is None:
        return Verdict(frozenset(), DeletionHold(at, 1, ids))
    scans = before.scans + counts if before.object_ids == ids else 1
    if scans >= SCANS_THAT_HAVE_TO_AGREE:
        return Verdict(ids, None)
    return Verdict(frozenset(), DeletionHold(before.since, scans, ids))
