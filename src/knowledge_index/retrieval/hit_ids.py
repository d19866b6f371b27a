"""The public name of a passage, which ``ki show`` takes back."""

import re
from dataclasses import dataclass

from knowledge_index.catalog.passage_records import Occurrence

_FORM = re.compile(r"(?P<object>[0-9a-f]{32})\.(?P<text>[0-9a-f]{8})\.(?P<start>\d{1,12})-(?P<end>\d{1,12})")


@dataclass(frozen=True)
class HitId:
    """A path's keyed hash, the first 8 digits of its text's SHA-256, and a span of that text."""

    object_key: str
    text_mark: str
    start_char: int
    end_char: int


def hit_id_of(occurrence: Occurrence) -> str:
    """The id of a passage: no sequence number, nothing that tells of other documents."""
    mark = occurrence.text_sha256[:8]
    return f"{occurrence.object_key}.{mark}.{occurrence.start_char}-{occurrence.end_char}"


def parse_hit_id(text: str) -> HitId | None:
    """The parts of a hit id, or None where it has another form."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return None
    return HitId(match["object"], match["text"], int(match["start"]), int(match["end"]))
