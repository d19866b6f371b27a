"""The command line: parse, call, print."""

from knowledge_index.cli.main import main

__all__ = ["main"]
