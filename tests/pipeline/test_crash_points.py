"""A run that dies between any two steps of its work, and the run after it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.config import AppConfig
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.domain.search import SearchHit
from knowledge_index.index import open_lexical_index, open_vector_index
from knowledge_index.index.base import LexicalIndex, LexicalRow, VectorIndex, VectorRow
from knowledge_index.pipeline import run_pipeline
from mail_files import archive, mail
from small_firm import CLAUSES, CORPORATE, PARTNER, SmallFirm, paper, search

CHANGED = "M-2026-0001 Supply/agreement_draft.txt"
DELETED = "M-2026-0001 Supply/letter.txt"
KEPT = "M-2026-0001 Supply/agreement_final.txt"
NEW = "M-2026-0001 Supply/lease.txt"
MAIL = "M-2026-0001 Supply/offer.eml"
CLAUSE, LETTER = f"{MAIL}!/clause.txt", f"{MAIL}!/box.zip!/letter.txt"
QUERIES = ("price of a gearbox", "Miete", "letter about the secrecy")


class PowerCut(BaseException):
    """Ends a run where no handler of errors reaches."""


@dataclass
class Fuse:
    """Blows at the step after ``steps_left`` others, and notes what every step was."""

    steps_left: int
    log: list[str]

    def step(self, name: str) -> None:
        self.log.append(name)
        if self.steps_left == 0:
            raise PowerCut(name)
        self.steps_left -= 1


@dataclass(frozen=True)
class FusedCatalog:
    """A catalog whose transactions may be cut off before they commit, which leaves it as before they began."""

    catalog: Catalog
    fuse: Fuse

    @contextmanager
    def transaction(self) -> Iterator[CatalogSession]:
        with self.catalog.transaction() as session:
            yield session
            self.fuse.step("before a commit")


@dataclass(frozen=True)
class FusedLexicalIndex:
    """Keeps ``LexicalIndex`` for writers, cut off before and after each write."""

    index: LexicalIndex
    fuse: Fuse

    def add(self, rows: Sequence[LexicalRow]) -> int:
        self.fuse.step("before the lexical add")
        written = self.index.add(rows)
        self.fuse.step("after the lexical add")
        return written

    def remove(self, row_keys: Collection[str]) -> None:
        self.fuse.step("before the lexical remove")
        self.index.remove(row_keys)
        self.fuse.step("after the lexical remove")

    def rebuild(self, rows: Iterable[LexicalRow]) -> None:
        self.index.rebuild(rows)

    def row_keys(self) -> set[str]:
        return self.index.row_keys()


@dataclass(frozen=True)
class FusedVectorIndex:
    """Keeps ``VectorIndex`` for writers, cut off before and after each write."""

    index: VectorIndex
    fuse: Fuse

    def add(self, rows: Sequence[VectorRow]) -> int:
        self.fuse.step("before the vector add")
        written = self.index.add(rows)
        self.fuse.step("after the vector add")
        return written

    def remove(self, row_keys: Collection[str]) -> None:
        self.fuse.step("before the vector remove")
        self.index.remove(row_keys)
        self.fuse.step("after the vector remove")

    def row_keys(self) -> set[str]:
        return self.index.row_keys()

    def compact(self) -> None:
        self.fuse.step("before the compaction")
        self.index.compact()
        self.fuse.step("after the compaction")


@pytest.fixture
def changed_firm(tmp_path: Path) -> SmallFirm:
    """Indexed once; then one paper was changed, one deleted, one added, and that was synced."""
    firm = SmallFirm.in_folder(tmp_path / "firm")
    firm.write(CHANGED, paper("Supply", "Supply", "Price"), CORPORATE)
    firm.write(DELETED, "A letter about the secrecy that both sides promised.\n", CORPORATE)
    firm.write(KEPT, paper("Supply", "Supply", "Price", "Liability"), PARTNER)
    firm.sync_and_run()
    dearer = {"Price": CLAUSES["Price"].replace("48,250.00", "51,000.00")}
    firm.write(CHANGED, paper("Supply", "Supply", "Price", changed=dearer))
    (firm.root / DELETED).unlink()
    firm.write(NEW, paper("Mietvertrag", "Miete", "Rückgabe"), CORPORATE)
    box = archive({"letter.txt": b"Another letter about the secrecy."})
    attached = {"clause.txt": CLAUSES["Price"].encode(), "box.zip": box}
    firm.write(MAIL, mail("Offer", "Two papers are enclosed.", attached).as_bytes(), CORPORATE)
    firm.sync()
    return firm


def answers(firm: SmallFirm) -> list[tuple[SearchHit, ...]]:
    with firm.retrieval() as service:
        return [search(service, query, caller) for query in QUERIES for caller in (CORPORATE, PARTNER)]


def run_until_cut(firm: SmallFirm, steps: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run with a fuse of so many steps; returns the steps that were reached."""
    fuse = Fuse(steps, [])
    with monkeypatch.context() as patched, firm.catalog() as catalog:
        lexical = _fused(open_lexical_index, FusedLexicalIndex, fuse)
        vectors = _fused(open_vector_index, FusedVectorIndex, fuse)
        patched.setattr("knowledge_index.pipeline.run.open_lexical_index", lexical)
        patched.setattr("knowledge_index.pipeline.run.open_vector_index", vectors)
        fused: Any = FusedCatalog(catalog, fuse)
        with suppress(PowerCut):
            run_pipeline(firm.home, fused, AppConfig(), firm.embedder, limit=None, progress=SilentProgress())
    return fuse.log


def _fused(open_index: Callable[..., Any], wrapper: Callable[[Any, Fuse], Any], fuse: Fuse) -> Callable[..., Any]:
    return lambda *arguments: wrapper(open_index(*arguments), fuse)


def test_a_run_after_a_cut_at_any_step_ends_where_an_undisturbed_one_ends(
    changed_firm: SmallFirm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = changed_firm.with_home_copy(tmp_path / "undisturbed")
    steps = run_until_cut(undisturbed, 10_000, monkeypatch)
    expected, expected_answers = undisturbed.stores(), answers(undisturbed)
    assert {MAIL, CLAUSE, f"{MAIL}!/box.zip", LETTER} < expected.passages.keys()
    assert {
        *("before a commit", "after the lexical add", "before the vector add", "after the vector add"),
        *("before the lexical remove", "after the lexical remove", "before the vector remove"),
        *("after the vector remove", "before the compaction", "after the compaction"),
    } <= set(steps)

    for cut in range(len(steps)):
        firm = changed_firm.with_home_copy(tmp_path / f"cut-{cut}")
        assert run_until_cut(firm, cut, monkeypatch) == steps[: cut + 1]
        firm.run()
        assert firm.stores() == expected, f"cut at step {cut}, {steps[cut]}"
        assert answers(firm) == expected_answers, f"cut at step {cut}, {steps[cut]}"


def test_nothing_that_was_deleted_is_found_between_a_cut_and_the_next_run(
    changed_firm: SmallFirm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = run_until_cut(changed_firm.with_home_copy(tmp_path / "undisturbed"), 10_000, monkeypatch)
    for cut in range(0, len(steps), 3):
        firm = changed_firm.with_home_copy(tmp_path / f"cut-{cut}")
        run_until_cut(firm, cut, monkeypatch)
        for hit in (hit for hits in answers(firm) for hit in hits):
            assert hit.path in (CHANGED, KEPT, NEW) or hit.path.startswith(MAIL)
            if hit.path in (CHANGED, KEPT, NEW):
                assert hit.passage == text_of(firm, hit.path)[hit.start_char : hit.end_char]


def text_of(firm: SmallFirm, path: str) -> str:
    return (firm.root / path).read_text(encoding="utf-8").rstrip("\n")
