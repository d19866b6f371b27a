"""The contract of a chunker."""

from typing import Protocol

from knowledge_index.domain.documents import Chunk


class Chunker(Protocol):
    """Cuts a text into chunks.

    ``signature`` names the strategy, its version and its settings: an index made with another signature is made anew.
    """

    signature: str

    def chunk(self, text: str) -> list[Chunk]:
        """The chunks in order of their start.

        Every chunk has ``text == document_text[start_char:end_char]`` and at least one character that is not white
        space; together the chunks cover all such characters. An empty or blank text has none.
        """
        ...
