"""Writes that a loss of power leaves whole or undone."""

import os
from pathlib import Path


def write_durably(file: Path, content: bytes) -> None:
    """Write a file, or replace it, atomically; content and name are on disk when this returns."""
    temporary = file.with_name(f"{file.name}.new")
    with temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
    fsync_folder(file.parent)


def fsync_file(file: Path) -> None:
    """Bring a file that another library wrote to disk."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk."""
    fsync_file(folder)
