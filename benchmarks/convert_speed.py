"""How many documents a second each format is converted at, in one process, over a folder of real files.

python benchmarks/convert_speed.py FOLDER
"""

import sys
import time
from collections import defaultdict
from pathlib import Path

from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError


def main(folder: Path) -> None:
    """Print counts and speed by suffix; a file that cannot be read counts too."""
    seconds: defaultdict[str, float] = defaultdict(float)
    counts: defaultdict[str, int] = defaultdict(int)
    failed: defaultdict[str, int] = defaultdict(int)
    for file in sorted(folder.rglob("*")):
        try:
            converter = converter_for(file.name)
        except ConversionError:
            continue
        if not file.is_file():
            continue
        data = file.read_bytes()
        # Processor time: what else runs on the machine does not count.
        started = time.process_time()
        try:
            converter.convert(data)
        except ConversionError:
            failed[file.suffix] += 1
        seconds[file.suffix] += time.process_time() - started
        counts[file.suffix] += 1
    for suffix in sorted(counts):
        print(
            f"{suffix}: {counts[suffix]} documents, {failed[suffix]} not read, {counts[suffix] / seconds[suffix]:.0f}/s"
        )
    if counts:
        print(f"all: {sum(counts.values())} documents, {sum(counts.values()) / sum(seconds.values()):.0f}/s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
