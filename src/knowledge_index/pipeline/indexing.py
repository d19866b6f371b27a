"""The index stage: passages and profiles into the indexes, the catalog last."""

from collections.abc import Collection, Sequence

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.passage_records import window_keys
from knowledge_index.catalog.records import PipelineObject
from knowledge_index.chunking.base import Chunker
from knowledge_index.embed import CachedEmbedder
from knowledge_index.index.base import LexicalIndex, ProfileIndex, VectorIndex
from knowledge_index.pipeline.converting import quarantine_bug
from knowledge_index.pipeline.passages import Passage, Profile, fingerprint_of, passages_of, profile_of, vector_rows
from knowledge_index.pipeline.report import RunReport

# Rows in one write: small enough that a killed run loses seconds, large enough that commits do not count.
_ROWS_PER_WRITE = 128


class Indexer:
    """Brings the indexes to what the catalog says, in an order that a kill at any moment leaves repairable.

    The catalog first records the keys of the rows that are to be written or removed, its intent; the indexes follow,
    each durably; then the catalog refers to the rows and forgets the intent. No search ranks or counts a row of an
    intent, and a run after one that did not end has :class:`Doctor` compare the stores first.
    """

    def __init__(
        self,
        catalog: Catalog,
        lexical: LexicalIndex,
        profiles: ProfileIndex,
        vectors: VectorIndex,
        embedder: CachedEmbedder,
        chunker: Chunker,
        report: RunReport,
        *,
        ocr_languages: str,
    ) -> None:
        self._catalog = catalog
        self._lexical = lexical
        self._profiles = profiles
        self._vectors = vectors
        self._embedder = embedder
        self._chunker = chunker
        self._report = report
        self._ocr_languages = ocr_languages
        self._waiting: list[tuple[PipelineObject, Profile, list[Passage]]] = []
        self._waiting_keys: set[str] = set()
        with catalog.transaction() as session:
            session.meta.set_index_write_open(True)

    def index(self, each: PipelineObject) -> int:
        """Take one object in; returns how many objects were finished by this call (they are written in groups)."""
        assert each.converted_document_id is not None
        with self._catalog.transaction() as session:
            text = session.conversions.text(each.converted_document_id)
            identifiers = session.conversions.identifiers(each.converted_document_id)
        try:
            passages = passages_of(each, text, identifiers, self._chunker)
            profile = profile_of(each, text)
        except Exception as error:  # noqa: BLE001  one text that our own code fails on must not stop the estate
            quarantine_bug(self._catalog, each, error, self._report, self._ocr_languages)
            return 1
        self._waiting.append((each, profile, passages))
        self._waiting_keys.update(passage.row.row_key for passage in passages)
        return self.flush() if len(self._waiting_keys) >= _ROWS_PER_WRITE else 0

    def flush(self) -> int:
        """Write what waits; returns how many objects that were."""
        passages = {passage.row.row_key: passage for _, _, held in self._waiting for passage in held}
        profiles = {profile.row.row_key: profile for _, profile, _ in self._waiting}
        with self._catalog.transaction() as session:
            known = session.passages.known_row_keys(passages.keys() | profiles.keys())
        new_passages = [passages[key] for key in sorted(passages.keys() - known)]
        new_profiles = [profiles[key] for key in sorted(profiles.keys() - known)]
        if new_passages or new_profiles:
            self._write(new_passages, new_profiles)
        with self._catalog.transaction() as session:
            session.meta.set_index_intent(())
            session.passages.put_rows([*(new.row for new in new_passages), *(new.row for new in new_profiles)])
            for each, profile, held in self._waiting:
                session.passages.replace_chunks(each.id, [passage.chunk for passage in held], profile.chunk)
                fingerprint = fingerprint_of(each, self._chunker.signature, self._embedder.signature.id)
                session.pipeline_objects.set_indexed(each.id, fingerprint)
                self._report.passages += len(held)
        finished = len(self._waiting)
        self._report.indexed += finished
        self._waiting.clear()
        self._waiting_keys.clear()
        return finished

    def unindex(self, object_ids: Sequence[int]) -> None:
        """Take objects out that are gone, superseded or without text; their rows go with :meth:`finish`."""
        with self._catalog.transaction() as session:
            session.pipeline_objects.unindex(object_ids)
        self._report.unindexed += len(object_ids)

    def finish(self) -> None:
        """Remove rows that stand in no object any more, and say that the indexes agree with the catalog."""
        with self._catalog.transaction() as session:
            unused = session.passages.unused_rows()
        if unused:
            keys = {key for row_key, windows in unused.items() for key in (row_key, *window_keys(row_key, windows))}
            # From the catalog first: a row that an index still holds and the catalog does not is never returned.
            with self._catalog.transaction() as session:
                session.passages.delete_rows(unused.keys())
                session.meta.set_index_intent(keys)
            self._finish_intent(keys)
            # A profile has no windows; like rows_written, the report counts passages.
            self._report.rows_removed += sum(1 for windows in unused.values() if windows)
        self._vectors.compact()
        with self._catalog.transaction() as session:
            session.passages.settle()
            session.meta.set_index_write_open(False)

    def _finish_intent(self, keys: Collection[str]) -> None:
        """Remove rows that the catalog does not hold from the indexes, and say that it is done."""
        self._lexical.remove(keys)
        self._profiles.remove(keys)
        self._vectors.remove(keys)
        with self._catalog.transaction() as session:
            session.meta.set_index_intent(())

    def _write(self, passages: Sequence[Passage], profiles: Sequence[Profile]) -> None:
        computed, reused = self._embedder.computed, self._embedder.reused
        vectors = vector_rows([(passage.row, passage.text) for passage in passages], self._embedder)
        self._report.embeddings += self._embedder.computed - computed
        self._report.vectors_reused += self._embedder.reused - reused
        with self._catalog.transaction() as session:
            session.meta.set_index_intent(
                {*(each.row.row_key for each in passages), *(each.row.row_key for each in profiles)}
                | {each.row_key for each in vectors}
            )
        self._report.rows_written += self._lexical.add([passage.lexical_row() for passage in passages])
        self._profiles.add([profile.profile_row() for profile in profiles])
        self._vectors.add(vectors)
