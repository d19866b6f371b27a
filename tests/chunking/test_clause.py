import pytest

from knowledge_index.chunking import build_chunker
from knowledge_index.chunking.headings import find_headings
from knowledge_index.chunking.sentences import cut_position
from knowledge_index.config import ChunkingSettings

CHUNKER = build_chunker(ChunkingSettings())
LONG = "The parties agree on what this sentence says. " * 6
"""A text that is long enough to be a clause of its own."""


def headings_of(text: str) -> list[str]:
    return [heading.text for heading in find_headings(text)]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("ARTICLE IV TERM AND TERMINATION", "ARTICLE IV TERM AND TERMINATION"),
        ("Article 12", "Article 12"),
        ("SECTION 4.2 Fees. The fees are due.", "SECTION 4.2 Fees"),
        ("  1. Appointment. Client appoints Agent.", "1. Appointment"),
        ("1.2.3 Notices", "1.2.3 Notices"),
        ('2 "Affiliate" means any person', '2 "Affiliate" means any person'),
        ("7.(Reserved)", None),
        ("7. (Reserved)", "7. (Reserved)"),
        ("IX. GENERAL", "IX. GENERAL"),
        ("§ 5 Haftung", "§ 5 Haftung"),
        ("§ 12a Übergang", "§ 12a Übergang"),
        ("§5", "§5"),
        ("§ 7: Kündigung", "§ 7: Kündigung"),
        ("Artikel 3", "Artikel 3"),
        ("Ziffer 4 Preise", "Ziffer 4 Preise"),
        ("4. Änderungen", "4. Änderungen"),
        ("Anlage 1", "Anlage 1"),
        ("Anhang 2 – Preisliste", "Anhang 2 – Preisliste"),
        ("Schedule A", "Schedule A"),
        ("EXHIBIT 10.2", "EXHIBIT 10.2"),
        ("Annex II: Data", "Annex II: Data"),
        ("Appendix B-1 Forms", "Appendix B-1 Forms"),
        ("§ 5 Abs. 2 gilt entsprechend.", None),
        ("§ 433 BGB ist anzuwenden.", None),
        ("§ 5 gilt entsprechend.", None),
        ("Anlage 1 enthält die Preise.", None),
        ("Exhibit A hereto lists them.", None),
        ("Exhibits are attached.", None),
        ("(a) the first item", None),
        ("12 months after", None),
        ("Sections 4 and 5", None),
    ],
)
def test_which_lines_are_headings(line: str, heading: str | None) -> None:
    expected = [] if heading is None else [heading]
    if line == "7.(Reserved)":
        # An opening parenthesis counts only when a capital follows it at once, blanks before it are optional.
        expected = ["7.(Reserved)"]
    assert headings_of(f"Text before.\n{line}\nText.") == expected


def test_a_heading_inside_a_line_needs_a_stop_and_two_blanks() -> None:
    assert headings_of("as agreed.  2. Term. It lasts.") == ["2. Term"]
    assert headings_of("as agreed. 2. Term. It lasts.") == []
    assert headings_of("as agreed  2. Term. It lasts.") == []


def test_a_dotted_number_opens_a_subclause_one_blank_behind_a_sentence() -> None:
    assert headings_of("is final. 5.2 Delivery. It is due.") == ["5.2 Delivery"]
    assert headings_of("ist bindend. 5.2.1 Änderungen. Sie gelten.") == ["5.2.1 Änderungen"]
    for text in (
        "see Art. 6.1 Data",
        "siehe Nr. 3.2 Satz",
        "ca. 1.5 Mio. Euro",
        "about. 2.5 Million",
        "under 5.2 Delivery",
    ):
        assert headings_of(text) == []


def test_a_page_number_does_not_join_the_line_below() -> None:
    assert headings_of("end of page\n12\n\nThe next page") == []


def test_a_number_that_goes_on_from_the_line_above_is_no_heading() -> None:
    assert headings_of("zahlbar innerhalb von\n14 Tagen nach Erhalt") == []
    assert headings_of("zahlbar sofort.\n14 Tagesfristen") == ["14 Tagesfristen"]
    assert headings_of("1. Definitions\n1.1 Terms") == ["1. Definitions", "1.1 Terms"]


def test_a_long_heading_is_cut_between_words() -> None:
    (heading,) = headings_of("1. The Supplier " + "shall deliver goods " * 20)
    assert len(heading) <= 120
    assert heading.endswith(("shall", "deliver", "goods"))


def test_the_preamble_is_a_chunk_of_its_own() -> None:
    chunks = CHUNKER.chunk("SUPPLY AGREEMENT\nbetween A and B\n\n1. Supply. A supplies.\n2. Term. " + LONG)
    assert [chunk.text.split("\n")[0][:16] for chunk in chunks] == [
        "SUPPLY AGREEMENT",
        "1. Supply. A sup",
        "2. Term. The par",
    ]
    assert [chunk.heading for chunk in chunks] == ["", "1. Supply", "2. Term"]


def test_a_page_number_is_no_preamble() -> None:
    assert [chunk.heading for chunk in CHUNKER.chunk("21\n1. Term. It lasts.")] == ["1. Term"]


def test_a_text_without_headings_is_cut_like_a_clause() -> None:
    chunks = CHUNKER.chunk(LONG * 10)
    assert len(chunks) > 1
    assert all(chunk.text.endswith("says.") for chunk in chunks)
    assert {chunk.heading for chunk in chunks} == {""}


def test_a_short_clause_joins_the_one_before_it() -> None:
    chunks = CHUNKER.chunk(f"1. First. {LONG}\n2. Second clause is short.\n3. Third. {LONG}")
    assert [chunk.heading for chunk in chunks] == ["1. First", "3. Third"]
    assert chunks[0].text.endswith("2. Second clause is short.")


def test_a_heading_without_text_joins_the_clause_after_it() -> None:
    chunks = CHUNKER.chunk(f"1. First. {LONG}\nARTICLE II\n2.1 Second. {LONG}")
    assert [chunk.heading for chunk in chunks] == ["1. First", "ARTICLE II"]
    assert chunks[1].text.startswith("ARTICLE II\n2.1 Second.")


def test_a_table_of_contents_stays_together_and_keeps_no_clause_from_its_heading() -> None:
    contents = "\n".join(f"{number}. Clause number {number}" for number in range(1, 15))
    chunks = CHUNKER.chunk(f"Contents\n{contents}\nARTICLE I\n{LONG}")
    assert [chunk.heading for chunk in chunks] == ["", "1. Clause number 1", "ARTICLE I"]
    chunks = CHUNKER.chunk(f"Contents\n{contents}\nARTICLE I\n1.1 First. {LONG}")
    assert [chunk.heading for chunk in chunks] == ["", "1. Clause number 1", "ARTICLE I"]


def test_joining_never_makes_a_clause_too_long() -> None:
    first = "1. First. " + "The parties agree. " * 100
    chunks = CHUNKER.chunk(f"{first}\n2. Second clause. {'It is short. ' * 12}")
    assert [chunk.heading for chunk in chunks] == ["1. First", "2. Second clause"]


def test_a_clause_within_the_limit_is_not_cut() -> None:
    clause = "1. First. " + "The parties agree. " * 104
    assert 1900 < len(clause) < 2000
    assert len(CHUNKER.chunk(clause)) == 1


def test_a_longer_clause_is_cut_at_ends_of_sentences_and_keeps_its_heading() -> None:
    clause = "5. Liability. " + "Acme Inc. pays under No. 5 what is due. " * 100
    chunks = CHUNKER.chunk(clause)
    assert len(chunks) == 3
    assert all(chunk.text.endswith("what is due.") for chunk in chunks)
    assert {chunk.heading for chunk in chunks} == {"5. Liability"}


def test_versions_of_a_clause_share_its_heading_and_unchanged_clauses_their_text() -> None:
    draft = f"Draft\n1. Term. {LONG}\n2. Law. {LONG}"
    final = f"Final version\n1. Term. {LONG} Two years.\n2. Law. {LONG}"
    before, after = CHUNKER.chunk(draft), CHUNKER.chunk(final)
    assert [chunk.heading for chunk in before] == [chunk.heading for chunk in after]
    assert before[2].text == after[2].text


@pytest.mark.parametrize(
    "sentence",
    [
        "Acme Inc. Berlin",
        "see No. V",
        "nach Abs. Zwei",
        "z.B. Stahl",
        "am 28. September",
        "by J. Doe",
        "e.g. Steel",
        "bzw. Kupfer",
        "approx. five",
    ],
)
def test_no_cut_behind_an_abbreviation(sentence: str) -> None:
    text = f"One ends here. Then {sentence} goes on and on"
    assert cut_position(text, 0, 5, len(text) - 10) == len("One ends here.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "yes." Then more words', 'He said "yes."'),
        ("in 2018. The next one goes on", "in 2018."),
        ("no stop here\nnor there at all", "no stop here\n"),
        ("no stop nor a line break at all", "no stop nor a line break "),
        ("x" * 40, "x" * 25),
        ("(a) first item;\n(b) second item", "(a) first item;"),
    ],
)
def test_the_best_cut(text: str, expected: str) -> None:
    assert text[: cut_position(text, 0, 5, 25)] == expected
