"""The contract of a converter."""

from typing import Protocol

from knowledge_index.domain.documents import ConvertedDocument


class Converter(Protocol):
    """Makes text from the bytes of one format.

    ``name`` and ``version`` are stored with every span; ``version`` is raised whenever the same bytes may give another
    text, since spans are valid against one text alone. ``suffixes`` are lower case with their dot.
    """

    @property
    def name(self) -> str: ...  # noqa: D102  the class says what it is

    @property
    def version(self) -> str: ...  # noqa: D102

    @property
    def suffixes(self) -> frozenset[str]: ...  # noqa: D102

    def convert(self, data: bytes) -> ConvertedDocument:
        """Convert ``data``; deterministic.

        Raises:
            ConversionError: the text cannot be had; its ``error_class`` says why.
        """
        ...
