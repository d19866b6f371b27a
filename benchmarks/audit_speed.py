"""What the audit log costs a search, and how long a check of it takes.

    python benchmarks/audit_speed.py FOLDER [ENTRIES]

FOLDER says on which disk; it may not exist yet. Nothing is asserted.
"""

import hashlib
import statistics
import sys
import time
from pathlib import Path

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction, AuditEvent


def event_of(number: int) -> AuditEvent:
    """A search that returned ten hits."""
    digest = hashlib.sha256(b"%d" % number).hexdigest()
    hits = tuple(f"{digest[:32]}.{digest[:8]}.{place * 1000}-{place * 1000 + 900}" for place in range(10))
    at = "2026-03-02T09:00:00.000000+00:00"
    return AuditEvent(at, "account", AuditAction.SEARCH, "user:anna", digest, digest, returned=hits)


def main(folder: Path, entries: int) -> None:
    """Append and verify, and print the times."""
    log = AuditLog(folder / "audit.jsonl")
    seconds = []
    for number in range(entries):
        event = event_of(number)
        started = time.perf_counter()
        log.append(event)
        seconds.append(time.perf_counter() - started)
    started = time.perf_counter()
    found = log.verify()
    verified_s = time.perf_counter() - started
    cuts = statistics.quantiles(seconds, n=20)
    print(
        f"append: p50 {statistics.median(seconds) * 1000:.2f} ms, p95 {cuts[-1] * 1000:.2f} ms over {entries} entries"
    )
    print(f"verify: {found.head.sequence / verified_s:.0f} entries/s")
    print(f"size: {log.file.stat().st_size / entries:.0f} bytes an entry of 10 hits")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
