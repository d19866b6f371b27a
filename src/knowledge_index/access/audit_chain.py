"""The chain of audit entries: one line each, every one holding the hash of the one before."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import rfc8785

from knowledge_index.domain.errors import UsageError


class AuditAction(StrEnum):
    """What an entry is about."""

    SEARCH = "search"
    SHOW = "show"
    EVALUATION = "evaluation"
    BREAK_GLASS = "break-glass"
    REGRANT = "regrant"
    PRINCIPALS = "principals"
    RECOVERY = "recovery"
    DOCUMENT = "document"
    VERSIONS = "versions"
    MATTERS = "matters"
    TOKEN = "token"
    SIGNING_KEY = "signing-key"


@dataclass(frozen=True)
class AuditEvent:
    """What happened.

    ``at`` is UTC, ISO 8601. ``account`` is the account of the operating system that ran the command; ``who`` the
    principals that it asked as, or "operator". ``scope`` is the scope's digest, "" where nothing was asked.
    ``query_fingerprint`` is a keyed hash of what was asked, "" where nothing was; ``query_text`` is the text itself,
    only where the installation is set to keep it. ``returned`` are the ids of the hits that were handed out,
    ``openings`` the walls that were open for the caller by break-glass.
    """

    at: str
    account: str
    action: AuditAction
    who: str
    scope: str = ""
    query_fingerprint: str = ""
    query_text: str | None = None
    returned: tuple[str, ...] = ()
    openings: tuple[int, ...] = ()
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Checkpoint:
    """The place of an entry and its hash: whoever has kept one can tell whether the log up to there is the same."""

    sequence: int
    hash: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"


@dataclass(frozen=True)
class AuditEntry:
    """An event in its place; ``hash`` is the SHA-256 of the entry's canonical JSON (RFC 8785) without it."""

    sequence: int
    previous: str
    hash: str
    event: AuditEvent

    @property
    def checkpoint(self) -> Checkpoint:
        """This entry as a checkpoint."""
        return Checkpoint(self.sequence, self.hash)


GENESIS = Checkpoint(0, "0" * 64)
_CHECKPOINT = re.compile(r"(?P<sequence>0|[1-9]\d{0,14}):(?P<hash>[0-9a-f]{64})")
_TEXTS = ("at", "account", "who", "scope", "query_fingerprint")


class BrokenEntryError(ValueError):
    """A line is not the entry that belongs there; the message says in which way."""


def parse_checkpoint(text: str) -> Checkpoint:
    """Read what ``ki audit checkpoint`` printed.

    Raises:
        UsageError: the text has another form.
    """
    match = _CHECKPOINT.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"'{text}' is no checkpoint: give NUMBER:HASH as 'ki audit checkpoint' printed it")
    return Checkpoint(int(match["sequence"]), match["hash"])


def entry_line(event: AuditEvent, head: Checkpoint) -> tuple[bytes, Checkpoint]:
    """The line (with its line feed) of the event after ``head``, and the new head."""
    body: dict[str, Any] = {
        **{name: _encodable(getattr(event, name)) for name in _TEXTS},
        "action": str(event.action),
        "returned": list(event.returned),
        "openings": list(event.openings),
        "details": {name: _encodable(value) for name, value in event.details},
        "sequence": head.sequence + 1,
        "previous": head.hash,
    }
    if event.query_text is not None:
        body["query_text"] = _encodable(event.query_text)
    digest = _hash_of(body)
    return rfc8785.dumps({**body, "hash": digest}) + b"\n", Checkpoint(head.sequence + 1, digest)


def read_line(line: bytes) -> AuditEntry:
    """The entry of a line (without its line feed), whole in itself: its place in the chain is not looked at.

    Raises:
        BrokenEntryError: the line is no entry, is not in canonical form, or its hash is another.
    """
    try:
        body = json.loads(line)
        given = body.pop("hash")
        if _hash_of(body) != given:
            raise BrokenEntryError("its content does not match its hash")
        # Other bytes that mean the same are a change of the file too.
        if rfc8785.dumps({**body, "hash": given}) != line:
            raise BrokenEntryError("it is not in canonical form")
        return AuditEntry(body["sequence"], body["previous"], given, _event(body))
    except BrokenEntryError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BrokenEntryError("it cannot be read as an entry") from error


def follow(line: bytes, head: Checkpoint) -> AuditEntry:
    """The entry of a line that has to come right after ``head``.

    Raises:
        BrokenEntryError: it is not such an entry.
    """
    entry = read_line(line)
    if entry.sequence != head.sequence + 1:
        raise BrokenEntryError(f"entry {entry.sequence} stands where {head.sequence + 1} belongs")
    if entry.previous != head.hash:
        raise BrokenEntryError("it does not follow from the entry before it")
    return entry


@dataclass(frozen=True)
class Verification:
    """What a check of the whole log found; ``fault`` is "" where there is none, ``head`` the last sound entry.

    ``recoveries`` are the entries that say that a torn end was cut off.
    """

    head: Checkpoint
    recoveries: tuple[int, ...]
    fault: str


def verify_chain(lines: Iterable[bytes], checkpoints: Iterable[Checkpoint]) -> Verification:
    """Check lines (each with its line feed) from the first entry on, and that each checkpoint is one of them."""
    head, recoveries, fault = GENESIS, [], ""
    wanted = {each.sequence: set[str]() for each in checkpoints}
    for each in checkpoints:
        wanted[each.sequence].add(each.hash)
    for line in lines:
        if wanted.get(head.sequence, set()) - {head.hash}:
            break
        if not line.endswith(b"\n"):
            fault = f"after entry {head.sequence} stands the beginning of an entry that was never finished"
            break
        try:
            entry = follow(line[:-1], head)
        except BrokenEntryError as error:
            fault = f"entry {head.sequence + 1} is damaged: {error}"
            break
        head = entry.checkpoint
        if entry.event.action is AuditAction.RECOVERY:
            recoveries.append(entry.sequence)
    if wanted.get(head.sequence, set()) - {head.hash}:
        fault = f"entry {head.sequence} is not the one of the checkpoint: the log up to there was changed"
    elif not fault and any(sequence > head.sequence for sequence in wanted):
        missing = max(wanted)
        fault = f"the log ends at entry {head.sequence}, and the checkpoint is of entry {missing}: entries were dropped"
    return Verification(head, tuple(recoveries), fault)


def _encodable(text: str) -> str:
    """The text with what no file can hold as a visible escape: a command line may carry bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _hash_of(body: dict[str, Any]) -> str:
    return hashlib.sha256(rfc8785.dumps(body)).hexdigest()


def _event(body: dict[str, Any]) -> AuditEvent:
    query_text = body.get("query_text")
    known = {*_TEXTS, "action", "returned", "openings", "details", "sequence", "previous"}
    if set(body) - {"query_text"} != known or type(body["sequence"]) is not int:
        raise ValueError("other fields")
    texts = {name: body[name] for name in _TEXTS}
    strings = [*texts.values(), *body["returned"], *body["details"].values(), body["previous"]]
    if not all(isinstance(each, str) for each in strings) or not isinstance(query_text, str | None):
        raise TypeError("a text is none")
    if not all(type(each) is int for each in body["openings"]):
        raise TypeError("an opening has no number")
    return AuditEvent(
        action=AuditAction(body["action"]),
        query_text=query_text,
        returned=tuple(body["returned"]),
        openings=tuple(body["openings"]),
        details=tuple(body["details"].items()),
        **texts,
    )
