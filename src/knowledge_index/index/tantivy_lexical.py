"""The lexical index on Tantivy.

BM25's statistics span all rows, also those behind walls; compartments per ACL class are to end that.
"""

import json
import math
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from knowledge_index.domain.errors import BusyError, IndexStateError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index.analysis import ANALYZER_NAME, indexing_analyzer, normalised, query_terms, storable
from knowledge_index.index.base import LexicalRow, ScoredRow
from knowledge_index.index.pool import FetchedRows, complete_pool

if TYPE_CHECKING:
    import tantivy

# Raised whenever the schema or the analysis changes: terms made by another one would not be found.
_FORMAT = 1
_POINTER_NAME = "CURRENT"
_WRITER_HEAP_BYTES = 64_000_000
_MAX_KEY_BYTES = 65_000
_MAX_QUERY_TERMS = 256
_PHRASE_TOKENS = range(2, 13)
_PHRASE_BOOST = 2.0
_SIGNIFICANT_DIGITS = 6
_OPEN_ATTEMPTS = 5


def holds_generation(folder: Path) -> bool:
    """Whether ``folder`` holds an index that is in force."""
    return (folder / _POINTER_NAME).exists()


class _Pointer(NamedTuple):
    format: int
    generation: int


class TantivyLexicalIndex:
    """Keeps :class:`~knowledge_index.index.base.LexicalIndex` in ``folder``.

    Each rebuild writes a generation of its own, ``folder/<n>/``; the file ``CURRENT`` names the one in force and is
    replaced atomically. Every call sees what any process wrote before it.

    Errors: IndexStateError where the index is damaged or of another format, BusyError while another process writes,
    UsageError for a row that is malformed; nothing of the call is written then.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._opened: tuple[int, tantivy.Index] | None = None

    def add(self, rows: Sequence[LexicalRow]) -> int:
        """See :meth:`LexicalIndex.add`; one commit a call."""
        by_key: dict[str, LexicalRow] = {}
        for row in rows:
            _check(row)
            by_key.setdefault(storable(row.row_key), row)
        if not by_key:
            return 0
        with self._lock, self._damage_explained():
            index = self._current_index() or self._first_generation()
            if len(_present_keys(index, by_key)) == len(by_key):
                return 0
            writer = self._writer(index)
            try:
                index.reload()
                present = _present_keys(index, by_key)
                absent = [row for key, row in by_key.items() if key not in present]
                for row in absent:
                    writer.add_document(_document(row))
                writer.commit()
            finally:
                writer.wait_merging_threads()
        return len(absent)

    def rebuild(self, rows: Iterable[LexicalRow]) -> None:
        """See :meth:`LexicalIndex.rebuild`; also mends an index that is damaged or of another format."""
        with self._lock:
            existing = self._generation_folders()
            generation = max(existing, default=0) + 1
            target = self._folder / str(generation)
            try:
                self._write_generation(target, rows)
            except BaseException:
                shutil.rmtree(target, ignore_errors=True)
                raise
            self._point_at(generation)
            self._opened = None
            for old in existing:
                shutil.rmtree(self._folder / str(old), ignore_errors=True)

    def row_keys(self) -> set[str]:
        """See :meth:`LexicalIndex.row_keys`."""
        searcher = self._searcher()
        if searcher is None:
            return set()
        with self._damage_explained():
            # The term dictionary is the set of keys, since no row is ever deleted from a generation.
            return {key for key, _ in searcher.terms_with_prefix("row_key", "")}

    def search_text(self, query: str, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        """See :meth:`LexicalIndex.search_text`.

        BM25 over the distinct words of the query; a query of 2 to 12 words is also looked for as it is worded, which
        lifts rows that hold a pasted value verbatim.
        """
        import tantivy

        terms = query_terms(query)
        searcher = self._searcher() if scope.acl_class_ids and terms.alternatives else None
        if searcher is None:
            return []
        schema = _schema()
        with self._damage_explained():
            should = [_any_of(schema, each) for each in _rarest(searcher, terms.alternatives)]
            if not should:
                return []
            if len(terms.wording) in _PHRASE_TOKENS:
                phrase = tantivy.Query.phrase_query(schema, "text", list(terms.wording))
                should.append(tantivy.Query.boost_query(phrase, _PHRASE_BOOST))
            return _search(searcher, should, scope, filters, pool)

    def search_identifiers(
        self, identifiers: Collection[str], scope: Scope, filters: SearchFilters, pool: int
    ) -> list[ScoredRow]:
        """See :meth:`LexicalIndex.search_identifiers`; a row's score is the sum of its terms' BM25 idf."""
        import tantivy

        searcher = self._searcher() if scope.acl_class_ids and identifiers else None
        if searcher is None:
            return []
        schema = _schema()
        should = []
        with self._damage_explained():
            for identifier in sorted({storable(each) for each in identifiers}):
                frequency = searcher.doc_freq("identifiers", identifier)
                if frequency:
                    term = tantivy.Query.term_query(schema, "identifiers", identifier, index_option="basic")
                    idf = math.log(1 + (searcher.num_docs - frequency + 0.5) / (frequency + 0.5))
                    should.append(tantivy.Query.const_score_query(term, idf))
            return _search(searcher, should, scope, filters, pool) if should else []

    def _searcher(self) -> "tantivy.Searcher | None":
        with self._lock:
            index = self._current_index()
            return index.searcher() if index else None

    def _current_index(self) -> "tantivy.Index | None":
        """The generation in force, as of now, or None where nothing was written yet."""
        import tantivy

        error: Exception | None = None
        for _ in range(_OPEN_ATTEMPTS):
            pointer = self._pointer()
            if pointer is None:
                return None
            if pointer.format != _FORMAT:
                raise IndexStateError(
                    f"{self._folder}: the lexical index has format {pointer.format}, this version reads {_FORMAT}: "
                    "delete the folder and run 'ki run', which makes it anew"
                )
            try:
                if self._opened is None or self._opened[0] != pointer.generation:
                    index = tantivy.Index.open(str(self._folder / str(pointer.generation)))
                    index.register_tokenizer(ANALYZER_NAME, indexing_analyzer())
                    index.config_reader("manual")
                    self._opened = (pointer.generation, index)
                self._opened[1].reload()
            except (ValueError, OSError) as raised:
                # A rebuild in another process may have removed the generation in between.
                self._opened, error = None, raised
                continue
            return self._opened[1]
        raise IndexStateError(
            f"{self._folder}: the lexical index cannot be opened ({error}): "
            "delete the folder and run 'ki run', which makes it anew"
        )

    @contextmanager
    def _damage_explained(self) -> Iterator[None]:
        """What a person can act on, in place of the engine's errors; opening reads a file's end alone."""
        try:
            yield
        except BaseException as error:
            # The engine's panics, which some damage leads to, are no Exception.
            if not isinstance(error, ValueError | OSError | RuntimeError) and type(error).__name__ != "PanicException":
                raise
            raise IndexStateError(
                f"{self._folder}: the lexical index cannot be read or written ({error}): unless the disk is full or "
                "read-only it is damaged: delete the folder and run 'ki run', which makes it anew"
            ) from error

    def _writer(self, index: "tantivy.Index") -> "tantivy.IndexWriter":
        try:
            # One thread, so that the same rows always make the same segments.
            return index.writer(_WRITER_HEAP_BYTES, 1)
        except ValueError as error:
            raise BusyError(
                f"{self._folder}: another process writes to the lexical index; wait for it ({error})"
            ) from error

    def _first_generation(self) -> "tantivy.Index":
        # No pointer: whatever lies here was left by a run that was killed before it had one.
        for leftover in self._generation_folders():
            shutil.rmtree(self._folder / str(leftover))
        self._write_generation(self._folder / "1", ())
        self._point_at(1)
        index = self._current_index()
        assert index is not None
        return index

    def _write_generation(self, target: Path, rows: Iterable[LexicalRow]) -> None:
        import tantivy

        target.mkdir(parents=True)
        index = tantivy.Index(_schema(), path=str(target))
        index.register_tokenizer(ANALYZER_NAME, indexing_analyzer())
        writer = self._writer(index)
        written: set[str] = set()
        try:
            for row in rows:
                _check(row)
                if row.row_key not in written:
                    written.add(row.row_key)
                    writer.add_document(_document(row))
            writer.commit()
        finally:
            writer.wait_merging_threads()

    def _generation_folders(self) -> list[int]:
        if not self._folder.exists():
            return []
        return sorted(int(each.name) for each in self._folder.iterdir() if each.is_dir() and each.name.isdecimal())

    def _pointer(self) -> _Pointer | None:
        file = self._folder / _POINTER_NAME
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return _Pointer(int(content["format"]), int(content["generation"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise IndexStateError(
                f"{file}: is damaged ({error}): delete the folder {self._folder} and run 'ki run', which makes it anew"
            ) from error

    def _point_at(self, generation: int) -> None:
        pointer = _Pointer(_FORMAT, generation)
        temporary = self._folder / f"{_POINTER_NAME}.new"
        with temporary.open("w", encoding="utf-8") as stream:
            json.dump(pointer._asdict(), stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self._folder / _POINTER_NAME)
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _schema() -> "tantivy.Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("row_key", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("acl_class_id", "matter_ref", "identifiers"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name=ANALYZER_NAME, index_option="position")
    return builder.build()


def _check(row: LexicalRow) -> None:
    """Refuse what would kill Tantivy's writer thread or be dropped by it, both of which it does silently."""
    texts = (row.row_key, row.acl_class_id, row.matter_ref, row.text, *row.identifiers)
    if isinstance(row.identifiers, str) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"lexical row {row.row_key!r}: every field has to be text, identifiers a tuple of texts")
    for text in (row.row_key, row.acl_class_id, row.matter_ref, *row.identifiers):
        if len(storable(text).encode()) > _MAX_KEY_BYTES:
            raise UsageError(
                f"lexical row {row.row_key[:80]!r}: a key of over {_MAX_KEY_BYTES} bytes cannot be indexed"
            )
    if not row.row_key or not row.acl_class_id:
        raise UsageError(f"lexical row {row.row_key!r}: needs a row key and an ACL class")


def _document(row: LexicalRow) -> "tantivy.Document":
    import tantivy

    document = tantivy.Document()
    document.add_text("row_key", storable(row.row_key))
    document.add_text("acl_class_id", storable(row.acl_class_id))
    document.add_text("matter_ref", storable(row.matter_ref))
    document.add_text("text", normalised(row.text))
    for identifier in sorted(set(row.identifiers)):
        document.add_text("identifiers", storable(identifier))
    return document


def _present_keys(index: "tantivy.Index", keys: Collection[str]) -> set[str]:
    import tantivy

    searcher = index.searcher()
    query = tantivy.Query.term_set_query(_schema(), "row_key", list(keys))
    hits = searcher.search(query, limit=len(keys), count=False).hits
    return {_row_key(searcher, address) for _, address in hits}


def _row_key(searcher: "tantivy.Searcher", address: "tantivy.DocAddress") -> str:
    return str(searcher.doc(address).get_first("row_key"))


def _any_of(schema: "tantivy.Schema", terms: Sequence[str]) -> "tantivy.Query":
    import tantivy

    queries = [tantivy.Query.term_query(schema, "text", term) for term in terms]
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(queries)


def _rarest(searcher: "tantivy.Searcher", alternatives: tuple[tuple[str, ...], ...]) -> Sequence[tuple[str, ...]]:
    """All words of a query, or the rarest of them where it has too many: a whole document pasted as a query."""
    if len(alternatives) <= _MAX_QUERY_TERMS:
        return alternatives
    frequency = {each: sum(searcher.doc_freq("text", term) for term in each) for each in alternatives}
    found = [each for each in alternatives if frequency[each]]
    return sorted(found, key=lambda each: (frequency[each], each))[:_MAX_QUERY_TERMS]


def _search(
    searcher: "tantivy.Searcher", should: Sequence["tantivy.Query"], scope: Scope, filters: SearchFilters, pool: int
) -> list[ScoredRow]:
    import tantivy

    schema = _schema()
    must = [tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in should])]
    for field, values in (("acl_class_id", scope.acl_class_ids), ("matter_ref", filters.matter_refs)):
        if values:
            allowed = tantivy.Query.term_set_query(schema, field, sorted(storable(value) for value in values))
            must.append(tantivy.Query.const_score_query(allowed, 0.0))
    query = tantivy.Query.boolean_query([(tantivy.Occur.Must, each) for each in must])
    return complete_pool(_fetcher(searcher, query), pool)


def _fetcher(searcher: "tantivy.Searcher", query: "tantivy.Query") -> Callable[[int], FetchedRows]:
    def fetch(limit: int) -> FetchedRows:
        hits = searcher.search(query, limit=max(1, min(limit, searcher.num_docs)), count=False).hits
        rows = [ScoredRow(_row_key(searcher, address), _rounded(score)) for score, address in hits]
        complete = len(hits) < limit
        return FetchedRows(rows, None if complete else rows[-1].score)

    return fetch


def _rounded(score: float) -> float:
    """Six significant digits: engines sum float32 in an order that differs between segmentations of the same rows."""
    return float(f"{score:.{_SIGNIFICANT_DIGITS}g}")
