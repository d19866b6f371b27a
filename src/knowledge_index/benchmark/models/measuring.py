"""What computing a model costs here: peak memory and time, always with the load of the machine."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from knowledge_index.config import ModelSettings
from knowledge_index.embed.devices import device_memory_bytes, reset_device_memory
from knowledge_index.embed.score_cache import Measurement, ScoreCache

MEMORY = "peak resident memory, MB"
DEVICE_MEMORY = "peak device memory, MB"
LATENCY = "seconds per 40 candidates"
_MB = 1_000_000


@dataclass(frozen=True)
class ModelCost:
    """What was measured of one model, over all runs that computed anything; None where nothing was.

    Memory is the most that was resident at once, the program's own included; ``memory_mb`` is the largest,
    ``latency_s`` the median of ``latencies`` measurements. The load is that of the least and the most loaded one.
    """

    model: str
    memory_mb: float | None
    device_memory_mb: float | None
    latency_s: float | None
    latencies: int
    load_low: float | None
    load_high: float | None
    cores: int | None


def note(cache: ScoreCache, signature_id: str, what: str, value: float) -> None:
    """Keep a measurement with the load of this moment."""
    load = os.getloadavg()[0]
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    cache.note(signature_id, Measurement(what, value, load, os.cpu_count() or 1, moment))


def cost_of(cache: ScoreCache, model: str, signature_id: str) -> ModelCost:
    """What is known of a model."""
    found = cache.measurements(signature_id)

    def values(what: str) -> list[float]:
        return [each.value for each in found if each.what == what]

    loads = [each.load_average for each in found]
    latencies = values(LATENCY)
    return ModelCost(
        model,
        max(values(MEMORY), default=None),
        max(values(DEVICE_MEMORY), default=None),
        median(latencies) if latencies else None,
        len(latencies),
        min(loads, default=None),
        max(loads, default=None),
        max((each.cores for each in found), default=None),
    )


@contextmanager
def watched_memory(
    cache: ScoreCache, signature_id: str, settings: ModelSettings, has_computed: Callable[[], bool]
) -> Iterator[None]:
    """Note the peak memory of the block, where it computed anything and the system can tell."""
    resettable = _reset_peak()
    reset_device_memory(settings)
    yield
    if not has_computed():
        return
    peak = _peak_bytes() if resettable else None
    if peak is not None:
        note(cache, signature_id, MEMORY, peak / _MB)
    device = device_memory_bytes(settings)
    if device is not None:
        note(cache, signature_id, DEVICE_MEMORY, device / _MB)


def timed(call: Callable[[], object]) -> float:
    """Seconds that the call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _reset_peak() -> bool:
    """Set the process's peak to what it holds now, which Linux alone allows (proc(5), clear_refs)."""
    if sys.platform != "linux":
        return False
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _peak_bytes() -> int | None:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None
