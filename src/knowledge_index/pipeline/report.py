"""What a run did."""

from dataclasses import dataclass, field

from knowledge_index.catalog.status_records import QuarantinedObject


@dataclass
class RunReport:
    """Counts of one run; filled while it goes on.

    ``conversions`` counts blobs converted, ``embeddings`` texts that a model was asked for, ``vectors_reused`` texts
    whose vector the cache had. ``unread`` are (path, reason) of files that could not be read as they were synced.
    """

    objects: int = 0
    conversions: int = 0
    enriched: int = 0
    indexed: int = 0
    unindexed: int = 0
    passages: int = 0
    rows_written: int = 0
    rows_removed: int = 0
    embeddings: int = 0
    vectors_reused: int = 0
    left_for_later: int = 0
    quarantined: list[QuarantinedObject] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
