"""Opens one hit again, under the scope of the moment."""

from dataclasses import dataclass

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.records import Occurrence
from knowledge_index.domain.errors import NotVisibleError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.retrieval.hit_ids import parse_hit_id

_CONTEXT_CHARS = 400


@dataclass(frozen=True)
class ShownPassage:
    """A passage with the text before and behind it; ``occurrence`` says where it stands."""

    occurrence: Occurrence
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
        found = occurrence_of_hit(session, hit_id, compile_scope(session, principals))
        before_start = max(0, found.start_char - _CONTEXT_CHARS)
        return ShownPassage(
            found,
            session.passages.text_between(found.object_id, before_start, found.start_char),
            session.passages.text_between(found.object_id, found.start_char, found.end_char),
            session.passages.text_between(found.object_id, found.end_char, found.end_char + _CONTEXT_CHARS),
        )


def occurrence_of_hit(session: CatalogSession, hit_id: str, scope: Scope) -> Occurrence:
    """Where the passage that ``hit_id`` names stands.

    Raises:
        NotVisibleError: as for :func:`show_hit`.
    """
    parts = parse_hit_id(hit_id)
    if parts is not None:
        found = session.passages.occurrence_of_span(parts.object_key, parts.start_char, parts.end_char, scope)
        if found is not None and found.text_sha256.startswith(parts.text_mark):
            return found
    raise NotVisibleError(
        f"'{hit_id}' names no passage that this caller may see now; search again and take the id from the result"
    )
