"""Both index contracts kept the plainest way: what the engines are held against."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed.base import Vector
from knowledge_index.index.base import LexicalRow, RowDifferences, ScoredRow, VectorRow


def all_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def words(text: str) -> set[str]:
    return set(all_words(text))


def cut(scored: list[ScoredRow], pool: int) -> list[ScoredRow]:
    ordered = sorted(scored, key=lambda row: (-row.score, row.row_key))
    return [row for row in ordered if len(ordered) <= pool or row.score >= ordered[pool - 1].score]


class BruteForceLexicalIndex:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "rows.json"

    def add(self, rows: Sequence[LexicalRow]) -> int:
        present = self._rows()
        absent = {row.row_key: row for row in reversed(rows) if row.row_key not in present}
        self.rebuild([*present.values(), *absent.values()])
        return len(absent)

    def rebuild(self, rows: Iterable[LexicalRow]) -> None:
        content = [asdict(row) for row in rows]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(content))

    def remove(self, row_keys: Collection[str]) -> None:
        self.rebuild([row for row in self._rows().values() if row.row_key not in row_keys])

    def compare(self, rows: Iterable[LexicalRow]) -> RowDifferences:
        held, expected = self._rows(), {row.row_key: row for row in rows}
        altered = {key for key in held.keys() & expected.keys() if held[key] != expected[key]}
        missing, extra = expected.keys() - held.keys(), held.keys() - expected.keys()
        return RowDifferences(frozenset(missing), frozenset(extra), frozenset(altered), ())

    def row_keys(self) -> set[str]:
        return set(self._rows())

    def search_text(self, query: str, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        found = self._search(pool, scope, filters, lambda row: len(words(query) & words(row.text)))
        asked = f" {' '.join(all_words(query))} "
        rows = self._rows()
        return [
            each._replace(holds_wording=asked in f" {' '.join(all_words(rows[each.row_key].text))} ") for each in found
        ]

    def search_identifiers(
        self, identifiers: Collection[str], scope: Scope, filters: SearchFilters, pool: int
    ) -> list[ScoredRow]:
        return self._search(pool, scope, filters, lambda row: len(set(identifiers) & set(row.identifiers)))

    def _search(self, pool, scope, filters, score) -> list[ScoredRow]:  # type: ignore[no-untyped-def]
        visible = [row for row in self._rows().values() if is_visible(row, scope, filters)]
        scored = [ScoredRow(row.row_key, float(score(row))) for row in visible]
        return cut([row for row in scored if row.score], pool)

    def _rows(self) -> dict[str, LexicalRow]:
        content = json.loads(self._file.read_text()) if self._file.exists() else []
        rows = [LexicalRow(**{**each, "identifiers": tuple(each["identifiers"])}) for each in content]
        return {row.row_key: row for row in rows}


class BruteForceVectorIndex:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "rows.json"

    def add(self, rows: Sequence[VectorRow]) -> int:
        present = self._rows()
        absent = {row.row_key: row for row in reversed(rows) if row.row_key not in present}
        self._write([*present.values(), *absent.values()])
        return len(absent)

    def remove(self, row_keys: Collection[str]) -> None:
        self._write([row for row in self._rows().values() if row.row_key not in row_keys])

    def row_keys(self) -> set[str]:
        return set(self._rows())

    def compare(self, rows: Iterable[tuple[str, str, str]]) -> RowDifferences:
        held = {row.row_key: (row.acl_class_id, row.matter_ref) for row in self._rows().values()}
        expected = {key: tuple(rest) for key, *rest in rows}
        altered = {key for key in held.keys() & expected.keys() if held[key] != expected[key]}
        missing, extra = expected.keys() - held.keys(), held.keys() - expected.keys()
        return RowDifferences(frozenset(missing), frozenset(extra), frozenset(altered), ())

    def discard(self) -> None:
        self._write([])

    def compact(self) -> None:
        pass

    def search(self, vector: Vector, scope: Scope, filters: SearchFilters, pool: int) -> list[ScoredRow]:
        visible = [row for row in self._rows().values() if is_visible(row, scope, filters)]
        return cut([ScoredRow(row.row_key, cosine(row.vector, vector)) for row in visible], pool)

    def _rows(self) -> dict[str, VectorRow]:
        content = json.loads(self._file.read_text()) if self._file.exists() else []
        rows = [VectorRow(*fields, np.asarray(vector, dtype=np.float32)) for *fields, vector in content]
        return {row.row_key: row for row in rows}

    def _write(self, rows: list[VectorRow]) -> None:
        content = [(row.row_key, row.acl_class_id, row.matter_ref, row.vector.tolist()) for row in rows]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(content))


def cosine(left: Vector, right: Vector) -> float:
    a, b = left.astype(np.float64), right.astype(np.float64)
    return round(float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))), 9)


def is_visible(row: LexicalRow | VectorRow, scope: Scope, filters: SearchFilters) -> bool:
    return (
        row.acl_class_id in scope.acl_class_ids
        and (not filters.matter_refs or row.matter_ref in filters.matter_refs)
        and row.row_key not in filters.excluded_row_keys
        and (filters.only_row_keys is None or row.row_key in filters.only_row_keys)
    )
