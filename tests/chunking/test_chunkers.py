import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_index.chunking import build_chunker
from knowledge_index.chunking.base import Chunker
from knowledge_index.config import ChunkingSettings
from knowledge_index.domain.documents import Chunk

CLAUSE = build_chunker(ChunkingSettings())
FIXED = build_chunker(ChunkingSettings(strategy="fixed"))
SMALL_CLAUSE = build_chunker(ChunkingSettings(clause_min_chars=40, clause_max_chars=200))
SMALL_FIXED = build_chunker(ChunkingSettings(strategy="fixed", fixed_window_chars=50, fixed_overlap_chars=20))

PIECES = st.sampled_from(
    [
        *("ARTICLE IV TERM\n", "Section 5.1 Fees. ", "1. Haftung\n", "§ 5 Haftung\n", "\n", "\n\n", "  ", "\t", "\f\n"),
        *("Exhibit A\n", "Der Verkäufer haftet nicht. ", "See No. 5 of Acme Inc. for it! ", "(a) und so weiter; "),
        *("word ", "x" * 90, "12.  Then. ", "II. Term. ", "7", ".", "Ä", "\U0001f600", "a.b.c. "),
    ]
)
TEXTS = st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=60).map("".join))


def assert_sound(text: str, chunks: list[Chunk], longest: int) -> None:
    for chunk in chunks:
        assert chunk.text == text[chunk.start_char : chunk.end_char]
        assert chunk.text.strip()
        assert len(chunk.text) <= longest
        assert len(chunk.heading) <= 120
        assert chunk.heading == chunk.heading.strip()
    covered = bytearray(len(text))
    for chunk in chunks:
        covered[chunk.start_char : chunk.end_char] = b"\x01" * len(chunk.text)
    assert all(mark or character.isspace() for mark, character in zip(covered, text, strict=True))
    assert all(one.start_char < two.start_char for one, two in pairwise(chunks))


@given(TEXTS)
@settings(max_examples=200)
def test_clause_chunks_cover_the_text_in_order_without_overlap(text: str) -> None:
    chunks = SMALL_CLAUSE.chunk(text)
    assert_sound(text, chunks, 200)
    assert all(one.end_char <= two.start_char for one, two in pairwise(chunks))
    assert all(chunk.text == chunk.text.strip() for chunk in chunks)
    assert SMALL_CLAUSE.chunk(text) == chunks


@given(TEXTS)
@settings(max_examples=200)
def test_fixed_windows_cover_the_text_in_order(text: str) -> None:
    assert_sound(text, SMALL_FIXED.chunk(text), 50)


def test_fixed_windows_have_their_length_and_overlap() -> None:
    text = "x" * 2350
    spans = [(chunk.start_char, chunk.end_char) for chunk in FIXED.chunk(text)]
    assert spans == [(0, 1000), (850, 1850), (1700, 2350)]
    assert [(chunk.start_char, chunk.end_char) for chunk in FIXED.chunk("x" * 1000)] == [(0, 1000)]
    assert [(chunk.start_char, chunk.end_char) for chunk in FIXED.chunk("x" * 1001)] == [(0, 1000), (850, 1001)]


@pytest.mark.parametrize("chunker", [CLAUSE, FIXED])
@pytest.mark.parametrize("text", ["", "  \n\t\n"])
def test_a_blank_text_has_no_chunks(chunker: Chunker, text: str) -> None:
    assert chunker.chunk(text) == []


def test_the_signature_tells_strategies_and_settings_apart() -> None:
    assert len({CLAUSE.signature, FIXED.signature, SMALL_CLAUSE.signature, SMALL_FIXED.signature}) == 4
    assert build_chunker(ChunkingSettings()).signature == CLAUSE.signature


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        " ",
        "\n",
        "1. ",
        "1.  A",
        "1. A\n",
        "a. ",
        "1.1.",
        "§ 5 ",
        " \n",
        ".  ",
        "Section 1",
        "word ",
        "1 " + " " * 500,
    ],
)
@pytest.mark.parametrize("chunker", [CLAUSE, FIXED])
def test_hostile_texts_take_linear_time(chunker: Chunker, unit: str) -> None:
    text = unit * (100_000 // len(unit))
    started = time.perf_counter()
    chunker.chunk(text)
    # A second for what takes a tenth; the same text in quadratic time takes hours.
    assert time.perf_counter() - started < 5
