"""How many documents a second the converters read, in one process and unguarded.

    python benchmarks/convert_speed.py FOLDER [--suffix .docx] [--rounds 3]

Files are read into memory first; what is measured is bytes to text. A file that cannot be read counts as one that was
tried. Times are of the processor, so that other work on the machine distorts them less.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError


def main() -> None:
    """Read the folder and print a line a round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--suffix", action="append", help="only these; repeatable")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    wanted = set(arguments.suffix or (".docx", ".eml", ".pdf", ".xlsx"))
    files = [path for path in sorted(arguments.folder.rglob("*")) if path.suffix.lower() in wanted and path.is_file()]
    contents = [(path.name, path.read_bytes()) for path in files]
    for number in range(arguments.rounds):
        spent: Counter[str] = Counter()
        for name, data in contents:
            start = time.process_time()
            try:
                converter_for(name).convert(data)
            except ConversionError as error:
                print(f"{name}: {error.error_class}")
            spent[Path(name).suffix.lower()] += time.process_time() - start
        counts = Counter(Path(name).suffix.lower() for name, _ in contents)
        each = ", ".join(f"{suffix} {counts[suffix] / spent[suffix]:.0f}/s" for suffix in sorted(counts))
        print(f"round {number + 1}: {len(contents)} files, {len(contents) / sum(spent.values()):.0f}/s ({each})")


if __name__ == "__main__":
    main()
