"""Which passages an answer is made from: the question is searched, then what it asks inside the matters it names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge_index.access.recording import AccessRecorder
from knowledge_index.answers.question import Question
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.retrieval import RetrievalService, search_as

# So many passages of so many papers are looked through for the few that are read.
_POOL = 40
_PASSAGES_PER_PAPER = 8
_MAX_MATTERS = 2
# Where a paper names its parties and its subject.
_OPENING_CHARS = 1500
_RANK_CONSTANT = 5
_WEIGHT_RANK = 0.5
_WEIGHT_ASKED = 0.3


@dataclass(frozen=True)
class Reading:
    """``hits`` best first; ``queries`` as they were put; ``notes`` of the searches.

    ``named`` maps a paper's key to the places of the question's words that name it: words of its title or path, and
    names in its opening. They count as said in each of its passages.
    """

    hits: tuple[SearchHit, ...]
    queries: tuple[str, ...]
    named: Mapping[str, frozenset[int]]
    notes: tuple[str, ...]


def _frame(hit: SearchHit) -> str:
    """What is said of a passage around it: the paper's title and path, and the matter's title."""
    return f"{hit.title}\n{hit.path}\n{hit.matter_title}"


def read_for(
    service: RetrievalService,
    recorder: AccessRecorder,
    principals: frozenset[Principal],
    question: Question,
    settings: RetrievalSettings,
    filters: SearchFilters,
    limit: int,
) -> Reading:
    """The ``limit`` passages that speak most of the question, found by two searches under ``principals``.

    The first is the question as it was put. The second asks what is left of it, without the words that name a paper and
    with the words that the rewriting adds, within the matters of the papers that are named best; where none is, in
    all. Order: the share of the question that a passage and its paper's names have, and the ranks of both searches.
    """
    deep = max(_POOL, limit)
    settings = settings.model_copy(
        update={"max_chunks_per_document": max(settings.max_chunks_per_document, _PASSAGES_PER_PAPER)}
    )
    first = search_as(service, recorder, principals, question.text, settings, filters, deep)
    named = _named(question, first.hits)
    matters = _matters(question, first.hits, named)
    mention = frozenset(place for each in named.values() for place in each)
    query = question.rewritten(mention)
    narrowed = replace(filters, matter_refs=matters) if matters else filters
    second = search_as(service, recorder, principals, query, settings, narrowed, deep)
    named = _named(question, [*first.hits, *second.hits])
    hits = _ordered(question, (first.hits, second.hits), named)[:limit]
    return Reading(tuple(hits), (question.text, query), named, tuple(dict.fromkeys((*first.notes, *second.notes))))


def _named(question: Question, hits: Sequence[SearchHit]) -> dict[str, frozenset[int]]:
    named: dict[str, frozenset[int]] = {}
    for hit in hits:
        found = question.covered_literally(_frame(hit))
        if hit.start_char < _OPENING_CHARS:
            found |= question.covered_literally(hit.passage) & question.possible_names
        named[hit.document_key] = named.get(hit.document_key, frozenset()) | found
    return named


def _matters(question: Question, hits: Sequence[SearchHit], named: Mapping[str, frozenset[int]]) -> frozenset[str]:
    """The matters of the papers that the question names best, those of better hits first."""
    best = max((question.share(named[hit.document_key]) for hit in hits), default=0.0)
    if best == 0.0:
        return frozenset()
    refs = dict.fromkeys(
        hit.matter_ref for hit in hits if hit.matter_ref and question.share(named[hit.document_key]) == best
    )
    return frozenset(list(refs)[:_MAX_MATTERS])


def _ordered(
    question: Question,
    rankings: Sequence[Sequence[SearchHit]],
    named: Mapping[str, frozenset[int]],
) -> list[SearchHit]:
    ranks: dict[str, float] = {}
    hits: dict[str, SearchHit] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            hits.setdefault(hit.hit_id, hit)
            ranks[hit.hit_id] = ranks.get(hit.hit_id, 0.0) + 1 / (_RANK_CONSTANT + rank)
    top = max(ranks.values(), default=1.0)

    def relevance(hit: SearchHit) -> float:
        names = named[hit.document_key]
        own = question.covered(f"{hit.heading}\n{hit.passage}")
        asked = question.share(own - names)
        return round(question.share(own | names) + _WEIGHT_ASKED * asked + _WEIGHT_RANK * ranks[hit.hit_id] / top, 6)

    return sorted(hits.values(), key=lambda hit: (-relevance(hit), hit.hit_id))
