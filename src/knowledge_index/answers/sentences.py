"""Cuts a passage into the sentences that an answer can cite."""

import re
from dataclasses import dataclass

from knowledge_index.chunking.sentences import sentence_ends

_MIN_CHARS = 12
_LINE = re.compile(r"[^\n]+")
_NUMBER_ONLY = re.compile(r"[\W\d_]*")


@dataclass(frozen=True)
class SentenceSpan:
    """``text == passage[start:end]``, without white space at its ends; offsets count from the passage's start."""

    start: int
    end: int
    text: str


def split_sentences(passage: str) -> list[SentenceSpan]:
    """The sentences of a passage in order; none crosses a line break, unless the line broke inside a sentence.

    Papers made from running text break lines anywhere, so a line that goes on in lower case belongs to the one before.
    Rows of a table are sentences of their own. What has no letters, or too few characters to say something, joins the
    sentence behind it, else the one before.
    """
    spans: list[tuple[int, int]] = []
    for start, end in _paragraphs(passage):
        previous = start
        for cut in [*sentence_ends(passage, start, end), end]:
            if passage[previous:cut].strip():
                spans.append((previous, cut))
            previous = cut
    merged: list[tuple[int, int]] = []
    pending: int | None = None
    for start, end in spans:
        if pending is not None:
            start, pending = pending, None
        words = passage[start:end].strip()
        if len(words) < _MIN_CHARS or _NUMBER_ONLY.fullmatch(words):
            # A heading stands on a line of its own and is no part of what the sentence under it says.
            pending = None if passage[end : end + 1] == "\n" else start
            continue
        merged.append((start, end))
    if pending is not None:
        merged = [*merged[:-1], (merged[-1][0], len(passage))] if merged else [(pending, len(passage))]
    return [_trimmed(passage, start, end) for start, end in merged if passage[start:end].strip()]


def _paragraphs(passage: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for match in _LINE.finditer(passage):
        line = match[0].lstrip()
        above = passage[: match.start()].rstrip()
        if found and line[:1].islower() and above[-1:] not in ".!?:;":
            found[-1] = (found[-1][0], match.end())
        else:
            found.append(match.span())
    return found


def _trimmed(passage: str, start: int, end: int) -> SentenceSpan:
    words = passage[start:end]
    start += len(words) - len(words.lstrip())
    end -= len(words) - len(words.rstrip())
    return SentenceSpan(start, end, passage[start:end])
