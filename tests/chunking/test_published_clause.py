import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.chunking.published_clause import PublishedClauseChunker

EXTERNAL = Path(__file__).resolve().parents[2] / "external" / "cuad-20x50" / "eval_set.json"
FILLER = "and so on and so forth " * 10


def starts(text: str) -> list[int]:
    return [chunk.start_char for chunk in PublishedClauseChunker().chunk(text)]


@pytest.mark.parametrize(
    "header",
    [
        "ARTICLE IV",
        "Article 12",
        "SECTION 3.1",
        "Section 4",
        "5. Notices",
        "5.2 Notices",
        "5 Notices",
        "5.2 . “Notices”",
        '7 "Notices"',
        "7 (Notices)",
        "II. Notices",
    ],
)
def test_a_header_begins_a_chunk_ahead_of_the_blanks_that_lead_to_it(header: str) -> None:
    before = f"Preamble {FILLER}\n"
    assert starts(f"{before}  \t{header} {FILLER}") == [0, len(before)]
    before = f"Preamble {FILLER};"
    assert starts(f"{before}  {header} {FILLER}") == [0, len(before)]


@pytest.mark.parametrize("header", ["article 4", "Section IV", "5. notices", "5.\nNotices", "II.Notices", "a) Notices"])
def test_what_is_no_header_begins_no_chunk(header: str) -> None:
    assert starts(f"Preamble {FILLER}\n{header} {FILLER}") == [0]


def test_inside_a_line_a_header_needs_a_mark_and_two_blanks() -> None:
    assert starts(f"Preamble {FILLER}, 5. Notices {FILLER}") == [0]
    assert starts(f"Preamble {FILLER}. 5. Notices {FILLER}") == [0]


def test_a_section_under_200_characters_joins_the_one_before_it() -> None:
    first, last = f"1. Term {FILLER}\n", f"3. Law {FILLER}"
    of_200, of_199 = "2. Notice ".ljust(199, "x") + "\n", "2. Notice ".ljust(198, "x") + "\n"
    assert starts(first + of_200 + last) == [0, len(first), len(first) + 200]
    assert starts(first + of_199 + last) == [0, len(first) + 199]


def test_a_section_over_2000_is_cut_behind_a_period_and_the_blank_opens_the_next_piece() -> None:
    text = "1. Term " + "x" * 992 + ". " + "y" * 1500
    chunks = PublishedClauseChunker().chunk(text)
    assert [(chunk.start_char, chunk.end_char) for chunk in chunks] == [(0, 1001), (1001, len(text))]
    assert chunks[1].text.startswith(" y")


def test_without_a_sentence_it_is_cut_at_a_line_break_else_at_2000() -> None:
    lines = "1. Term " + "x" * 992 + "\n" + "y" * 1500
    assert starts(lines) == [0, 1000]
    assert starts("1. Term " + "x" * 3000) == [0, 2000]


@given(st.text(st.sampled_from("1. Aa\n\tI§"), max_size=400))
def test_chunks_tile_everything_but_white_space(text: str) -> None:
    chunks = PublishedClauseChunker().chunk(text)
    assert all(chunk.text == text[chunk.start_char : chunk.end_char] and chunk.text.strip() for chunk in chunks)
    covered = {place for chunk in chunks for place in range(chunk.start_char, chunk.end_char)}
    assert sum(chunk.end_char - chunk.start_char for chunk in chunks) == len(covered)
    assert all(place in covered or character.isspace() for place, character in enumerate(text))


def test_the_published_contracts_give_972_chunks() -> None:
    if not EXTERNAL.exists():
        pytest.skip("external/cuad-20x50 is not linked")
    documents = json.loads(EXTERNAL.read_text("utf-8"))["documents"]
    assert sum(len(PublishedClauseChunker().chunk(each["text"])) for each in documents) == 972
