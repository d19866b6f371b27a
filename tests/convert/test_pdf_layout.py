from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.convert.pdf_layout import Piece, reading_order

GERMAN = [f"Deutscher Text in Zeile {number} der linken Seite" for number in range(8)]
ENGLISH = [f"English wording in line {number} on the right hand" for number in range(8)]


def line(text: str, left: float, top: float, *, width: float = 220, height: float = 10) -> Piece:
    return Piece(text, left, top - height, left + width, top)


def test_lines_down_the_page_stay_as_they_are() -> None:
    assert reading_order([[line(text, 50, 700 - 12 * n)] for n, text in enumerate(GERMAN)]) == GERMAN


def test_columns_that_the_file_writes_line_by_line_are_read_one_after_the_other() -> None:
    rows = [
        [line(left, 50, 700 - 12 * n), line(right, 300, 700 - 12 * n)]
        for n, (left, right) in enumerate(zip(GERMAN, ENGLISH, strict=True))
    ]
    title, footer = [line("Title across the page", 50, 740, width=470)], [line("- 1 -", 260, 40, width=30)]
    assert reading_order([title, *rows, footer]) == ["Title across the page", *GERMAN, *ENGLISH, "- 1 -"]


def test_three_columns_side_by_side_keep_the_order_of_the_file() -> None:
    lines = [
        [line(f"c{column} l{row}", 50 + 180 * column, 700 - 12 * row, width=150)]
        for column in range(3)
        for row in range(5)
    ]
    assert reading_order(lines) == [f"c{column} l{row}" for column in range(3) for row in range(5)]


def test_rows_of_a_table_are_no_columns() -> None:
    rows = [
        [line(f"Ware {n}", 50, 700 - 12 * n, width=40), line(f"{n} EUR", 300, 700 - 12 * n, width=40)] for n in range(8)
    ]
    assert reading_order(rows) == [f"Ware {n} {n} EUR" for n in range(8)]


def test_labels_of_a_list_stay_with_their_text() -> None:
    rows = [[line(f"({n})", 50, 700 - 12 * n, width=12), line(GERMAN[n], 90, 700 - 12 * n)] for n in range(8)]
    assert reading_order(rows) == [f"({n}) {GERMAN[n]}" for n in range(8)]


def test_signature_blocks_side_by_side_keep_the_order_of_the_file() -> None:
    left, right = ["For A", "Name: Roe", "Date: 1 May"], ["For B", "Name: Doe", "Date: 2 May"]
    lines = [
        [line(text, x, 200 - 14 * n, width=90)]
        for x, block in ((50, left), (300, right))
        for n, text in enumerate(block)
    ]
    assert reading_order(lines) == left + right


def test_what_stands_above_is_read_first_whenever_it_was_drawn() -> None:
    body = [[line(text, 50, 700 - 12 * n)] for n, text in enumerate(GERMAN)]
    footer, header = [line("Seite 1", 50, 40)], [line("Kanzlei", 50, 800)]
    assert reading_order([footer, *body, header]) == ["Kanzlei", *GERMAN, "Seite 1"]


boxes = st.builds(
    lambda text, left, top, width, height: Piece(text, left, top - height, left + width, top),
    st.text("abc", min_size=1, max_size=30),
    *(st.floats(0, 800) for _ in range(2)),
    *(st.floats(0, 300) for _ in range(2)),
)


@given(st.lists(st.lists(boxes, min_size=1, max_size=3), max_size=25))
def test_no_piece_is_lost_or_doubled(lines: list[list[Piece]]) -> None:
    words = " ".join(reading_order(lines)).split()
    assert sorted(words) == sorted(piece.text for line in lines for piece in line)
