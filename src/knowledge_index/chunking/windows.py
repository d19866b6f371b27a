"""Windows within a passage that is longer than an embedding model reads with care."""

from knowledge_index.chunking.sentences import cut_position

_MIN_WINDOW_CHARS = 150
_MAX_WINDOW_CHARS = 500
WINDOWS_SIGNATURE = f"windows-1(min={_MIN_WINDOW_CHARS},max={_MAX_WINDOW_CHARS})"


def windows_of(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of ``text`` of at most 500 characters, cut at ends of sentences, that cover all but white space.

    A model that reads 256 tokens would see the first half of a long clause only; and one vector for many sentences says
    less of each. 500 characters are some 110 tokens of English and 160 of German.
    """
    spans = []
    start = 0
    while start < len(text):
        rest = len(text) - start
        if rest <= _MAX_WINDOW_CHARS:
            end = len(text)
        else:
            # The rest is left long enough to stand alone, where there is room for that.
            longest = max(_MIN_WINDOW_CHARS, min(_MAX_WINDOW_CHARS, rest - _MIN_WINDOW_CHARS))
            end = cut_position(text, start, _MIN_WINDOW_CHARS, longest)
        body = text[start:end]
        stripped = body.strip()
        if stripped:
            first = start + len(body) - len(body.lstrip())
            spans.append((first, first + len(stripped)))
        start = end
    return tuple(spans)


def with_heading(heading: str, text: str) -> str:
    """What is indexed of a text: its section's heading goes before it, where it does not begin with it."""
    return text if text.startswith(heading) else f"{heading}\n{text}"


def window_texts(heading: str, passage: str) -> list[str]:
    """What is embedded of a passage: each of its windows under the section's heading."""
    return [with_heading(heading, passage[start:end]) for start, end in windows_of(passage)]
