"""Any sequence of changes to a folder, a sync after each, against a model made of dicts."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from estate import Estate, allow, deny, sha256
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.domain.grants import Grant
from knowledge_index.sources.local_fs import LocalFolderSource

PATHS = ("a.txt", "b.txt", "sub/a.txt", "sub/deep/ü.txt")
# Contents of one size, so that only time and inode can hint at a change.
CONTENTS = (b"one", b"two")
ACLS = ((), allow("group:a"), (*allow("group:a"), *deny("user:bob")))


@dataclass(frozen=True)
class Write:
    path: str
    content: bytes


@dataclass(frozen=True)
class WriteUnseen:
    """Other bytes, with size, time and inode as before."""

    path: str
    content: bytes


@dataclass(frozen=True)
class Delete:
    path: str


@dataclass(frozen=True)
class Move:
    path: str
    to: str


Change = Write | WriteUnseen | Delete | Move


@dataclass(frozen=True)
class Step:
    changes: list[Change]
    acl_by_path: dict[str, tuple[Grant, ...]]
    rehash: bool


paths = st.sampled_from(PATHS)
contents = st.sampled_from(CONTENTS)
changes = st.one_of(
    st.builds(Write, paths, contents),
    st.builds(WriteUnseen, paths, contents),
    st.builds(Delete, paths),
    st.builds(Move, paths, paths),
)
steps = st.builds(
    Step,
    st.lists(changes, max_size=4),
    st.dictionaries(paths, st.sampled_from(ACLS), max_size=len(PATHS)),
    st.booleans(),
)


@dataclass
class Folder:
    """The real folder, and what lies in it: path -> (content, stamp); a stamp is new whenever a hint is."""

    root: Path
    held: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    stamp: int = 0

    def apply(self, change: Change) -> None:
        file = self.root / change.path
        match change:
            case Write(path, content):
                self.stamp += 1
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                # Set by hand: two writes may fall into one tick of the file system's clock.
                os.utime(file, ns=(self.stamp, self.stamp))
                self.held[path] = (content, self.stamp)
            case WriteUnseen(path, content) if path in self.held:
                stamp = self.held[path][1]
                with file.open("r+b") as stream:
                    stream.write(content)
                os.utime(file, ns=(stamp, stamp))
                self.held[path] = (content, stamp)
            case Delete(path) if path in self.held:
                file.unlink()
                del self.held[path]
            case Move(path, to) if path in self.held and to != path:
                (self.root / to).parent.mkdir(parents=True, exist_ok=True)
                file.replace(self.root / to)
                self.held[to] = self.held.pop(path)


@dataclass
class Model:
    """What the catalog has to hold: path -> (content, stamp, grants), and how many states have ended."""

    known: dict[str, tuple[bytes, int, tuple[Grant, ...]]] = field(default_factory=dict)
    superseded: int = 0
    tombstoned: int = 0

    def sync(
        self, held: dict[str, tuple[bytes, int]], acls: dict[str, tuple[Grant, ...]], rehash: bool
    ) -> dict[str, int]:
        before, after = self.known, {}
        hashed = 0
        for path, (content, stamp) in held.items():
            seen = content
            if path in before and before[path][1] == stamp and not rehash:
                seen = before[path][0]
            else:
                hashed += 1
            after[path] = (seen, stamp, tuple(sorted(set(acls.get(path, ())))))
        left = Counter(before[path][0] for path in before.keys() - after.keys())
        came = Counter(after[path][0] for path in after.keys() - before.keys())
        both = before.keys() & after.keys()
        moved = (left & came).total()
        changed = sum(before[path][0] != after[path][0] for path in both)
        self.known = after
        self.superseded += changed
        self.tombstoned += left.total()
        return {
            "new": came.total() - moved,
            "changed": changed,
            "moved": moved,
            "gone": left.total() - moved,
            "unchanged": len(both) - changed,
            "grants_changed": sum(before[path][2] != after[path][2] for path in both),
            "hashed": hashed,
        }


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path_factory.mktemp("model") / "catalog.sqlite")
    yield catalog
    catalog.close()


@settings(deadline=None, max_examples=50)
@given(st.lists(steps, min_size=1, max_size=6))
def test_the_catalog_follows_the_folder(
    catalog: Catalog, tmp_path_factory: pytest.TempPathFactory, sequence: list[Step]
) -> None:
    root = tmp_path_factory.mktemp("folder")
    # One catalog serves all examples, each as a source of its own.
    estate = Estate(catalog, LocalFolderSource(root), str(root))
    folder, model = Folder(root), Model()
    for step in sequence:
        for change in step.changes:
            folder.apply(change)
        epoch = estate.epoch()
        report = estate.sync(step.acl_by_path, rehash=step.rehash)
        expected = model.sync(folder.held, step.acl_by_path, step.rehash)
        assert {name: getattr(report, name) for name in expected} == expected
        assert (report.skipped, report.unreadable) == ((), ())
        assert estate.blobs() == {path: sha256(content) for path, (content, _, _) in model.known.items()}
        assert estate.grants() == {path: grants for path, (_, _, grants) in model.known.items()}
        assert (estate.epoch() > epoch) is bool(expected["grants_changed"])
        status = estate.status
        assert (status.current, status.superseded, status.tombstoned) == (
            len(model.known),
            model.superseded,
            model.tombstoned,
        )
        again = estate.sync(step.acl_by_path)
        assert (again.hashed, again.unchanged, again.grants_changed) == (0, len(model.known), 0)
