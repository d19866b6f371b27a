"""The entry point: errors become messages and exit codes."""

import os
import sys

from knowledge_index.cli.app import app
from knowledge_index.cli.output import printable
from knowledge_index.domain.errors import KnowledgeIndexError

_EXIT_FAULT = 70
_EXIT_INTERRUPTED = 130


def main() -> None:
    """Run ``ki``; exits 0 fine, 1 a gate failed (or ``--strict``), 2 bad usage or input, 3 a precondition not met.

    70 is a fault of ki itself, 130 an interruption.
    """
    # Read before parsing, as an error may come from parsing itself.
    debug = "--debug" in sys.argv or os.environ.get("KI_DEBUG", "").lower() in {"1", "true", "yes"}
    try:
        app()
    except KnowledgeIndexError as error:
        if debug:
            raise
        print("Error:", _shown(error), file=sys.stderr)
        sys.exit(error.exit_code)
    except SystemExit as end:
        # The command framework turns Ctrl-C into this exit and says nothing.
        if end.code == _EXIT_INTERRUPTED:
            print("Interrupted. What was finished is kept; run the same command again to go on.", file=sys.stderr)
        raise
    except Exception as error:
        if debug:
            raise
        print(f"Internal error: {type(error).__name__}:", _shown(error), file=sys.stderr)
        print("This is a fault of ki itself; the same command with --debug shows where.", file=sys.stderr)
        sys.exit(_EXIT_FAULT)


def _shown(error: Exception) -> str:
    return printable(str(error), keep="\n\t")
