"""Reading and converting ahead of the stage that takes the results, so that every core has something to do."""

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from knowledge_index.catalog.records import PipelineObject
from knowledge_index.config import ConversionSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.domain.documents import Content, ConvertedDocument
from knowledge_index.domain.errors import ConversionError, SourceError
from knowledge_index.sources.base import SyncSource


@dataclass
class _Started:
    future: "Future[ConvertedDocument]"
    turn: threading.Event


class ReadAhead:
    """Converts the files on disk that are ``waiting``, as many at a time as there are workers, in their order.

    ``has_text`` says whether an object's text is there already, so that nothing is done for it. A context manager;
    leaving it ends what is still at work. ``convert_bytes(name, data)`` converts what comes from elsewhere than a
    source, such as a file inside another.
    """

    def __init__(
        self,
        sources: Mapping[str, SyncSource],
        waiting: Sequence[PipelineObject],
        has_text: Callable[[PipelineObject], bool],
        settings: ConversionSettings,
    ) -> None:
        self.settings = settings
        self._isolated = IsolatedConverter(settings)
        self.convert_bytes: Callable[[str, Content], ConvertedDocument] = self._isolated.convert
        self._sources = sources
        self._waiting = waiting
        self._has_text = has_text
        self._place_by_id = {each.id: place for place, each in enumerate(waiting)}
        self._workers = settings.workers
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="convert")
        self._started: dict[int, _Started] = {}
        self._blobs: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._isolated.close()
        self._pool.shutdown(cancel_futures=True)

    def document(self, wanted: PipelineObject) -> ConvertedDocument:
        """The text of one of the objects.

        Raises:
            SourceError: the file cannot be read, or its bytes are no longer those that were synced.
            ConversionError: its text cannot be had.
        """
        self._start(wanted)
        first = self._place_by_id[wanted.id] + 1
        for upcoming in self._waiting[first : first + self._workers - 1]:
            # Of identical bytes only the first is converted: those behind it find its text in the catalog.
            blob = _blob(upcoming)
            if blob is not None and blob not in self._blobs and not self._has_text(upcoming):
                self._start(upcoming)
        started = self._started.pop(wanted.id)
        started.turn.set()
        return started.future.result()

    def _start(self, each: PipelineObject) -> None:
        if each.id in self._started:
            return
        blob = _blob(each)
        if blob is not None:
            self._blobs.add(blob)
        turn = threading.Event()
        self._started[each.id] = _Started(self._pool.submit(self._converted, each, turn), turn)

    def _converted(self, each: PipelineObject, turn: threading.Event) -> ConvertedDocument:
        data = self._sources[each.source].read(each.disk_path)
        if hashlib.sha256(data).hexdigest() != each.blob_sha256:
            raise SourceError("has changed since it was synced; run 'ki sync' again")
        return self._isolated.convert(each.path, data, turn)


def _blob(each: PipelineObject) -> tuple[str, str] | None:
    """What is converted once: the bytes, by one converter; None where none reads the format."""
    try:
        return each.blob_sha256, converter_for(each.path).name
    except ConversionError:
        return None
