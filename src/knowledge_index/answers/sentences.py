"""Cuts a passage into the sentences that an answer can cite."""

import re
from dataclasses import dataclass

from knowledge_index.chunking.sentences import sentence_ends

_MIN_CHARS = 12
_MAX_CHARS = 900
# "5. Rent", "§ 3 Kaufpreis", "SHARE PURCHASE AGREEMENT"
_HEADING = re.compile(
    r"[^a-zäöüß\n\d|]{4,}"
    r"|(?:§\s*\d+\w?|(?:Article|Section|Artikel|Ziffer)\s+\d+|\d{1,2}[A-Z]?)\.?\s[^\n.;:!?|]{1,70}"
)
_ITEM = re.compile(r"(?:\(\w{1,3}\)|\d{1,2}\.|[a-z]\)|[–•*-])\s")
_ITEM_ENDS_OPEN = re.compile(r"(?:[:;,]|\band|\bor|\bund|\boder|–)$")
_ENDS = re.compile(r"[.!?]$")
# A line that was broken because it was full.
_FULL_LINE_CHARS = 70
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
        line = match[0].strip()
        above = passage[found[-1][0] : match.start()].rstrip() if found else ""
        if above and len(above) + len(line) < _MAX_CHARS and _goes_on(above, line):
            found[-1] = (found[-1][0], match.end())
        elif not _HEADING.fullmatch(line):
            found.append(match.span())
        else:
            # Ends what stands above it, and is itself no sentence.
            found.append((match.end(), match.end()))
    return [each for each in found if each[0] < each[1]]


def _goes_on(above: str, line: str) -> bool:
    """Whether a line belongs to the one above: broken inside a sentence, or an item of a list that was opened there.

    Items of a list belong to what opens it, as "made between: (1) … (2) …" says nothing by itself.
    """
    last_line = above.rpartition("\n")[2]
    if _HEADING.fullmatch(last_line) or _HEADING.fullmatch(line) or "|" in line or "|" in last_line:
        return False
    if _ITEM.match(line):
        opener = above if _ITEM.match(last_line) else last_line
        return bool(_ITEM_ENDS_OPEN.search(above)) or not _ENDS.search(opener)
    return above[-1:] not in ".!?:;" and (line[:1].islower() or line[:1] in '(“"„' or len(last_line) > _FULL_LINE_CHARS)


def _trimmed(passage: str, start: int, end: int) -> SentenceSpan:
    words = passage[start:end]
    start += len(words) - len(words.lstrip())
    end -= len(words) - len(words.rstrip())
    return SentenceSpan(start, end, passage[start:end])
