"""Follows sources as they change: waits for the file system, then reconciles by an ordinary sync and run."""

import os
import stat
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from knowledge_index.access.recording import AccessRecorder
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import SourceRecord
from knowledge_index.config import AppConfig
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import BusyError, PermissionMapError
from knowledge_index.domain.progress import Progress
from knowledge_index.embed import Embedder
from knowledge_index.pipeline.report import RunReport
from knowledge_index.pipeline.run import run_pipeline
from knowledge_index.pipeline.syncing import SourceFailure, configured_sources, sync_sources
from knowledge_index.sources.noise import is_noise
from knowledge_index.sources.sync import SyncReport

# How long the wait for the file system lasts before roots, maps and the time are looked at again.
_TICK_MS = 250
# Where nothing can be watched, after how many ticks it is tried again.
_TICKS_BEFORE_ANOTHER_TRY = 240
# Someone who saves all the time must not keep the rest waiting: so many quiet times at most.
_MOST_QUIET_TIMES = 10


@dataclass(frozen=True)
class WatchSettings:
    """``debounce_s`` of quiet come before a sync, ``full_scan_every_s`` between two scans whatever was noticed."""

    debounce_s: float
    full_scan_every_s: float


class WatchLog(Protocol):
    """Where a watch says what it did; it never ends by itself, so there is nothing to return."""

    def said(self, message: str) -> None:
        """A remark for the operator."""
        ...

    def synced(self, outcome: SyncReport | SourceFailure) -> None:
        """A source was synced, or could not be."""
        ...

    def ran(self, report: RunReport) -> None:
        """The pipeline ran."""
        ...


@dataclass
class DueSources:
    """Which sources are to be synced when: pure bookkeeping over the seconds of a steady clock.

    A source is due once nothing happened in it for the quiet time, at the latest after ten of them, and in any case
    when its last full scan is too long ago.
    """

    settings: WatchSettings
    _first_change: dict[str, float] = field(default_factory=dict)
    _last_change: dict[str, float] = field(default_factory=dict)
    _full_scan: dict[str, float] = field(default_factory=dict)

    def changed(self, name: str, now: float) -> None:
        """Something happened in the source."""
        self._first_change.setdefault(name, now)
        self._last_change[name] = now

    def taken(self, names: Collection[str], now: float) -> tuple[list[str], list[str]]:
        """Those of the sources that are due: for a full scan, and for what changed. They are no longer due then."""
        quiet_s = self.settings.debounce_s
        full = [n for n in names if now - self._full_scan.get(n, -float("inf")) >= self.settings.full_scan_every_s]
        changed = [
            name
            for name in names
            if name not in full
            and name in self._last_change
            and (
                now - self._last_change[name] >= quiet_s
                or now - self._first_change[name] >= _MOST_QUIET_TIMES * quiet_s
            )
        ]
        self._full_scan.update(dict.fromkeys(full, now))
        for name in (*full, *changed):
            self._first_change.pop(name, None)
            self._last_change.pop(name, None)
        return full, changed


def watch_sources(
    home: Home,
    catalog: Catalog,
    config: AppConfig,
    embedder: Embedder,
    recorder: AccessRecorder,
    source: str | None,
    settings: WatchSettings,
    *,
    clock: Callable[[], datetime],
    log: WatchLog,
    progress: Progress,
) -> None:
    """Sync and run now, then after every change, and as often as the settings say; ends by an interrupt alone.

    Files, roots that go and come, and ACL maps are followed. Only scans by the clock count for held deletions: events
    come in bursts, so three scans after events may be seconds apart, and their agreement would say nothing about a
    share that is away. The writer lock is held while a sync and a run last, and no longer; while another process has
    it, the work waits.

    Raises:
        UsageError: there is no such source, or no longer.
        ModelError, IndexStateError: a run cannot go on; what was finished is kept.
    """
    _Watch(home, catalog, config, embedder, recorder, source, settings, clock, log, progress).go_on()


@dataclass
class _Watch:
    home: Home
    catalog: Catalog
    config: AppConfig
    embedder: Embedder
    recorder: AccessRecorder
    source: str | None
    settings: WatchSettings
    clock: Callable[[], datetime]
    log: WatchLog
    progress: Progress
    is_waiting_for_the_lock: bool = False

    def go_on(self) -> None:
        due = DueSources(self.settings)
        maps: dict[str, object] = {}
        while True:
            records = configured_sources(self.catalog, self.source)
            roots = [Path(record.root) for record in records]
            armed = [_identity(root) for root in roots]
            there = [root for root, identity in zip(roots, armed, strict=True) if identity is not None]
            with closing(self._changes(there)) as changes:
                for changed in changes:
                    now = time.monotonic()
                    for record in records:
                        state = _map_state(record)
                        if maps.setdefault(record.name, state) != state or _is_touched(record, changed):
                            due.changed(record.name, now)
                        maps[record.name] = state
                    full, after_change = due.taken([record.name for record in records], now)
                    if full or after_change:
                        self._work(full, after_change, due)
                    # A root that went, came back or was mounted over is no longer what is watched.
                    is_stale = [_identity(root) for root in roots] != armed
                    if is_stale or (full and self._are_others(records)):
                        break
            # What happened while nothing was watched would go unnoticed.
            for record in records:
                due.changed(record.name, time.monotonic())

    def _are_others(self, records: Sequence[SourceRecord]) -> bool:
        now = configured_sources(self.catalog, self.source)
        return [(each.id, each.acl_map) for each in now] != [(each.id, each.acl_map) for each in records]

    def _work(self, full: list[str], after_change: list[str], due: DueSources) -> None:
        try:
            with self.home.writing():
                # Read again under the lock: a source may have been removed meanwhile.
                for record in configured_sources(self.catalog, self.source):
                    if record.name in full or record.name in after_change:
                        self._sync(record, scan_counts=record.name in full)
                self.log.ran(
                    run_pipeline(
                        self.home, self.catalog, self.config, self.embedder, limit=None, progress=self.progress
                    )
                )
        except BusyError as error:
            if not self.is_waiting_for_the_lock:
                self.log.said(f"{error}; going on then")
            self.is_waiting_for_the_lock = True
            for name in (*full, *after_change):
                due.changed(name, time.monotonic())
        else:
            self.is_waiting_for_the_lock = False

    def _sync(self, record: SourceRecord, *, scan_counts: bool) -> None:
        try:
            (outcome,) = sync_sources(
                self.home,
                self.catalog,
                [record],
                self.recorder,
                rehash=False,
                confirm_deletions=False,
                scan_counts=scan_counts,
                clock=self.clock,
                progress=self.progress,
            )
        except PermissionMapError as error:
            # One source's map must not stop the others; the next change of the map is noticed.
            self.log.said(f"{record.name}: not synced: {error}")
        else:
            self.log.synced(outcome)

    def _changes(self, roots: Sequence[Path]) -> Generator[set[str], None, None]:
        """Paths at which something happened, or none, again and again."""
        from watchfiles import watch

        if roots:
            try:
                for changes in watch(
                    *roots,
                    watch_filter=None,
                    rust_timeout=_TICK_MS,
                    yield_on_timeout=True,
                    ignore_permission_denied=True,
                ):
                    yield {path for _, path in changes}
            except (OSError, RuntimeError) as error:
                # The limit of watched folders, or a root that went this moment.
                self.log.said(
                    f"the file system cannot be watched: {error}; scanning every "
                    f"{_TICKS_BEFORE_ANOTHER_TRY * _TICK_MS / 1000:g} s until it can"
                )
        ticks = 0
        while not roots or ticks < _TICKS_BEFORE_ANOTHER_TRY:
            time.sleep(_TICK_MS / 1000)
            yield set()
            ticks += 1


def _identity(root: Path) -> tuple[int, int] | None:
    """What tells one folder from another under the same path; None where there is no folder."""
    try:
        status = root.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def _map_state(record: SourceRecord) -> tuple[int, int, int] | None:
    try:
        status = os.stat(record.acl_map or "")
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _is_touched(record: SourceRecord, changed: Collection[str]) -> bool:
    root = record.root.rstrip("/")
    return any((path == root or path.startswith(f"{root}/")) and not is_noise(path) for path in changed)
