"""Answers in the documents' own sentences: deterministic, with no model but the embedder of the index."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_index.answers.answer import CitedSpan, Draft, DraftSentence, Evidence
from knowledge_index.answers.figures import figures_of
from knowledge_index.answers.names import COMPANY
from knowledge_index.answers.question import Question
from knowledge_index.answers.sentences import SentenceSpan, split_sentences
from knowledge_index.answers.wording import normalise
from knowledge_index.answers.wording import words as words_of
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.embed.base import Embedder

# Chosen on development questions that are not in the shipped golden set; docs/answers.md has the figures.
MIN_ASKED_SHARE = 0.55
MIN_SENTENCE_SCORE = 0.5
_WEIGHT_COVERAGE = 0.55
_WEIGHT_HEADING = 0.2
_WEIGHT_SIMILARITY = 0.5
_BONUS_FIGURE = 0.12
_BONUS_PARTY = 0.25
_BONUS_DEFINITION = 0.4
_DEFINITION = re.compile(r'(?:\(\w\) |\d[\d.]* )?"([^"]{2,60})" (?:means|bedeutet|bezeichnet|ist|are|is)\b')
# A word that another passage of the same paper has.
_SHARE_OF_OTHERS = 0.6
# A sentence that opens so goes on from the one before it.
_GOES_ON = re.compile(
    r"(?:it|they|this|these|after that|thereafter|then|from then|otherwise|er|sie|es|danach|dies|diese[rs]?)\b",
    re.IGNORECASE,
)
_SAME_WORDING = 0.6
# Less is a title or a signature.
_MIN_WORDS = 4
# A paper that has versions is more likely what is asked for than a mail about it.
_BONUS_BY_STATUS = {
    VersionStatus.EXECUTED: 0.08,
    VersionStatus.FINAL: 0.07,
    VersionStatus.DRAFT: 0.04,
    VersionStatus.UNKNOWN: 0.0,
}
# Where a draft leaves open what is asked.
_BLANK = "[●]"
_MALUS_BLANK = 0.15
_DECAY_PER_RANK = 0.03
_NEXT_SENTENCE_SHARE = 0.8
_MAX_SENTENCES = 3
_EMBEDDED_SENTENCES = 8


@dataclass(frozen=True)
class _Scored:
    evidence: Evidence
    sentence: SentenceSpan
    score: float
    order: tuple[int, int]


def extract_answer(question: Question, retrieved: Sequence[Evidence], embedder: Embedder) -> Draft:
    """The one to three sentences that speak most of what was asked; none where no passage speaks enough of it.

    A passage counts when, together with its heading and what names its paper, it has every name of the question, and
    ``MIN_ASKED_SHARE`` of the weight of the words that do not name the paper. A sentence's score adds the share of
    those words that it has itself, the cosine of question and sentence, and a bonus for a figure where one is asked
    for and for papers that bind. Ties go to the better passage, then to the earlier sentence.
    """
    in_papers: defaultdict[str, frozenset[int]] = defaultdict(frozenset)
    for evidence in retrieved:
        in_papers[evidence.hit.document_key] |= question.covered(evidence.text)
    scored: list[_Scored] = []
    for rank, evidence in enumerate(retrieved):
        scored.extend(_scored(question, evidence, rank, in_papers[evidence.hit.document_key]))
    head = sorted(scored, key=lambda each: (-each.score, each.order))[:_EMBEDDED_SENTENCES]
    if not head:
        return Draft(())
    vectors = embedder.embed([question.text, *(f"{each.evidence.hit.heading} {each.sentence.text}" for each in head)])
    final = [
        _Scored(
            each.evidence,
            each.sentence,
            # Rounded, so that the last bits of a product do not decide.
            round(each.score + _WEIGHT_SIMILARITY * float(vectors[0] @ vector), 6),
            each.order,
        )
        for each, vector in zip(head, vectors[1:], strict=True)
    ]
    final.sort(key=lambda each: (-each.score, each.order))
    if final[0].score < MIN_SENTENCE_SCORE:
        return Draft(())
    chosen: list[_Scored] = []
    for each in final:
        if len(chosen) == _MAX_SENTENCES or each.score < _NEXT_SENTENCE_SHARE * final[0].score:
            break
        if any(_alike(each.sentence.text, other.sentence.text) for other in chosen):
            continue
        binding = _most_binding(each, final)
        chosen.append(binding)
        following = _following(binding)
        if following is not None and len(chosen) < _MAX_SENTENCES:
            chosen.append(_Scored(binding.evidence, following, binding.score, binding.order))
    return Draft(tuple(_draft_sentence(each.evidence, each.sentence) for each in chosen))


def _most_binding(chosen: _Scored, others: Sequence[_Scored]) -> _Scored:
    """The sentence as the most binding version of its paper has it, if that is among those that were scored."""
    same = [
        each
        for each in others
        if each.evidence.hit.document_key == chosen.evidence.hit.document_key
        and _alike(each.sentence.text, chosen.sentence.text)
    ]
    return max(same, key=lambda each: _BONUS_BY_STATUS[each.evidence.hit.version_status], default=chosen)


def _has_figure(text: str) -> bool:
    figures = figures_of(text)
    return bool(figures.numbers or figures.identifiers)


def _following(chosen: _Scored) -> SentenceSpan | None:
    """The sentence behind, where it goes on from the chosen one."""
    sentences = split_sentences(chosen.evidence.text)
    place = chosen.order[1] + 1
    return sentences[place] if place < len(sentences) and _GOES_ON.match(sentences[place].text) else None


def _alike(text: str, other: str) -> bool:
    """Whether two sentences share most of their words, as those of two versions do."""
    first, second = set(words_of(normalise(text))), set(words_of(normalise(other)))
    return len(first & second) >= _SAME_WORDING * len(first | second)


def uncovered_words(question: Question, retrieved: Sequence[Evidence]) -> tuple[str, ...]:
    """The words of the question that no passage has, nor its title, path or heading."""
    met = {place for each in retrieved for place in each.named | question.covered(f"{each.hit.heading}\n{each.text}")}
    return tuple(word for place, word in enumerate(question.rewriting.words) if place not in met)


def _scored(question: Question, evidence: Evidence, rank: int, in_paper: frozenset[int]) -> list[_Scored]:
    in_frame = evidence.named
    context = in_frame | question.covered(evidence.hit.heading) | question.covered(evidence.text)
    words = frozenset(range(len(question.rewriting.words)))
    asked = words - in_frame or words - question.names
    asked_weight = sum(map(question.weight, asked))
    met_weight = sum(map(question.weight, asked & context))
    met_weight += _SHARE_OF_OTHERS * sum(map(question.weight, (asked & in_paper) - context))
    if question.names - context or met_weight < MIN_ASKED_SHARE * asked_weight:
        return []
    asked_words = frozenset(words_of(normalise(question.text)))
    in_heading = question.covered(evidence.hit.heading) & asked
    found = []
    for place, sentence in enumerate(split_sentences(evidence.text)):
        if len(words_of(normalise(sentence.text))) < _MIN_WORDS:
            continue
        covered = question.covered(sentence.text) & asked
        coverage = sum(map(question.weight, covered)) / asked_weight if asked_weight else 0.5
        by_heading = sum(map(question.weight, in_heading - covered)) / asked_weight if asked_weight else 0.0
        score = _WEIGHT_COVERAGE * coverage + _WEIGHT_HEADING * by_heading - _DECAY_PER_RANK * rank
        if question.asks_party and COMPANY.search(normalise(sentence.text)):
            score += _BONUS_PARTY
        definition = _DEFINITION.match(normalise(sentence.text))
        if definition is not None and set(words_of(definition[1])) <= asked_words:
            score += _BONUS_DEFINITION
        if question.asks_figure and _has_figure(sentence.text):
            score += _BONUS_FIGURE
        if _BLANK in sentence.text:
            score -= _MALUS_BLANK
        score += _BONUS_BY_STATUS[evidence.hit.version_status]
        found.append(_Scored(evidence, sentence, score, (rank, place)))
    return found


def _draft_sentence(evidence: Evidence, sentence: SentenceSpan) -> DraftSentence:
    start = evidence.hit.start_char + sentence.start
    span = CitedSpan(evidence.hit.hit_id, start, evidence.hit.start_char + sentence.end, sentence.text)
    return DraftSentence(sentence.text, (span,))
