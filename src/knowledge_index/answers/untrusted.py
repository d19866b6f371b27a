"""Document text and file names are written by others: what could act in them is taken out before anyone is given them.

They never reach code that chooses a scope, a setting or a tool: they are data of a prompt and of an answer.
"""

import re
import unicodedata
from pathlib import PurePosixPath

_ANSI = re.compile(r"(?:\x1b[\[\]PX^_]|\x9b)[^\x07\x1b\x40-\x7e]*(?:\x07|\x1b\\|[\x40-\x7e])?|\x1b.?")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co"})
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ACTIVE_ELEMENT = re.compile(
    r"<(script|style|iframe|object|embed|svg|template)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")
_OPEN_TAG = re.compile(r"<(?=[/!?A-Za-z])")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]\n]{0,400})\]\((?:[^()\n]|\([^()\n]{0,500}\)){0,2000}+\)")
_MARKDOWN_REFERENCE = re.compile(r"^[ ]{0,3}\[[^\[\]\n]{1,400}\]:[ \t]*\S+", re.MULTILINE)
# "data: the parties" in running text is words; what a client would follow has no blank behind the colon.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}://|\b(?:data|javascript|vbscript)\s*:(?=\S)", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}|~{3,}")

_OPPOSING = re.compile(
    r"\b(?:counter ?part(?:y|ies)|opposing|opponents?|adverse|adversary|other side"
    r"|their (?:paper|draft|markup|comments)"
    r"|(?:partner|provider|buyer|seller|landlord|tenant|customer|supplier) (?:paper|form)"
    r"|gegenseite|gegner(?:in|seite)?|gegenpartei|gegenanw[aä]lt\w*|gegenentwurf)\b"
)
_REVIEW = re.compile(r"\b(?:review|prüfung)\b")
_PARTS_OF_A_NAME = re.compile(r"[\W_]+")


def harmless(text: str) -> str:
    """The text without what could act on whoever displays or reads it; idempotent.

    Taken out: terminal sequences, control and format characters (zero width, bidi, tags), HTML and XML tags and
    comments, active elements with their content, Markdown links, images and reference targets (their label stays), the
    scheme of a URL, code fences. Line feeds and tabs stay. Removing one thing may uncover another, so it is done until
    nothing changes.
    """
    previous = None
    while text != previous:
        previous = text
        text = _once(text)
    return _OPEN_TAG.sub("‹", text).replace("](", "] (")


def is_opposing(path: str) -> bool:
    """Whether a path says that the paper comes from the other side.

    True where the name of a folder or of the file has words such as "counterparty", "opposing", "other side", "their
    draft", "provider paper", "Gegenseite" or "Gegner", read without regard to case and with all that is no letter or
    digit as a blank. A name that also has "review" or "Prüfung" is a task of the firm, and does not count.
    """
    for part in PurePosixPath(unicodedata.normalize("NFC", path)).parts:
        words = _PARTS_OF_A_NAME.sub(" ", part).casefold()
        if _OPPOSING.search(words) and not _REVIEW.search(words):
            return True
    return False


def _once(text: str) -> str:
    text = _ANSI.sub("", text)
    text = "".join(each for each in text if each in "\n\t" or unicodedata.category(each) not in _INVISIBLE)
    text = _COMMENT.sub("", text)
    text = _ACTIVE_ELEMENT.sub("", text)
    text = _TAG.sub("", text)
    text = _MARKDOWN_LINK.sub(r"\1", text)
    text = _MARKDOWN_REFERENCE.sub("", text)
    text = _SCHEME.sub("", text)
    return _FENCE.sub("", text)
