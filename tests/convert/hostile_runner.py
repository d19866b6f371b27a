"""A process that converts files given by path and reports, a JSON line each, how each ended and what it cost.

    python hostile_runner.py SETTINGS_JSON FILE…

A sound file is converted after each; ``grown_mib`` is the most memory that this process took for one file, beyond what
it had before the first and beyond the file's own bytes.
"""

import json
import resource
import sys
import time
from pathlib import Path

from knowledge_index.config import ConversionSettings
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.domain.errors import ConversionError

_MIB = 1 << 20
NEIGHBOUR = b"A neighbour on notices."


def main(settings_json: str, *names: str) -> None:
    with IsolatedConverter(ConversionSettings.model_validate_json(settings_json)) as converter:
        converter.convert("neighbour.txt", NEIGHBOUR)
        before_bytes = resident_bytes()
        for name in names:
            data = Path(name).read_bytes()
            forget_peak()
            started = time.monotonic()
            try:
                outcome, message = "text", converter.convert(name, data).text[:2000]
            except ConversionError as error:
                outcome, message = error.error_class, str(error)
            taken_s = time.monotonic() - started
            grown = peak_bytes() - before_bytes - len(data)
            neighbour = converter.convert("neighbour.txt", NEIGHBOUR).text
            line = {
                "name": Path(name).name,
                "outcome": outcome,
                "message": message,
                "taken_s": round(taken_s, 2),
                "grown_mib": round(grown / _MIB, 1),
                "is_neighbour_well": neighbour == NEIGHBOUR.decode(),
            }
            print(json.dumps(line), flush=True)


def resident_bytes() -> int:
    if sys.platform != "linux":
        return peak_bytes()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def forget_peak() -> None:
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(*sys.argv[1:])
