"""Files that programs leave beside documents and that nobody wrote: counted, never indexed."""

import re

# Written by the desktop: macOS Finder, Windows Explorer. Owner files of a document that is open in Word, Excel or
# PowerPoint (~$…) or in LibreOffice (.~lock…#). Files that a program saves into before it renames them (*.tmp).
_NOISE = re.compile(r"\.ds_store|thumbs\.db|desktop\.ini|~\$.*|\.~lock\..*#|.*\.tmp", re.IGNORECASE | re.DOTALL)


def is_noise(path: str) -> bool:
    """Whether a path's file name is one that programs give to files of their own."""
    return _NOISE.fullmatch(path.rpartition("/")[2]) is not None
