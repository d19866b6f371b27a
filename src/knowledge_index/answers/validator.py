"""Decides whether a drafted answer may be let out.

What is checked, sentence by sentence:

1. It cites something, and every cited span lies inside a retrieved passage, and its quoted words are the text that the
   catalog has at these offsets. The words are compared by the rule of :mod:`knowledge_index.answers.wording`.
2. Every quotation in it stands in one cited span.
3. Every date, amount, reference, number (in digits or words) and named month in it stands in a cited span, whatever its
   spelling. A number with a unit ("3 weeks") has to stand with it where the spans count in that unit at all, and not
   with another unit only; the day of a date is no number.
4. Every name in it stands in a cited span: two or more capitalised words in a row, and each single word that names a
   party of a retrieved passage. German nouns alone are no names.
5. Parties stand in the order of a cited span, unless the sentence turns it into the passive or out of it.

A sentence that stands in a cited span to the letter passes 2 to 5 by that. Whether the sentence says what the span says
is not checked beyond this: it takes a reader.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge_index.answers.answer import CitedSpan, Draft, DraftSentence, Evidence
from knowledge_index.answers.figures import figures_of
from knowledge_index.answers.names import in_order, is_german, name_stands, names_of, parties_of, party_mentions
from knowledge_index.answers.wording import normalise, quotations, words

_PASSIVE_MARK = re.compile(r"\b(?:by|from|von|vom|durch|to|gegenüber|an)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Fault:
    """Why a sentence was refused; ``sentence`` counts from 1. The reason quotes the draft, never a passage."""

    sentence: int
    reason: str


def find_faults(draft: Draft, retrieved: Mapping[str, Evidence]) -> tuple[Fault, ...]:
    """Everything that is wrong with a draft; ``retrieved`` maps a hit's id to its evidence.

    No fault means that the draft may be let out. A draft without sentences has none: it says nothing.
    """
    parties = frozenset().union(*(parties_of(normalise(each.text)) for each in retrieved.values()))
    return tuple(
        Fault(number, reason)
        for number, sentence in enumerate(draft.sentences, start=1)
        for reason in _reasons(sentence, retrieved, parties)
    )


def _reasons(sentence: DraftSentence, retrieved: Mapping[str, Evidence], parties: frozenset[str]) -> list[str]:
    if not normalise(sentence.text):
        return ["is empty"]
    if not sentence.spans:
        return ["cites nothing"]
    broken = [reason for span in sentence.spans for reason in _span_reasons(span, retrieved)]
    if broken:
        return broken
    text = normalise(sentence.text)
    spans = [normalise(_text_at(span, retrieved[span.hit_id])) for span in sentence.spans]
    if any(text in span for span in spans):
        return []
    return [
        *_quotation_reasons(sentence.text, spans),
        *_figure_reasons(text, spans),
        *_name_reasons(text, spans, parties),
    ]


def _span_reasons(span: CitedSpan, retrieved: Mapping[str, Evidence]) -> list[str]:
    evidence = retrieved.get(span.hit_id)
    if evidence is None:
        return ["cites a passage that was not retrieved"]
    hit = evidence.hit
    if not hit.start_char <= span.start_char < span.end_char <= hit.end_char:
        return ["cites characters outside the retrieved passage"]
    if evidence.text != hit.passage:
        return ["cites a passage whose text is no longer the one that was retrieved"]
    quoted = normalise(span.quoted)
    if not quoted or quoted != normalise(_text_at(span, evidence)):
        return ["quotes words that do not stand at the cited characters"]
    return []


def _text_at(span: CitedSpan, evidence: Evidence) -> str:
    start = evidence.hit.start_char
    return evidence.text[span.start_char - start : span.end_char - start]


def _quotation_reasons(text: str, spans: Sequence[str]) -> list[str]:
    return [
        f"the quotation “{quotation}” stands in no cited passage"
        for quotation in quotations(text)
        if not any(quotation.rstrip(" .,;") in span for span in spans)
    ]


def _figure_reasons(text: str, spans: Sequence[str]) -> list[str]:
    said = figures_of(text)
    held = [figures_of(span) for span in spans]
    identifiers = frozenset(term for each in held for _, terms in each.identifiers for term in terms)
    numbers = frozenset(value for each in held for _, values in each.numbers for value in values)
    numbers = numbers.union(*(each.inner for each in held))
    measured = [pair for each in held for pair in each.measured]
    months = frozenset(month for each in held for month in each.months)
    reasons = [f"{raw!r} stands in no cited passage" for raw, terms in said.identifiers if not terms & identifiers]
    if reasons:
        return reasons
    reasons = [f"the number {raw!r} stands in no cited passage" for raw, values in said.numbers if not values & numbers]
    for values, unit in said.measured:
        alike = [readings for readings, other in measured if other == unit]
        elsewhere = any(values & readings for readings, other in measured if other != unit)
        if not any(values & readings for readings in alike) and (alike or elsewhere):
            reasons.append(f"the cited passage has another number of that unit than {min(values)}, or another unit")
    if said.months - months:
        reasons.append("a month that it names stands in no cited passage")
    return reasons


def _name_reasons(text: str, spans: Sequence[str], parties: frozenset[str]) -> list[str]:
    german = is_german(words(text))
    reasons = [
        f"the name {' '.join(name)!r} stands in no cited passage"
        for name in names_of(text)
        if not any(name_stands(name, span, german=german) for span in spans)
    ]
    mentions = party_mentions(text, parties)
    mentions_of = [party_mentions(span, parties) for span in spans]
    held = {each for mentioned in mentions_of for each in mentioned}
    reasons += [
        f"the party {each!r} stands in no cited passage" for each in dict.fromkeys(mentions) if each not in held
    ]
    if reasons or len(set(mentions)) < 2 or any(in_order(mentions, each) for each in mentions_of):
        return reasons
    joined = [each for mentioned in mentions_of for each in mentioned]
    if in_order(mentions, joined):
        return []
    said = len(_PASSIVE_MARK.findall(text))
    if any(len(_PASSIVE_MARK.findall(span)) != said for span in spans):
        return []
    return ["its parties stand in another order than in the cited passage"]
