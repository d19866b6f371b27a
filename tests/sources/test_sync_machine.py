"""Any history of an estate, synced at any moment and cut off at any statement, against a model of its own."""

import json
import os
import shutil
import sqlite3
import tempfile
import unicodedata
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from estate import KEY
from faulty_source import CutOffError, FaultySource, cut_off_at, numbers, replaced
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from sync_model import DiskFile, Fault, SyncModel

from knowledge_index.catalog import open_catalog
from knowledge_index.catalog.records import SourceRecord
from knowledge_index.domain.errors import SourceError
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.sources.sync import SyncReport, apply_grants, sync_source

COMPOSED, DECOMPOSED = "sub/Prüfung.txt", unicodedata.normalize("NFD", "sub/Prüfung.txt")
PATHS = ("a.txt", "A.txt", "b.txt", "sub/a.txt", COMPOSED, DECOMPOSED, "sub/deep/c.txt", "Thumbs.db", "sub/save.tmp")
BULK = tuple(f"bulk/{number:02}.txt" for number in range(22))
# Of one size, so that only time and inode can hint at a change; few, so that many files are alike.
CONTENTS = (b"one", b"two", b"six")
ACLS = ((), (("group:a", "allow"),), (("group:a", "allow"), ("user:bob", "deny")))
NAMES = tuple(dict.fromkeys(unicodedata.normalize("NFC", path) for path in (*PATHS, "none.txt", BULK[0])))
# Thousands of commits, none of which has to survive the machine's own end.
MEMORY = next((folder for folder in ("/dev/shm",) if os.access(folder, os.W_OK)), None)

CHANGES = (
    *("write", "write", "save_by_renaming_over", "change_unseen", "delete", "move", "move"),
    *("move_and_leave_a_copy", "spell_otherwise", "rename_a_folder", "chmod"),
)

disk_paths = st.sampled_from(PATHS)
contents = st.sampled_from(CONTENTS)
options = st.fixed_dictionaries(
    {"counts": st.sampled_from((True, True, True, False))},
    optional={"rehash": st.just(True), "confirm": st.sampled_from((False, False, True))},
)


class FollowingMachine(RuleBasedStateMachine):
    template: bytes = b""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="following-"))
        self.root = self.folder / "estate"
        self.root.mkdir()
        self.memory = Path(tempfile.mkdtemp(prefix="following-", dir=MEMORY))
        self.catalog_file = self.memory / "catalog.sqlite"
        self.catalog_file.write_bytes(self.template)
        self.catalog = open_catalog(self.catalog_file)
        # Times are set by hand: two writes may fall into one tick of the file system's clock.
        self.stamps = numbers()
        self.model = SyncModel("dms", KEY)
        self.aside: dict[str, DiskFile] | None = None
        self.is_away = False

    def teardown(self) -> None:
        self.catalog.close()
        shutil.rmtree(self.folder)
        shutil.rmtree(self.memory)

    @rule(
        changes=st.lists(st.sampled_from(CHANGES), max_size=3),
        path=disk_paths,
        other=disk_paths,
        content=contents,
        options=options,
        faults=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(Fault), max_size=2),
    )
    def files_change(
        self,
        changes: list[str],
        path: str,
        other: str,
        content: bytes,
        options: dict[str, bool],
        faults: dict[str, Fault],
    ) -> None:
        for change in changes:
            getattr(self, f"_{change}")(path, other, content)
            path, other = other, path
        self._sync_and_check(faults, **options)

    @rule(
        count=st.sampled_from((0, 11, 12, 22)),
        refill=st.booleans(),
        is_alone=st.booleans(),
        options=options,
    )
    def many_files_come_or_go(self, count: int, refill: bool, is_alone: bool, options: dict[str, bool]) -> None:
        if is_alone:
            for path in PATHS:
                self._delete(path, "", b"")
        if refill:
            for number, path in enumerate(BULK):
                if path not in self.model.disk:
                    self._put(path, b"%03d" % number)
            self._sync_and_check({}, **options)
        for path in BULK[:count]:
            self._delete(path, "", b"")
        self._sync_and_check({}, **options)

    @rule(is_mounted=st.booleans(), options=options)
    def the_share_is_mounted_or_not(self, is_mounted: bool, options: dict[str, bool]) -> None:
        """An unmounted share is a folder that stays and is empty."""
        self._come_back()
        if self.aside is None and not is_mounted:
            self.root.rename(self.folder / "aside")
            self.root.mkdir()
            self.aside, self.model.disk = self.model.disk, {}
        elif self.aside is not None and is_mounted:
            shutil.rmtree(self.root)
            (self.folder / "aside").rename(self.root)
            self.model.disk, self.aside = self.aside, None
        self._sync_and_check({}, **options)

    @rule()
    def the_root_goes(self) -> None:
        if not self.is_away:
            self.root.rename(self.folder / "away")
            self.is_away = True
        self._sync_and_check({})

    @rule(path=st.sampled_from(NAMES), acl=st.sampled_from((None, *ACLS)))
    def grants_change(self, path: str, acl: tuple[tuple[str, str], ...] | None) -> None:
        if acl is None:
            self.model.acls.pop(path, None)
        else:
            self.model.acls[path] = acl
        self._sync_and_check({})

    @rule(options=options)
    def nothing_happens(self, options: dict[str, bool]) -> None:
        self._sync_and_check({}, **options)

    @rule(change=st.sampled_from(CHANGES), path=disk_paths, other=disk_paths, statement=st.integers(0, 40))
    def a_sync_is_cut_off(self, change: str, path: str, other: str, statement: int) -> None:
        getattr(self, f"_{change}")(path, other, b"cut")
        self._come_back()
        before = self._dump()
        source = FaultySource(self.root, {}, self.stamps)
        try:
            with cut_off_at(statement):
                report = self._sync(source)
        except CutOffError:
            self.catalog.close()
            self.catalog = open_catalog(self.catalog_file)
            assert self._dump() == before
        else:
            self._check_report(report, {}, {})
        self._check_catalog()

    # What happens to files: each takes a path, another and a content, whether it needs them or not.

    def _write(self, path: str, _other: str, content: bytes) -> None:
        self._put(path, content)

    def _save_by_renaming_over(self, path: str, _other: str, content: bytes) -> None:
        self.model.disk[path] = replaced(self._place(path), content, next(self.stamps))

    def _change_unseen(self, path: str, _other: str, content: bytes) -> None:
        """Other bytes with size, time and inode as before."""
        if path in self.model.disk and not self.is_away:
            held = self.model.disk[path]
            with (self.root / path).open("r+b") as stream:
                stream.write(content)
            os.utime(self.root / path, ns=(held.stamp, held.stamp))
            self.model.disk[path] = DiskFile(content, held.stamp, held.inode)

    def _delete(self, path: str, _other: str, _content: bytes) -> None:
        self._come_back()
        if self.model.disk.pop(path, None):
            (self.root / path).unlink()

    def _move(self, path: str, other: str, _content: bytes) -> None:
        if path in self.model.disk and path != other:
            self._come_back()
            (self.root / path).rename(self._place(other))
            self.model.disk[other] = self.model.disk.pop(path)

    def _move_and_leave_a_copy(self, path: str, other: str, content: bytes) -> None:
        """The same bytes at two new places: only the inode says which of them is the file that was moved."""
        if path in self.model.disk and path != other:
            held = self.model.disk[path].content
            self._move(path, other, content)
            self._put("A.txt", held)

    def _spell_otherwise(self, _path: str, _other: str, content: bytes) -> None:
        for path, other in ((COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)):
            if path in self.model.disk and other not in self.model.disk:
                self._move(path, other, content)
                return

    def _rename_a_folder(self, _path: str, _other: str, _content: bytes) -> None:
        self._come_back()
        for folder, other in (("sub", "bulk"), ("bulk", "sub")):
            inside = [path for path in self.model.disk if path.startswith(f"{folder}/")]
            if inside and not any(path.startswith(f"{other}/") for path in self.model.disk):
                shutil.rmtree(self.root / other, ignore_errors=True)
                (self.root / folder).rename(self.root / other)
                for path in inside:
                    self.model.disk[other + path.removeprefix(folder)] = self.model.disk.pop(path)
                return

    def _chmod(self, path: str, _other: str, content: bytes) -> None:
        if path in self.model.disk and not self.is_away:
            (self.root / path).chmod(0o600 if content == CONTENTS[0] else 0o644)

    def _put(self, path: str, content: bytes) -> None:
        file, stamp = self._place(path), next(self.stamps)
        file.write_bytes(content)
        os.utime(file, ns=(stamp, stamp))
        self.model.disk[path] = DiskFile(content, stamp, file.stat().st_ino)

    # What is done about it.

    def _sync_and_check(
        self, faults: dict[str, Fault], *, rehash: bool = False, confirm: bool = False, counts: bool = True
    ) -> None:
        source = FaultySource(self.root, faults, self.stamps)
        if self.is_away:
            with pytest.raises(SourceError, match="mounted"):
                self._sync(source)
            assert apply_grants(self.catalog, self._record(), self._grants()) == self.model.regrant()
        else:
            report = self._sync(source, rehash=rehash, confirm_deletions=confirm, scan_counts=counts)
            self._check_report(report, faults, source.swaps, rehash=rehash, confirm=confirm, counts=counts)
        self._check_catalog()

    def _check_report(
        self,
        report: SyncReport,
        faults: Mapping[str, Fault],
        swaps: Mapping[str, DiskFile],
        *,
        rehash: bool = False,
        confirm: bool = False,
        counts: bool = True,
    ) -> None:
        expected = self.model.sync(rehash=rehash, confirm=confirm, counts=counts, faults=faults, swaps=swaps)
        assert {
            "new": report.new,
            "changed": report.changed,
            "moved": report.moved,
            "gone": report.gone,
            "unchanged": report.unchanged,
            "grants_changed": report.grants_changed,
            "hashed": report.hashed,
            "noise": report.noise,
            "vanished": report.vanished,
            "skipped": sorted(each.path for each in report.skipped),
            "unreadable": sorted(each.path for each in report.unreadable),
            "hold": report.hold and (report.hold.scans, len(report.hold.object_ids)),
            "without_grants": list(report.without_grants),
            "out_of_sight": [(each.origin.path, each.to) for each in report.moved_out_of_sight],
            "grants_without_file": list(report.grants_without_file),
        } == {
            "new": len(expected.new),
            "changed": expected.changed,
            "moved": len(expected.moves),
            "gone": len(expected.gone),
            "unchanged": expected.unchanged,
            "grants_changed": expected.regranted,
            "hashed": expected.hashed,
            "noise": expected.noise,
            "vanished": len(expected.vanished),
            "skipped": sorted(expected.skipped),
            "unreadable": sorted(expected.unreadable),
            "hold": self.model.hold and (self.model.hold[0], len(self.model.hold[1])),
            "without_grants": sorted(path for path, each in self.model.known.items() if not each.acl),
            "out_of_sight": [(origin, to) for origin, to in expected.moves if not self.model.known[to].acl],
            "grants_without_file": sorted(path for kind, path in self.model.findings if kind == "grants_without_file"),
        }
        links = self._ask(
            "SELECT origin.path, new.path FROM source_object new JOIN source_object origin"
            " ON origin.id = new.moved_from_id WHERE new.state = 'current'"
        )
        assert set(expected.moves) <= set(links)

    def _check_catalog(self) -> None:
        epochs = self._ask("SELECT value FROM meta WHERE key = 'policy_epoch'") or [("0",)]
        assert epochs == [(str(self.model.epoch),)]
        rows = self._ask(
            "SELECT path, disk_path, object_key, blob_sha256, size_bytes, mtime_ns, inode, grants"
            " FROM source_object JOIN acl_class ON acl_class.id = acl_class_id WHERE state = 'current'"
        )
        assert {path: (*values, json.loads(grants)) for path, *values, grants in rows} == self.model.rows()
        ended = dict(self._ask("SELECT state, count(*) FROM source_object WHERE state != 'current' GROUP BY state"))
        assert (ended.get("superseded", 0), ended.get("tombstoned", 0)) == (
            self.model.superseded,
            self.model.tombstoned,
        )
        held = self._ask("SELECT path FROM held_object JOIN source_object ON id = object_id ORDER BY path")
        serials = self.model.hold[1] if self.model.hold else ()
        assert [path for (path,) in held] == sorted(
            path for path, each in self.model.known.items() if each.serial in serials
        )
        assert self._ask("SELECT scans FROM deletion_hold") == ([(self.model.hold[0],)] if self.model.hold else [])
        assert set(self._ask("SELECT kind, path FROM scan_finding")) == self.model.findings

    def _place(self, path: str) -> Path:
        self._come_back()
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        return self.root / path

    def _come_back(self) -> None:
        if self.is_away:
            (self.folder / "away").rename(self.root)
            self.is_away = False

    def _record(self) -> SourceRecord:
        with self.catalog.transaction() as session:
            (record,) = session.sources.all()
        return record

    def _grants(self) -> dict[str, tuple[Grant, ...]]:
        return {
            path: tuple(Grant(Principal.parse(principal), Access(access)) for principal, access in acl)
            for path, acl in self.model.acls.items()
        }

    def _sync(self, source: FaultySource, **options: bool) -> SyncReport:
        return sync_source(
            self.catalog,
            self._record(),
            source,
            self._grants(),
            installation_key=KEY,
            clock=lambda: datetime(2026, 3, 1, tzinfo=UTC),
            progress=SilentProgress(),
            **({"rehash": False} | options),
        )

    def _ask(self, statement: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.catalog_file)) as connection:
            return connection.execute(statement).fetchall()

    def _dump(self) -> list[str]:
        with closing(sqlite3.connect(self.catalog_file)) as connection:
            return list(connection.iterdump())


@pytest.fixture
def machine(tmp_path: Path) -> type[FollowingMachine]:
    file = tmp_path / "template.sqlite"
    catalog = open_catalog(file)
    with catalog.transaction() as session:
        session.sources.add("dms", "local_fs", "/dms", None)
    catalog.close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return type("Machine", (FollowingMachine,), {"template": file.read_bytes()})


def run_machine(machine: type[FollowingMachine], runs: int) -> None:
    run_state_machine_as_test(
        seed(20260301)(machine),
        settings=settings(
            max_examples=runs,
            stateful_step_count=20,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_catalog_follows_any_history_of_an_estate(machine: type[FollowingMachine]) -> None:
    run_machine(machine, 50)


@pytest.mark.slow
def test_the_catalog_follows_a_thousand_histories_of_an_estate(machine: type[FollowingMachine]) -> None:
    run_machine(machine, 1000)
