"""How many documents a second the convert stage takes, isolated as in the product, and how many without that.

    python benchmarks/conversion.py FOLDER [--workers 2] [--rounds 1]

FOLDER is walked for files that a converter reads. Nothing is embedded, indexed or written. ``in process`` is one
process without limits, for comparison; ``processor`` is the time of this process, of the one that forks, and of every
conversion, so that a busy machine can be told from a slow program. Times are wall clock otherwise.
"""

import argparse
import os
import resource
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from knowledge_index.config import ConversionSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.isolated import PRODUCT_REGISTRY, IsolatedConverter
from knowledge_index.convert.zygote_link import running_zygote
from knowledge_index.domain.errors import ConversionError


def main() -> None:
    """Measure start, isolated throughput and throughput in process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=ConversionSettings.model_validate({}).workers)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    files = [file for file in sorted(arguments.folder.rglob("*")) if is_read(file)] * arguments.rounds
    if not files:
        parser.error(f"{arguments.folder}: holds no file that a converter reads")
    print(", ".join(f"{count} {suffix}" for suffix, count in sorted(Counter(file.suffix for file in files).items())))
    with IsolatedConverter(ConversionSettings(workers=arguments.workers)) as converter:
        started = time.perf_counter()
        converter.convert("a.txt", b"start")
        print(f"start       {time.perf_counter() - started:.2f} s, once a process")
        started, processor = time.perf_counter(), processor_s()
        with ThreadPoolExecutor(arguments.workers) as pool:
            failed = Counter(pool.map(lambda file: isolated(converter, file), files))
        report("isolated", len(files), started, processor, failed)
    started, processor = time.perf_counter(), processor_s()
    failed = Counter(in_process(file) for file in files)
    report("in process", len(files), started, processor, failed)
    print(f"memory      {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB at most in this process")


def is_read(file: Path) -> bool:
    """Whether a converter reads the file's format."""
    try:
        converter_for(file.name)
    except ConversionError:
        return False
    return file.is_file()


def isolated(converter: IsolatedConverter, file: Path) -> str:
    """The error class, or an empty string."""
    try:
        converter.convert(file.name, file.read_bytes())
    except ConversionError as error:
        return error.error_class
    return ""


def in_process(file: Path) -> str:
    """The error class, or an empty string."""
    try:
        converter_for(file.name).convert(file.read_bytes())
    except ConversionError as error:
        return error.error_class
    return ""


def processor_s() -> float:
    """Processor time so far of this process, the zygote and every child of it that has ended; Linux only, else 0."""
    try:
        stat = Path(f"/proc/{running_zygote(PRODUCT_REGISTRY).pid}/stat").read_text()
    except OSError:
        return 0.0
    own = os.times()
    ticks = [int(each) for each in stat.rpartition(")")[2].split()[11:15]]
    return own.user + own.system + sum(ticks) / os.sysconf("SC_CLK_TCK")


def report(what: str, count: int, started: float, processor: float, failed: Counter[str]) -> None:
    """One line."""
    wall_s, spent_s = time.perf_counter() - started, processor_s() - processor
    print(
        f"{what:10}  {count / wall_s:6.1f} documents/s, {wall_s:.1f} s; processor {spent_s:.1f} s "
        f"({spent_s / count * 1000:.1f} ms a document); {count - failed['']} without text"
    )


if __name__ == "__main__":
    main()
