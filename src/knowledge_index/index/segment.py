"""An immutable piece of one compartment of the lexical index: postings and word order of some rows, as numpy arrays.

Terms are kept as 64-bit hashes, words, identifiers and German terms under different keys. Two terms of one estate share
a hash with a probability of about n² / 4·10¹⁹ for n distinct terms: 3·10⁻⁸ for a million.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from knowledge_index.domain.languages import Language
from knowledge_index.index.analysis import german_terms, indexing_analyzer, normalised, storable
from knowledge_index.index.arrays import (
    Bytes,
    Hashes,
    Integers,
    ShortIntegers,
    decode_arrays,
    encode_arrays,
    lengths_to_bounds,
    pack_texts,
    some_texts,
    unpack_texts,
)
from knowledge_index.index.base import LexicalRow

WORD_MARKS = 256


@dataclass(frozen=True)
class Segment:
    """Rows R, distinct terms T, postings P and words W of one compartment.

    ``terms`` (T, ascending) and ``bounds`` (T + 1) say where a term's postings lie in ``rows`` and ``frequencies``
    (P): ordinals of rows, and how often each holds the term (1 for an identifier). ``words`` (W) are the rows' words in
    order, without the German terms that stand beside them, as places in ``terms``; ``word_bounds`` (R + 1) say whose
    they are. ``keys`` and ``matters`` are UTF-8, ``key_bounds`` (R + 1) and ``matter_bounds`` (matters + 1) cut them;
    ``matter_of`` (R) is each row's matter.
    """

    terms: Hashes
    bounds: Integers
    rows: ShortIntegers
    frequencies: ShortIntegers
    words: ShortIntegers
    word_bounds: Integers
    keys: Bytes
    key_bounds: Integers
    matters: Bytes
    matter_bounds: Integers
    matter_of: ShortIntegers

    @property
    def row_count(self) -> int:
        """How many rows it holds."""
        return len(self.matter_of)

    @cached_property
    def lengths(self) -> Integers:
        """How many words each row has."""
        return np.diff(self.word_bounds)

    @cached_property
    def word_marks(self) -> Bytes:
        """The words, by the rests of their places when they are divided by WORD_MARKS: what is alike in few of them."""
        return (self.words % WORD_MARKS).astype(np.uint8)

    def postings(self, place: int) -> tuple[ShortIntegers, ShortIntegers]:
        """The rows, ascending, that hold the term of a place, and how often each does."""
        start, end = self.bounds[place], self.bounds[place + 1]
        return self.rows[start:end], self.frequencies[start:end]

    def row_keys_of(self, rows: Integers | ShortIntegers) -> list[str]:
        """The keys of some rows."""
        return some_texts(self.keys, self.key_bounds, rows)

    def row_keys(self) -> list[str]:
        """The keys of all rows, by row."""
        return unpack_texts(self.keys, self.key_bounds)

    @cached_property
    def row_of_key(self) -> dict[str, int]:
        """The row of each key."""
        return {key: row for row, key in enumerate(self.row_keys())}

    def matter_refs(self) -> list[str]:
        """The distinct matters, by the number that ``matter_of`` gives."""
        return unpack_texts(self.matters, self.matter_bounds)

    def rows_of(self, matter_refs: Collection[str]) -> ShortIntegers:
        """The rows of some matters, ascending."""
        wanted = np.array([each in matter_refs for each in self.matter_refs()], dtype=np.bool_)
        return np.flatnonzero(wanted[self.matter_of]).astype(np.int32)

    def rows_of_keys(self, row_keys: Collection[str]) -> ShortIntegers:
        """Those of the rows that it holds, ascending."""
        row_of_key = self.row_of_key
        return np.array(sorted(row_of_key[key] for key in row_keys if key in row_of_key), dtype=np.int32)

    def places(self, hashes: Hashes) -> Integers:
        """Where each hash stands in ``terms``, -1 where it does not."""
        if not len(self.terms):
            return np.full(len(hashes), -1, dtype=np.int64)
        places = np.searchsorted(self.terms, hashes)
        places[places == len(self.terms)] = 0
        return np.where(self.terms[places] == hashes, places, -1).astype(np.int64)


def word_hash(term: str) -> int:
    """The hash of a term of the text."""
    return _hash(term, b"word")


def identifier_hash(identifier: str) -> int:
    """The hash of a ``kind:normalised`` term, which no word of a text shares."""
    return _hash(storable(identifier), b"identifier")


def german_key_hash(key: str) -> int:
    """The hash of the key of a German word."""
    return _hash(key, b"german word")


def german_part_hash(key: str) -> int:
    """The hash of the key of a part of a German compound."""
    return _hash(key, b"german part")


class _WordHashes(dict[str, int]):
    """The hashes of words met so far; a subscription costs a tenth of a call."""

    def __missing__(self, term: str) -> int:
        self[term] = found = word_hash(term)
        return found


def _hash(term: str, person: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8, person=person).digest(), "little")


def build_segment(rows: Sequence[LexicalRow]) -> Segment:
    """The segment of these rows, in their order."""
    analyzer = indexing_analyzer()
    known = _WordHashes()
    hashed: list[int] = []
    lengths = []
    for row in rows:
        before = len(hashed)
        hashed.extend([known[term] for term in analyzer.analyze(normalised(row.text))])
        lengths.append(len(hashed) - before)
    identifiers = [
        (number, identifier_hash(each)) for number, row in enumerate(rows) for each in sorted(set(row.identifiers))
    ]
    further = [*identifiers, *_german(rows)]
    word_hashes = np.array(hashed, dtype=np.uint64)
    hashes = np.concatenate([word_hashes, np.array([each for _, each in further], dtype=np.uint64)])
    holders = np.concatenate(
        [np.repeat(np.arange(len(rows)), lengths), np.array([number for number, _ in further], dtype=np.int64)]
    )
    terms, ordinals = np.unique(hashes, return_inverse=True)
    pairs, counts = np.unique(ordinals * max(1, len(rows)) + holders, return_counts=True)
    matters = sorted({storable(row.matter_ref) for row in rows})
    matter_number = {matter: number for number, matter in enumerate(matters)}
    return Segment(
        terms=terms,
        bounds=np.searchsorted(pairs // max(1, len(rows)), np.arange(len(terms) + 1)).astype(np.int64),
        rows=(pairs % max(1, len(rows))).astype(np.int32),
        frequencies=counts.astype(np.int32),
        words=ordinals[: len(word_hashes)].astype(np.int32),
        word_bounds=lengths_to_bounds(lengths),
        **_texts_as_bytes("key", [storable(row.row_key) for row in rows]),
        **_texts_as_bytes("matter", matters),
        matter_of=np.array([matter_number[storable(row.matter_ref)] for row in rows], dtype=np.int32),
    )


def _german(rows: Sequence[LexicalRow]) -> Iterator[tuple[int, int]]:
    """The number of each German row with the hash of each of its German terms."""
    for number, row in enumerate(rows):
        if row.language is Language.GERMAN:
            terms = german_terms(row.text)
            yield from ((number, german_key_hash(key)) for key in terms.keys)
            yield from ((number, german_part_hash(key)) for key in terms.parts)


def merge_segments(segments: Sequence[Segment]) -> Segment:
    """One segment with the rows of all, in order; it answers every search as they do together."""
    if len(segments) == 1:
        return segments[0]
    entries = np.concatenate([each.terms for each in segments])
    terms, term_of_entry = np.unique(entries, return_inverse=True)
    counts = np.concatenate([np.diff(each.bounds) for each in segments])
    posting_bases = _starts([len(each.rows) for each in segments])
    starts = np.concatenate([each.bounds[:-1] + base for each, base in zip(segments, posting_bases, strict=True)])
    order = np.argsort(term_of_entry, kind="stable")
    postings = slices(starts[order], counts[order])
    row_bases = _starts([each.row_count for each in segments])
    rows = np.concatenate([each.rows + np.int32(base) for each, base in zip(segments, row_bases, strict=True)])
    term_bases = _starts([len(each.terms) for each in segments])
    per_term = np.bincount(term_of_entry, weights=counts, minlength=len(terms)).astype(np.int64)
    matters = sorted({matter for each in segments for matter in each.matter_refs()})
    matter_number = {matter: number for number, matter in enumerate(matters)}
    return Segment(
        terms=terms,
        bounds=lengths_to_bounds(per_term),
        rows=rows[postings],
        frequencies=np.concatenate([each.frequencies for each in segments])[postings],
        words=np.concatenate(
            [
                term_of_entry[base : base + len(each.terms)].astype(np.int32)[each.words]
                for each, base in zip(segments, term_bases, strict=True)
            ]
        ),
        word_bounds=_joined_bounds([each.word_bounds for each in segments]),
        keys=np.concatenate([each.keys for each in segments]),
        key_bounds=_joined_bounds([each.key_bounds for each in segments]),
        **_texts_as_bytes("matter", matters),
        matter_of=np.concatenate(
            [
                np.array([matter_number[matter] for matter in each.matter_refs()], dtype=np.int32)[each.matter_of]
                for each in segments
            ]
        ),
    )


def without_rows(segment: Segment, row_keys: Collection[str]) -> Segment:
    """The segment as if these rows had never been in it."""
    keep = np.array([key not in row_keys for key in segment.row_keys()], dtype=np.bool_)
    kept_postings = keep[segment.rows]
    bounds = np.concatenate([[0], np.cumsum(kept_postings)])[segment.bounds]
    used = np.diff(bounds) > 0
    kept_rows = np.flatnonzero(keep)
    lengths = np.diff(segment.word_bounds)[keep]
    keys = segment.row_keys()
    matters = segment.matter_refs()
    used_matters = np.unique(segment.matter_of[keep])
    return Segment(
        terms=segment.terms[used],
        bounds=np.append(bounds[:-1][used], bounds[-1]).astype(np.int64),
        rows=(np.cumsum(keep) - 1).astype(np.int32)[segment.rows[kept_postings]],
        frequencies=segment.frequencies[kept_postings],
        words=(np.cumsum(used) - 1).astype(np.int32)[segment.words[slices(segment.word_bounds[:-1][keep], lengths)]],
        word_bounds=lengths_to_bounds(lengths),
        **_texts_as_bytes("key", [keys[row] for row in kept_rows]),
        **_texts_as_bytes("matter", [matters[number] for number in used_matters]),
        matter_of=np.searchsorted(used_matters, segment.matter_of[keep]).astype(np.int32),
    )


def row_contents(segment: Segment) -> dict[str, bytes]:
    """What each row says, by key: a digest of its matter, its words in order and its terms."""
    matters = segment.matter_refs()
    by_row = np.argsort(segment.rows, kind="stable")
    term_of_posting = np.repeat(segment.terms, np.diff(segment.bounds))[by_row]
    posting_bounds = np.searchsorted(segment.rows[by_row], np.arange(segment.row_count + 1))
    contents = {}
    for row, key in enumerate(segment.row_keys()):
        digest = hashlib.blake2b(matters[segment.matter_of[row]].encode(), digest_size=16)
        digest.update(b"\0" + segment.terms[segment.words[slice(*segment.word_bounds[row : row + 2])]].tobytes())
        digest.update(b"\0" + term_of_posting[slice(*posting_bounds[row : row + 2])].tobytes())
        contents[key] = digest.digest()
    return contents


def encoded(segment: Segment) -> bytes:
    """The bytes of a segment's file."""
    return encode_arrays({each.name: getattr(segment, each.name) for each in fields(Segment)})


def decoded(content: bytes | memoryview) -> Segment:
    """The segment of a file's bytes, over which its arrays lie; the caller has checked that they are whole."""
    return Segment(**decode_arrays(content))


def slices(starts: Integers, lengths: Integers) -> Integers:
    """The places start, start + 1, … of every slice, one slice after the other."""
    total = int(lengths.sum())
    shifts = starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else starts
    return np.repeat(shifts, lengths) + np.arange(total)


def _starts(lengths: Sequence[int]) -> list[int]:
    return [int(each) for each in lengths_to_bounds(lengths)[:-1]]


def _joined_bounds(bounds: Sequence[Integers]) -> Integers:
    return lengths_to_bounds(np.concatenate([np.diff(each) for each in bounds]))


def _texts_as_bytes(name: str, texts: Sequence[str]) -> dict[str, Any]:
    content, bounds = pack_texts(texts)
    return {f"{name}s": content, f"{name}_bounds": bounds}
