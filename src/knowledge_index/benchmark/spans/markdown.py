"""Small pieces of Markdown."""

from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table's lines, the first column to the left, the others to the right."""
    marks = ["---", *["---:"] * (len(heads) - 1)]
    return [_line(heads), _line(marks), *(_line([cell(each) for each in row]) for row in rows), ""]


def cell(text: str) -> str:
    """The text as it may stand in a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def quoted(text: str) -> str:
    """Wording of a document or a question on one line, its Markdown marks inert."""
    one_line = " ".join(text.split())
    return "“" + "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in one_line) + "”"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
