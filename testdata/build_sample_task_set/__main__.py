"""Build the sample task set: `python testdata/build_sample_task_set OUT`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    """Parse the command line and build; 2 on bad input."""
    # Run as a folder, Python puts this folder on the path and knows no package, which relative imports need.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from build_sample_task_set.build import build
    from build_sample_task_set.clauses import ContentError

    parser = argparse.ArgumentParser(prog="build_sample_task_set", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="new or empty folder; gets tasks/ with the scenarios")
    arguments = parser.parse_args()
    try:
        count = build(arguments.out)
    except ContentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{count} documents under {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
