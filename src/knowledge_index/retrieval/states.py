"""The other states of a hit's paper, and its tracked changes, under the scope of the moment."""

import re
from collections import Counter
from dataclasses import dataclass

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.passage_records import Occurrence
from knowledge_index.domain.documents import TextState, TrackedChange
from knowledge_index.domain.principals import Principal
from knowledge_index.retrieval.showing import occurrence_of

# A clause that only moved up or down in the count is still the same clause.
_NUMBER = re.compile(r"^[\W\d_]+")


@dataclass(frozen=True)
class ShownState:
    """A state of the text around a hit; ``has_changes`` is whether the paper has tracked changes at all."""

    occurrence: Occurrence
    state: TextState
    text: str
    has_changes: bool


@dataclass(frozen=True)
class ShownChanges:
    """The tracked changes of the paper that a hit stands in, by place."""

    occurrence: Occurrence
    changes: tuple[TrackedChange, ...]


def show_state(
    catalog: Catalog, hit_id: str, principals: frozenset[Principal], state: TextState, *, whole: bool
) -> ShownState:
    """A state of the hit's paper, ``whole`` or from the unchanged line before the hit to the one after it.

    Raises:
        NotVisibleError: the hit does not exist or may not be seen.
    """
    with catalog.transaction() as session:
        found = occurrence_of(session, hit_id, compile_scope(session, principals))
        current = session.changes.text(found.object_id, TextState.CURRENT)
        text = session.changes.text(found.object_id, state)
        has_changes = text != current or bool(session.changes.of_object(found.object_id))
    if not whole:
        text = _around(current, text, found.start_char, found.end_char)
    return ShownState(found, state, text, has_changes)


def show_changes(catalog: Catalog, hit_id: str, principals: frozenset[Principal]) -> ShownChanges:
    """All tracked changes of the hit's paper.

    Raises:
        NotVisibleError: the hit does not exist or may not be seen.
    """
    with catalog.transaction() as session:
        found = occurrence_of(session, hit_id, compile_scope(session, principals))
        return ShownChanges(found, tuple(session.changes.of_object(found.object_id)))


def _around(current: str, other: str, start_char: int, end_char: int) -> str:
    """The lines of ``other`` between the nearest lines, before and behind the span, that both texts have once."""
    lines = [_NUMBER.sub("", line) or line for line in current.split("\n")]
    other_lines = other.split("\n")
    other_keys = [_NUMBER.sub("", line) or line for line in other_lines]
    counts, other_counts = Counter(lines), Counter(other_keys)
    place_of = {
        key: place for place, key in enumerate(other_keys) if key and other_counts[key] == 1 and counts[key] == 1
    }
    first = current.count("\n", 0, start_char)
    last = current.count("\n", 0, end_char)
    begin = next((place_of[lines[place]] for place in range(first - 1, -1, -1) if lines[place] in place_of), 0)
    behind = (place_of.get(lines[place], -1) for place in range(last + 1, len(lines)))
    end = next((place for place in behind if place > begin), len(other_lines) - 1)
    return "\n".join(other_lines[begin : end + 1])
