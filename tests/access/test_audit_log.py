"""The audit log holds what it was given, and shows every change that anyone makes to it."""

import errno
import hashlib
import json
import multiprocessing
import os
import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import (
    GENESIS,
    AuditAction,
    AuditEvent,
    BrokenEntryError,
    Checkpoint,
    entry_line,
    follow,
    parse_checkpoint,
    read_line,
    verify_chain,
)
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.domain.errors import AuditLogError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal

EVENT = AuditEvent("2026-03-02T09:00:00.000000+00:00", "tester", AuditAction.SEARCH, "user:anna", returned=("hit",))


def event_of(number: int) -> AuditEvent:
    """Entries of all forms, so that a flip meets each of them."""
    return AuditEvent(
        at=f"2026-03-02T09:{number % 60:02}:00.000000+00:00",
        account="tester",
        action=list(AuditAction)[number % len(AuditAction)],
        who="operator" if number % 3 else "user:anna,group:weiß",
        scope=hashlib.sha256(b"%d" % (number % 7)).hexdigest() if number % 2 else "",
        query_fingerprint=hashlib.sha256(b"%d" % number).hexdigest() if number % 2 else "",
        query_text='Übergabe "Nordkai"\n' if number % 5 == 0 else None,
        returned=tuple(f"{number:032x}.0123abcd.{each}-{each + 9}" for each in range(number % 4)),
        openings=(number,) if number % 6 == 0 else (),
        details=(("reason", f"no. {number}"),) if number % 3 else (),
    )


def chain_of(count: int) -> tuple[list[bytes], Checkpoint]:
    lines, head = [], GENESIS
    for number in range(count):
        line, head = entry_line(event_of(number), head)
        lines.append(line)
    return lines, head


def fault(lines: list[bytes], *checkpoints: Checkpoint) -> str:
    return verify_chain(lines, checkpoints).fault


def log_in(folder: Path) -> AuditLog:
    return AuditLog(folder / "audit" / "audit.jsonl")


def test_entries_come_back_as_they_were_given(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    heads = [log.append(event_of(number)) for number in range(30)]
    entries = list(log.entries())
    assert [each.event for each in entries] == [event_of(number) for number in range(30)]
    assert [each.checkpoint for each in entries] == heads
    assert log.verify(heads).head == heads[-1]
    assert log.verify(heads).fault == ""


def test_the_chain_is_as_documented(tmp_path: Path) -> None:
    """SHA-256 over the entry without its hash, keys sorted, no blanks: what another program would compute."""
    log = log_in(tmp_path)
    log.append(EVENT)
    log.append(EVENT)
    previous = "0" * 64
    for number, line in enumerate(log.file.read_text(encoding="utf-8").splitlines(), start=1):
        body = json.loads(line)
        given = body.pop("hash")
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert (body["sequence"], body["previous"]) == (number, previous)
        assert hashlib.sha256(text.encode()).hexdigest() == given
        previous = given


def test_nobody_else_can_read_the_log(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.append(EVENT)
    assert log.file.stat().st_mode & 0o077 == 0
    assert log.file.parent.stat().st_mode & 0o077 == 0


def check_flips(lines: list[bytes], numbers: range, bits: random.Random | None) -> int:
    """Flip bits of entries: the entry itself, its link to the next, or the checkpoint has to show each of them.

    All bits of each entry, or one that ``bits`` chooses. Returns how many were flipped.
    """
    heads = [GENESIS]
    for line in lines:
        heads.append(read_line(line[:-1]).checkpoint)
    flips = 0
    for number in numbers:
        following = b"".join(lines[number + 1 : number + 2])
        after = heads[min(number + 2, len(lines))]
        width = 8 * len(lines[number])
        for bit in range(width) if bits is None else [bits.randrange(width)]:
            flipped = bytearray(lines[number])
            flipped[bit // 8] ^= 1 << bit % 8
            assert is_found(bytes(flipped) + following, heads[number], after), (number, bit)
            flips += 1
    return flips


def is_found(window: bytes, before: Checkpoint, after: Checkpoint) -> bool:
    """Whether a piece of the file is not the way from one entry to another."""
    head = before
    try:
        for line in window.split(b"\n")[:-1]:
            head = follow(line, head).checkpoint
    except BrokenEntryError:
        return True
    return head != after or not window.endswith(b"\n")


def test_a_piece_that_was_not_touched_is_the_way_from_one_entry_to_another() -> None:
    lines, head = chain_of(2)
    assert not is_found(b"".join(lines), GENESIS, head)


def test_a_flipped_bit_is_found() -> None:
    lines, _ = chain_of(1000)
    assert check_flips(lines, range(0, 1000, 3), random.Random(7)) == 334
    # All bits of one entry of each form, and of the last one, which nothing follows.
    assert check_flips(lines, range(30, 31), None) + check_flips(lines, range(999, 1000), None) > 5000


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 50))
def test_every_flipped_bit_is_found(first: int) -> None:
    lines, _ = chain_of(1000)
    assert check_flips(lines, range(first, first + 50), None) == 8 * sum(map(len, lines[first : first + 50]))


def check_structure(lines: list[bytes], head: Checkpoint, places: list[int], cuts: list[int]) -> None:
    """Each entry dropped, swapped with its neighbour, doubled; the file cut off at each place."""
    assert fault(lines, head) == ""
    for place in places:
        assert fault(lines[:place] + lines[place + 1 :], head), place
        assert fault([*lines[:place], lines[place], *lines[place:]], head), place
        if place + 1 < len(lines):
            assert fault([*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]], head), place
    whole = b"".join(lines)
    for cut in cuts:
        # What stands before the entry that the cut goes through is untouched and was checked above.
        kept = whole[:cut].splitlines(keepends=True)
        assert fault(kept, head), cut


def test_drops_swaps_copies_and_truncations_are_found() -> None:
    lines, head = chain_of(60)
    size = sum(map(len, lines))
    check_structure(lines, head, list(range(60)), random.Random(3).sample(range(size), 40))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 50))
def test_every_drop_swap_and_truncation_in_a_thousand_entries_is_found(first: int) -> None:
    lines, head = chain_of(1000)
    ends = [sum(map(len, lines[:place])) for place in range(first, first + 50)]
    cuts = sorted({*ends, *(end + 1 for end in ends), *(end + 200 for end in ends)})
    check_structure(lines, head, list(range(first, first + 50)), cuts)


def test_entries_dropped_from_the_end_need_a_checkpoint() -> None:
    lines, head = chain_of(10)
    assert fault(lines[:7]) == ""
    assert "dropped" in fault(lines[:7], head)
    assert "dropped" in fault([], head)


def test_a_log_written_anew_does_not_hold_the_old_checkpoint() -> None:
    _, head = chain_of(10)
    forged, other = [], GENESIS
    for number in range(12):
        line, other = entry_line(replace(event_of(number), who="user:somebody else"), other)
        forged.append(line)
    assert fault(forged) == ""
    assert "not the one of the checkpoint" in fault(forged, head)


def test_a_checkpoint_in_the_middle_holds_while_the_log_goes_on(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    assert log.verify([GENESIS]).fault == ""
    middle = [log.append(EVENT) for _ in range(3)][1]
    assert log.verify([middle, GENESIS]).fault == ""
    assert log.verify([Checkpoint(2, "f" * 64)]).fault
    assert parse_checkpoint(f" {middle}\n") == middle


@pytest.mark.parametrize("text", ["", "5", "5:abc", f"-1:{'0' * 64}", f"05:{'0' * 64}", f"5:{'G' * 64}"])
def test_a_malformed_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="audit checkpoint"):
        parse_checkpoint(text)


@pytest.mark.parametrize("torn_bytes", [1, 5, 300, -1])
def test_a_torn_end_is_cut_off_by_the_next_entry_which_says_so(tmp_path: Path, torn_bytes: int) -> None:
    log = log_in(tmp_path)
    log.append(EVENT)
    kept = log.file.read_bytes()
    log.append(EVENT)
    torn = log.file.read_bytes()[len(kept) :][:torn_bytes]
    log.file.write_bytes(kept + torn)
    assert "never finished" in log.verify().fault
    head = log.append(EVENT)
    found = log.verify([head])
    assert (found.fault, found.recoveries, head.sequence) == ("", (2,), 3)
    recovery = list(log.entries())[1].event
    assert recovery.action is AuditAction.RECOVERY
    assert dict(recovery.details) == {
        "dropped_bytes": str(len(torn)),
        "dropped_sha256": hashlib.sha256(torn).hexdigest(),
    }
    assert log.file.read_bytes().startswith(kept)


def test_a_torn_end_longer_than_what_follows_leaves_nothing_behind(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.file.parent.mkdir()
    log.file.write_bytes(b"x" * 50_000)
    assert log.append(EVENT).sequence == 2
    assert log.verify().fault == ""


def test_a_damaged_end_stops_every_append_and_tells_nothing(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.append(EVENT)
    damaged = log.file.read_bytes().replace(b"user:anna", b"user:otto")
    log.file.write_bytes(damaged)
    with pytest.raises(AuditLogError, match="ki audit verify") as error:
        log.append(EVENT)
    assert "otto" not in str(error.value)
    assert log.file.read_bytes() == damaged


class _Failing:
    """Stands in for ``os`` calls that the disk refuses."""

    def __init__(self, bytes_before: int) -> None:
        self.bytes_before = bytes_before

    def pwrite(self, descriptor: int, data: bytes, offset: int) -> int:
        if not self.bytes_before:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count, self.bytes_before = self.bytes_before, 0
        return _PWRITE(descriptor, data[:count], offset)

    def fsync(self, descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


_PWRITE = os.pwrite


@pytest.mark.parametrize("call", ["pwrite", "fsync"])
def test_what_cannot_be_written_leaves_the_log_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    log = log_in(tmp_path)
    log.append(EVENT)
    before = log.file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, call, getattr(_Failing(100), call))
        with pytest.raises(AuditLogError, match="cannot be written"):
            log.append(EVENT)
    assert log.file.read_bytes() == before
    assert log.append(EVENT).sequence == 2


def append_many(file: Path, count: int) -> None:
    for _ in range(count):
        AuditLog(file).append(EVENT)


def test_processes_write_one_after_the_other(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(log.file, 25)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert (log.verify().head.sequence, log.verify().fault) == (75, "")


def recorder_in(folder: Path, *, keeps_query_text: bool = False, key: bytes = b"key") -> AccessRecorder:
    return AccessRecorder(log_in(folder), key, keeps_query_text, "tester", lambda: datetime(2026, 3, 2, tzinfo=UTC))


FINGERPRINT = "49e2858ed6bd218c5dff1276afdbdbade877ff0a3bb76ab23f5e73be9084a534"
SCOPE = Scope(frozenset({Principal.parse("user:anna")}), frozenset({"a" * 64}), 7, frozenset({3}))


def test_a_query_stands_in_the_log_as_a_keyed_hash(tmp_path: Path) -> None:
    recorder_in(tmp_path).record_search(SCOPE, "secret merger", ["hit-1", "hit-2"])
    (entry,) = log_in(tmp_path).entries()
    # printf 'secret merger' | openssl dgst -sha256 -hmac key
    assert entry.event.query_fingerprint == FINGERPRINT
    assert (entry.event.who, entry.event.returned, entry.event.openings) == ("user:anna", ("hit-1", "hit-2"), (3,))
    assert entry.event.scope == SCOPE.digest
    assert b"merger" not in log_in(tmp_path).file.read_bytes()
    assert recorder_in(tmp_path, key=b"other").fingerprint("secret merger") != FINGERPRINT


def test_a_query_is_kept_in_words_only_where_it_is_configured(tmp_path: Path) -> None:
    recorder_in(tmp_path, keeps_query_text=True).record_search(SCOPE, "secret \udcff merger", [])
    (entry,) = log_in(tmp_path).entries()
    assert entry.event.query_text == "secret \\udcff merger"
