"""How well versions of one paper are told from other papers, pair by pair, over a task set.

    python benchmarks/version_accuracy.py TASK_SET [--names as-is hashes numbered]

The truth is read off the names: in one task's folder, files of one kind (written paper, table) whose stem is the same
once ``-draft-v1``, ``-redline-v2``, ``-final``, ``-executed`` or their German forms are off, each with such a mark, are
versions of one paper; any other two files are not. The tree is copied, renamed where asked, synced, converted and
related by the product's own stages; what it says is asked for with everything in scope. A renamed tree has a hash for
each name, or the stem with a number in brackets, and subfolders named for a status keep their names.
"""

import argparse
import hashlib
import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import combinations
from pathlib import Path, PurePosixPath

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.config import ConversionSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.pipeline import renew_relations
from knowledge_index.pipeline.report import RunReport
from knowledge_index.pipeline.run import convert_pending
from knowledge_index.sources import LOCAL_FS, open_source
from knowledge_index.sources.sync import sync_source

_MARK = re.compile(
    r"-(?:(?:draft|redline|final|executed)(?:-v\d+)?|v\d+|entwurf|endfassung|unterzeichnet)$", re.IGNORECASE
)
_PAPER_SUFFIXES = (".docx", ".pdf")


class Names(StrEnum):
    """How the files are named when they are related."""

    AS_IS = "as-is"
    HASHES = "hashes"
    NUMBERED = "numbered"


@dataclass(frozen=True)
class Accuracy:
    """Pairs that are versions and were told so, were told so wrongly, and were missed; the latter two by name."""

    right: int
    wrong: tuple[tuple[str, str], ...]
    missed: tuple[tuple[str, str], ...]

    @property
    def precision(self) -> float:
        """Of the pairs told, those that are right."""
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        """Of the pairs there are, those that were told."""
        return self.right / max(1, self.right + len(self.missed))


def measure(task_set: Path, names: Names) -> Accuracy:
    """Relate a copy of the task set and compare with what its names say."""
    with tempfile.TemporaryDirectory() as folder:
        original_of = _copy(task_set, Path(folder) / "dms", names)
        told = _paper_of_each(Path(folder))
    truth = {path: _true_paper(original) for path, original in original_of.items()}
    right, wrong, missed = 0, [], []
    for one, other in combinations(sorted(told), 2):
        is_told = told[one] == told[other]
        is_true = truth[one] is not None and truth[one] == truth[other]
        right += is_told and is_true
        if is_told != is_true:
            (wrong if is_told else missed).append((original_of[one], original_of[other]))
    return Accuracy(right, tuple(wrong), tuple(missed))


def _true_paper(path: str) -> tuple[str, str, str] | None:
    """Task folder, stem without marks and kind; None for a file without a mark, which is a paper of its own."""
    pure = PurePosixPath(path)
    stem = _MARK.sub("", pure.stem)
    if stem == pure.stem:
        return None
    task, _, _ = path.partition("/documents/")
    return task, stem, "" if pure.suffix in _PAPER_SUFFIXES else pure.suffix


def _copy(task_set: Path, target: Path, names: Names) -> dict[str, str]:
    """Copy the documents; returns the original path of each new one, both relative."""
    original_of: dict[str, str] = {}
    counted: Counter[tuple[str, str]] = Counter()
    for file in sorted(task_set.rglob("*")):
        if not file.is_file() or file.name == "task.json":
            continue
        path = file.relative_to(task_set)
        new = path
        if names is Names.HASHES:
            new = path.with_name(hashlib.sha256(str(path).encode()).hexdigest()[:16] + path.suffix)
        elif names is Names.NUMBERED and (stem := _MARK.sub("", path.stem)) != path.stem:
            counted[str(path.parent), stem] += 1
            new = path.with_name(f"{stem} ({counted[str(path.parent), stem]}){path.suffix}")
        (target / new).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target / new)
        original_of[new.as_posix()] = path.as_posix()
    return original_of


def _paper_of_each(folder: Path) -> dict[str, str]:
    home = Home(folder / "home")
    home.create()
    catalog = open_catalog(home.catalog_file)
    try:
        _relate(catalog, folder / "dms", home)
        with catalog.transaction() as session:
            objects = [
                each
                for each in session.pipeline_objects.current()
                if each.relation is not None and each.container_object_id is None
            ]
            everything = Scope(frozenset(), frozenset(each.acl_class_id for each in objects), 0)
            keys = {each.path: each.relation.document_key for each in objects if each.relation is not None}
            papers = session.versions.papers(keys.values(), everything)
    finally:
        catalog.close()
    return {path: papers.name_of[key] for path, key in keys.items()}


def _relate(catalog: Catalog, root: Path, home: Home) -> None:
    with catalog.transaction() as session:
        session.sources.add("dms", LOCAL_FS, str(root), None)
        (record,) = session.sources.all()
    sync_source(
        catalog,
        record,
        open_source(record),
        {},
        installation_key=home.installation_key(),
        rehash=False,
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        progress=SilentProgress(),
    )
    settings = ConversionSettings.model_validate({})
    convert_pending(home, catalog, settings, RunReport(), limit=None, progress=SilentProgress())
    renew_relations(catalog, forget_old_titles=False)


def main() -> None:
    """Print precision and recall, and every pair that is wrong or missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task_set", type=Path)
    parser.add_argument("--names", type=Names, nargs="+", default=list(Names))
    arguments = parser.parse_args()
    for names in arguments.names:
        found = measure(arguments.task_set, names)
        print(f"{names:9} precision {found.precision:.4f}  recall {found.recall:.4f}  right {found.right}")
        for kind, pairs in (("wrong", found.wrong), ("missed", found.missed)):
            for one, other in pairs:
                print(f"          {kind}: {one}\n          {' ' * len(kind)}  {other}")


if __name__ == "__main__":
    main()
