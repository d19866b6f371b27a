"""Opens one hit again, under the scope of the moment."""

from dataclasses import dataclass

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.passage_records import Occurrence, ReadingNotes
from knowledge_index.domain.errors import NotVisibleError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.retrieval.hit_ids import parse_hit_id

_CONTEXT_CHARS = 400


@dataclass(frozen=True)
class ShownPassage:
    """A passage with the text around it; ``occurrence`` says where it stands, ``reading`` how it was read."""

    occurrence: Occurrence
    reading: ReadingNotes
    before: str
    passage: str
    after: str


def show_hit(catalog: Catalog, hit_id: str, principals: frozenset[Principal]) -> ShownPassage:
    """The passage that ``hit_id`` names.

    Raises:
        NotVisibleError: there is no such passage, it has changed or gone, or the caller may not see it: one message
            for all four.
    """
    with catalog.transaction() as session:
        return show_in_scope(session, hit_id, compile_scope(session, principals))


def show_in_scope(session: CatalogSession, hit_id: str, scope: Scope) -> ShownPassage:
    """:func:`show_hit` within a scope that was compiled in the same transaction."""
    found = occurrence_of(session, hit_id, scope)
    start, end = found.start_char, found.end_char
    before, passage, after = session.passages.at(
        (found.object_id, *span)
        for span in ((max(0, start - _CONTEXT_CHARS), start), (start, end), (end, end + _CONTEXT_CHARS))
    )
    return ShownPassage(found, passage.notes, before.text, passage.text, after.text)


def occurrence_of(session: CatalogSession, hit_id: str, scope: Scope) -> Occurrence:
    """Where the passage stands that ``hit_id`` names.

    Raises:
        NotVisibleError: as :func:`show_hit`.
    """
    parts = parse_hit_id(hit_id)
    if parts is not None:
        found = session.occurrences.at_span(parts.object_key, parts.start_char, parts.end_char, scope)
        if found is not None and found.text_sha256.startswith(parts.text_mark):
            return found
    raise NotVisibleError(
        f"'{hit_id}' names no passage that this caller may see now; search again and take the id from the result"
    )
