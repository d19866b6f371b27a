"""Where a file inside another file lies: ``folder/mail.eml!/contract.docx``."""

SEPARATOR = "!/"
# Counted from the file on disk, which is 0: what lies deeper is recorded and not opened.
MAX_DEPTH = 10
# All that one file on disk may hold, through all levels together.
MAX_FILES = 10_000
MAX_BYTES = 1 << 30


def contained_path(container_path: str, name: str) -> str:
    """The path of a file inside the container at ``container_path``."""
    return f"{container_path}{SEPARATOR}{name}"
