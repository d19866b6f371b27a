"""The estates that are read, and the sync engine over them."""

from pathlib import Path

from knowledge_index.catalog.records import SourceRecord
from knowledge_index.domain.errors import UsageError
from knowledge_index.sources.base import SyncSource

LOCAL_FS = "local_fs"


def open_source(record: SourceRecord) -> SyncSource:
    """The connector of a configured source.

    Raises:
        UsageError: no connector of that kind exists.
    """
    if record.kind == LOCAL_FS:
        from knowledge_index.sources.local_fs import LocalFolderSource

        return LocalFolderSource(Path(record.root))
    raise UsageError(f"source '{record.name}' is of kind '{record.kind}', which this program has no connector for")
