"""The lexical index: one compartment an ACL class, each a few immutable segment files, under one manifest.

A search opens the compartments of its scope and no other; document frequencies, row counts and lengths are summed over
them at query time. So a result is a function of the visible rows: what other compartments hold, in what order rows
came, how they lie in segments, or what was there before, does not enter.
"""

import contextlib
import hashlib
import json
import shutil
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from knowledge_index.domain.errors import IndexStateError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index.analysis import QueryTerms, query_terms, storable
from knowledge_index.index.base import (
    NO_EXPANSION,
    Expansion,
    GermanWeights,
    LexicalRow,
    ProfileMatches,
    RowDifferences,
    ScoredRow,
)
from knowledge_index.index.bm25 import PooledSegments
from knowledge_index.index.durable import fsync_folder, write_durably
from knowledge_index.index.open_segments import OpenSegments, SegmentFile
from knowledge_index.index.segment import (
    Segment,
    build_segment,
    encoded,
    merge_segments,
    row_contents,
    without_rows,
)

# Raised whenever the files' form or the analysis changes: terms made by another one would not be found.
FORMAT = 2
_MANIFEST_NAME = "CURRENT"
_SEGMENT_SUFFIX = ".segment"
_OPEN_ATTEMPTS = 5
_ROWS_PER_BUILD = 20_000
# About 1.3 KB of memory each.
_MAX_ROWS_IN_MEMORY = 200_000


@dataclass(frozen=True)
class _Manifest:
    """What is in force: the segments of each ACL class, and the number that the next file is named by."""

    next_number: int
    compartments: dict[str, tuple[SegmentFile, ...]]

    def files(self) -> set[str]:
        """The names of all segment files."""
        return {each.name for files in self.compartments.values() for each in files}


def holds_manifest(folder: Path) -> bool:
    """Whether ``folder`` holds an index that is in force."""
    return (folder / _MANIFEST_NAME).exists()


class CompartmentedLexicalIndex:
    """Keeps :class:`~knowledge_index.index.base.LexicalIndex` in ``folder``.

    The file ``CURRENT`` names the segments in force and is replaced atomically, last of all; a segment is never changed
    once it is named. Every call sees what any process wrote before it. One process writes at a time, which its caller
    ensures.

    Errors: IndexStateError where the index is damaged or of another format, UsageError for a row that is malformed;
    nothing of the call is written then.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._known: tuple[tuple[int, ...], _Manifest] | None = None
        self._segments = OpenSegments(folder)
        self._keys: tuple[_Manifest, set[str]] | None = None

    def add(self, rows: Sequence[LexicalRow]) -> int:
        """See :meth:`LexicalIndex.add`; all of a call's rows come into force at once."""
        by_key: dict[str, LexicalRow] = {}
        for row in rows:
            _check(row)
            by_key.setdefault(storable(row.row_key), row)
        with self._lock, self._damage_explained():
            manifest = self._manifest()
            present = self._present_keys(manifest)
            absent = [row for key, row in by_key.items() if key not in present]
            if absent:
                self._add_to(manifest, absent)
        return len(absent)

    def remove(self, row_keys: Collection[str]) -> None:
        """See :meth:`LexicalIndex.remove`; writes the segments anew that hold one of the rows."""
        gone = {storable(key) for key in row_keys}
        with self._lock, self._damage_explained():
            manifest = self._manifest()
            compartments = dict(manifest.compartments)
            number = manifest.next_number
            for acl_class_id, files in manifest.compartments.items():
                kept: list[SegmentFile] = []
                for file in files:
                    segment = self._segments.segment(file)
                    found = gone & segment.row_of_key.keys()
                    if not found:
                        kept.append(file)
                    elif len(found) < segment.row_count:
                        kept.append(self._write(acl_class_id, number, without_rows(segment, found)))
                        number += 1
                compartments[acl_class_id] = tuple(kept)
            if compartments != manifest.compartments:
                held = {each: files for each, files in compartments.items() if files}
                self._bring_into_force(_Manifest(number, held))

    def rebuild(self, rows: Iterable[LexicalRow]) -> None:
        """See :meth:`LexicalIndex.rebuild`; also mends an index that is damaged or of another format."""
        with self._lock:
            number = max(self._numbers_on_disk(), default=0) + 1
            compartments: dict[str, tuple[SegmentFile, ...]] = {}
            waiting: dict[str, list[Segment]] = {}
            waiting_rows = 0

            def write_waiting() -> None:
                nonlocal number
                for acl_class_id, segments in sorted(waiting.items()):
                    file = self._write(acl_class_id, number, merge_segments(segments))
                    compartments[acl_class_id] = (*compartments.get(acl_class_id, ()), file)
                    number += 1
                waiting.clear()

            for part in _parts(rows, set()):
                for acl_class_id, of_class in _by_class(part).items():
                    waiting.setdefault(acl_class_id, []).append(build_segment(of_class))
                waiting_rows += len(part)
                if waiting_rows >= _MAX_ROWS_IN_MEMORY:
                    write_waiting()
                    waiting_rows = 0
            write_waiting()
            self._bring_into_force(_Manifest(number, compartments))

    def row_keys(self) -> set[str]:
        """See :meth:`LexicalIndex.row_keys`."""
        with self._lock, self._damage_explained():
            return set(self._present_keys(self._manifest()))

    def compare(self, rows: Iterable[LexicalRow]) -> RowDifferences:
        """See :meth:`LexicalIndex.compare`."""
        held: dict[str, tuple[str, bytes]] = {}
        damaged = []
        with self._lock:
            try:
                manifest = self._manifest()
            except IndexStateError as error:
                manifest = _Manifest(1, {})
                damaged.append(str(error))
            for acl_class_id, files in sorted(manifest.compartments.items()):
                for file in files:
                    try:
                        with self._damage_explained():
                            contents = row_contents(self._segments.read(file))
                    except IndexStateError as error:
                        damaged.append(str(error))
                    else:
                        held |= {key: (acl_class_id, content) for key, content in contents.items()}
        missing: set[str] = set()
        altered: set[str] = set()
        expected: set[str] = set()
        for part in _parts(rows, expected):
            for acl_class_id, of_class in _by_class(part).items():
                for key, content in row_contents(build_segment(of_class)).items():
                    if key not in held:
                        missing.add(key)
                    elif held[key] != (acl_class_id, content):
                        altered.add(key)
        return RowDifferences(frozenset(missing), frozenset(held.keys() - expected), frozenset(altered), tuple(damaged))

    def search_text(
        self,
        query: str,
        scope: Scope,
        filters: SearchFilters,
        pool: int,
        expansion: Expansion = NO_EXPANSION,
    ) -> list[ScoredRow]:
        """See :meth:`LexicalIndex.search_text`.

        BM25 over the distinct words of the query; a query of 2 to 12 words is also looked for as it is worded, which
        lifts rows that hold a pasted value verbatim.
        """
        terms = query_terms(query)
        if not scope.acl_class_ids or not terms.alternatives:
            return []
        with self._damage_explained():
            pooled = PooledSegments(self._visible(scope), filters.excluded_row_keys)
            return pooled.search_text(terms, filters, pool, expansion)

    def search_identifiers(
        self, identifiers: Collection[str], scope: Scope, filters: SearchFilters, pool: int
    ) -> list[ScoredRow]:
        """See :meth:`LexicalIndex.search_identifiers`; a row's score is the sum of its terms' BM25 idf."""
        if not scope.acl_class_ids or not identifiers:
            return []
        with self._damage_explained():
            pooled = PooledSegments(self._visible(scope), filters.excluded_row_keys)
            return pooled.search_identifiers(identifiers, filters, pool)

    def search_profiles(
        self,
        terms: QueryTerms,
        fields: Sequence[tuple[str, float]],
        scope: Scope,
        filters: SearchFilters,
        pool: int,
        german: GermanWeights,
    ) -> ProfileMatches:
        """See :meth:`ProfileIndex.search`; see :meth:`PooledSegments.search_profiles` for ``fields``."""
        if not scope.acl_class_ids or not terms.alternatives:
            return ProfileMatches((), {}, 0)
        with self._damage_explained():
            pooled = PooledSegments(self._visible(scope), filters.excluded_row_keys)
            return pooled.search_profiles(terms, fields, filters, pool, german)

    def _visible(self, scope: Scope) -> list[Segment]:
        """The segments of the scope's compartments, as of now."""
        with self._lock:
            error: Exception | None = None
            for _ in range(_OPEN_ATTEMPTS):
                compartments = self._manifest().compartments
                classes = sorted(map(storable, scope.acl_class_ids))
                files = tuple(file for each in classes for file in compartments.get(each, ()))
                try:
                    return self._segments.together(files)
                except FileNotFoundError as raised:
                    # Another process may have replaced the manifest and removed the file in between.
                    self._known, error = None, raised
            raise ValueError(f"a segment is missing ({error})")

    def _present_keys(self, manifest: _Manifest) -> set[str]:
        if self._keys is None or self._keys[0] is not manifest:
            keys = {
                key
                for files in manifest.compartments.values()
                for file in files
                for key in self._segments.segment(file).row_keys()
            }
            self._keys = (manifest, keys)
        return self._keys[1]

    def _add_to(self, manifest: _Manifest, rows: Sequence[LexicalRow]) -> None:
        present = self._present_keys(manifest)
        compartments = dict(manifest.compartments)
        number = manifest.next_number
        for acl_class_id, of_class in _by_class(rows).items():
            files = list(compartments.get(acl_class_id, ()))
            segment = build_segment(of_class)
            # As in a binary counter: each row is written anew log2(adds) times, and so many segments are left.
            while files and files[-1].rows <= segment.row_count:
                segment = merge_segments([self._segments.segment(files.pop()), segment])
            compartments[acl_class_id] = (*files, self._write(acl_class_id, number, segment))
            number += 1
        self._bring_into_force(_Manifest(number, compartments))
        assert self._known is not None
        self._keys = (self._known[1], present | {storable(row.row_key) for row in rows})

    def _write(self, acl_class_id: str, number: int, segment: Segment) -> SegmentFile:
        """Write a segment that no manifest names yet; it is on disk when this returns."""
        name = f"{hashlib.sha256(acl_class_id.encode()).hexdigest()[:32]}/{number}{_SEGMENT_SUFFIX}"
        content = encoded(segment)
        file = SegmentFile(name, segment.row_count, len(content), zlib.crc32(content))
        target = self._folder / name
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
            fsync_folder(self._folder)
        write_durably(target, content)
        return file

    def _bring_into_force(self, manifest: _Manifest) -> None:
        """Replace the manifest, then remove what it does not name."""
        content = {
            "format": FORMAT,
            "next_number": manifest.next_number,
            "compartments": {
                each: [asdict(file) for file in files] for each, files in sorted(manifest.compartments.items())
            },
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        write_durably(self._folder / _MANIFEST_NAME, json.dumps(content).encode())
        self._known = (self._mark(), manifest)
        named = manifest.files()
        for each in self._folder.iterdir():
            if not each.is_dir():
                continue
            for file in each.iterdir():
                if f"{each.name}/{file.name}" not in named:
                    shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                each.rmdir()
        self._segments.forget_all_but(named)

    def _manifest(self) -> _Manifest:
        """The manifest in force, as of now; an empty one where nothing was written yet."""
        file = self._folder / _MANIFEST_NAME
        try:
            mark = self._mark()
            if self._known is not None and self._known[0] == mark:
                return self._known[1]
            content = json.loads(file.read_text(encoding="utf-8"))
            found = int(content["format"])
            if found == FORMAT:
                compartments = {
                    each: tuple(SegmentFile(**file) for file in files)
                    for each, files in content["compartments"].items()
                }
                self._known = (mark, _Manifest(int(content["next_number"]), compartments))
                self._segments.forget_all_but(self._known[1].files())
                return self._known[1]
        except FileNotFoundError:
            self._segments.forget_all_but(())
            return _Manifest(1, {})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise IndexStateError(
                f"{file}: is damaged ({error}): run 'ki doctor --repair', which makes the index anew"
            ) from error
        raise IndexStateError(
            f"{self._folder}: the lexical index has format {found}, this version reads {FORMAT}: "
            "run 'ki doctor --repair', which makes it anew"
        )

    def _mark(self) -> tuple[int, ...]:
        """What tells one manifest from the next without reading it: each is a file of its own."""
        found = (self._folder / _MANIFEST_NAME).stat()
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _numbers_on_disk(self) -> Iterator[int]:
        for file in self._folder.glob(f"*/*{_SEGMENT_SUFFIX}"):
            if file.stem.isdecimal():
                yield int(file.stem)

    @contextmanager
    def _damage_explained(self) -> Iterator[None]:
        """What a person can act on, in place of what reading a damaged file raises."""
        try:
            yield
        except (ValueError, OSError, IndexError) as error:
            raise IndexStateError(
                f"{self._folder}: the lexical index cannot be read or written ({error}): unless the disk is full or "
                "read-only it is damaged: run 'ki doctor --repair', which makes the index anew"
            ) from error


def _by_class(rows: Iterable[LexicalRow]) -> dict[str, list[LexicalRow]]:
    classes: dict[str, list[LexicalRow]] = {}
    for row in rows:
        classes.setdefault(storable(row.acl_class_id), []).append(row)
    return classes


def _parts(rows: Iterable[LexicalRow], taken: set[str]) -> Iterator[list[LexicalRow]]:
    """The rows in lists that fit into memory, the first of each key, checked; ``taken`` gathers the keys."""
    part = []
    for row in rows:
        _check(row)
        key = storable(row.row_key)
        if key not in taken:
            taken.add(key)
            part.append(row)
        if len(part) == _ROWS_PER_BUILD:
            yield part
            part = []
    if part:
        yield part


def _check(row: LexicalRow) -> None:
    """Refuse what the analyser, which panics at it, or a file could not hold."""
    texts = (row.row_key, row.acl_class_id, row.matter_ref, row.text, *row.identifiers)
    if isinstance(row.identifiers, str) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"lexical row {row.row_key!r}: every field has to be text, identifiers a tuple of texts")
    if not row.row_key or not row.acl_class_id:
        raise UsageError(f"lexical row {row.row_key!r}: needs a row key and an ACL class")
