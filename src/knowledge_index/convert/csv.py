"""Tables in plain text: values parted by commas, semicolons or tabs."""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from knowledge_index.convert.normalise import converted
from knowledge_index.convert.plaintext import decode
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError

_DELIMITERS = (";", "\t", ",", "|")
_CELL_SEPARATOR = " | "
_SAMPLE_ROWS = 50
_STATED_DELIMITER = "sep="
_MAX_CELL_CHARS = 10_000_000


class CsvConverter:
    """Each row that holds something as a line, its cells joined by " | ", line ends inside a cell as blanks.

    The delimiter is the one that the file states (``sep=;``), or that gives the most rows the same number of cells:
    a comma in ``1.234,56`` is none where semicolons part the cells. Values stay as they are written. No title.
    """

    name = "csv"
    version = "1"
    suffixes = frozenset({".csv", ".tsv"})

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert a .csv or .tsv.

        Raises:
            ConversionError: ``damaged`` where the bytes are no text, or ``empty``.
        """
        text = decode(data).replace("\x00", "")
        first, _, rest = text.partition("\n")
        stated = first.strip().casefold()
        if stated.startswith(_STATED_DELIMITER) and len(stated) == len(_STATED_DELIMITER) + 1:
            delimiter, text = stated[-1], rest
        else:
            delimiter = _delimiter(text)
        lines = (
            _CELL_SEPARATOR.join(cell for raw in row if (cell := " ".join(raw.split())))
            for row in _rows(text, delimiter)
        )
        return converted("\n".join(line for line in lines if line), None, self.name, self.version)


CONVERTER = CsvConverter()


def _delimiter(text: str) -> str:
    """The delimiter that makes the most of the first rows alike; without any, a comma."""
    best, best_score = ",", (0, 0)
    for delimiter in _DELIMITERS:
        widths = Counter(len(row) for row in islice(_rows(text, delimiter), _SAMPLE_ROWS) if row)
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1], item[0]), default=(0, 0))
        score = (count, width) if width > 1 else (0, 0)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(_MAX_CELL_CHARS)
    try:
        yield from csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    except csv.Error as error:
        raise ConversionError("damaged", f"the table cannot be read: {error}") from error
