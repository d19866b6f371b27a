"""The configurations that are compared: named settings of a few levers."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum

from knowledge_index.domain.errors import UsageError


class Chunking(StrEnum):
    """How the text is cut."""

    FIXED_1000 = "fixed windows of 1,000 with 150 overlap"
    FIXED_500 = "fixed windows of 500"
    PUBLISHED_CLAUSE = "published clause rule"
    PRODUCT = "the product's chunking"
    PRODUCT_500 = "the product's chunking at about 500 characters"


class Retriever(StrEnum):
    """What ranks the chunks."""

    DENSE = "dense"
    BM25 = "bm25"
    HYBRID = "hybrid"
    PRODUCT = "the product's legs and fusion"


class Lever(StrEnum):
    """One thing that two configurations may differ in; each is a field of :class:`Configuration`."""

    CHUNKING = "chunking"
    RETRIEVER = "retriever"
    CONTEXT_HEADER = "context_header"
    RERANK = "rerank"
    DOCUMENT_SCOPE = "document_scope"
    METADATA_FILTER = "metadata_filter"

    @property
    def words(self) -> str:
        """The lever's name for people."""
        return self.value.replace("_", " ")


@dataclass(frozen=True)
class Configuration:
    """One setting of every lever.

    ``document_scope``: only the question's document is searched. ``metadata_filter``: only documents that the
    question's filters let through. ``context_header``: the product's header is embedded and indexed before each chunk.
    """

    name: str
    chunking: Chunking
    retriever: Retriever
    context_header: bool = False
    rerank: bool = False
    document_scope: bool = True
    metadata_filter: bool = False

    @property
    def through_product(self) -> bool:
        """Whether it goes the product's whole way, from source to search."""
        return self.retriever is Retriever.PRODUCT


SCOPED_CONFIGURATIONS = (
    Configuration("naive", Chunking.FIXED_1000, Retriever.DENSE),
    Configuration("clause", Chunking.PUBLISHED_CLAUSE, Retriever.DENSE),
    Configuration("clause+rerank", Chunking.PUBLISHED_CLAUSE, Retriever.DENSE, rerank=True),
    Configuration("clause+bm25", Chunking.PUBLISHED_CLAUSE, Retriever.BM25),
    Configuration("clause+hybrid", Chunking.PUBLISHED_CLAUSE, Retriever.HYBRID),
    Configuration("clause+hybrid+rerank", Chunking.PUBLISHED_CLAUSE, Retriever.HYBRID, rerank=True),
    Configuration("clause-unfiltered", Chunking.PUBLISHED_CLAUSE, Retriever.DENSE, document_scope=False),
    Configuration(
        "clause-filtered", Chunking.PUBLISHED_CLAUSE, Retriever.DENSE, document_scope=False, metadata_filter=True
    ),
    Configuration("clause+header", Chunking.PUBLISHED_CLAUSE, Retriever.DENSE, context_header=True),
    Configuration("product-clause", Chunking.PRODUCT, Retriever.DENSE),
    Configuration("full", Chunking.PRODUCT, Retriever.PRODUCT, context_header=True),
)
"""For questions that are asked of one document."""

CORPUS_CONFIGURATIONS = (
    Configuration("dense", Chunking.FIXED_500, Retriever.DENSE, document_scope=False),
    Configuration("hybrid", Chunking.FIXED_500, Retriever.HYBRID, document_scope=False),
    Configuration("full", Chunking.PRODUCT, Retriever.PRODUCT, context_header=True, document_scope=False),
    Configuration("full-500", Chunking.PRODUCT_500, Retriever.PRODUCT, context_header=True, document_scope=False),
)
"""For questions that are asked of the whole corpus."""


def differing_levers(first: Configuration, second: Configuration) -> tuple[Lever, ...]:
    """The levers in which two configurations differ, found by comparing every field but the name."""
    return tuple(
        Lever(field.name)
        for field in fields(Configuration)
        if field.name != "name" and getattr(first, field.name) != getattr(second, field.name)
    )


def select_configurations(known: tuple[Configuration, ...], names: Iterable[str]) -> tuple[Configuration, ...]:
    """Those of the names, in the shipped order; all where no name is given.

    Raises:
        UsageError: there is no configuration of a name.
    """
    wanted = set(names)
    unknown = sorted(wanted - {each.name for each in known})
    if unknown:
        shipped = ", ".join(each.name for each in known)
        raise UsageError(f"there is no configuration '{unknown[0]}'; there are {shipped}")
    return tuple(each for each in known if not wanted or each.name in wanted)
