"""The comments of a worksheet: notes, and threads with their replies."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from knowledge_index.convert.xlsx_sheet import rich_text, unescaped

# What Excel writes into the note beside a thread, for versions that do not know threads.
_STAND_IN = "[Threaded comment]"


def sheet_comments(relations: Sequence[tuple[str, str, str]], parse: Callable[[str], Any]) -> Iterator[tuple[str, str]]:
    """The comments of a sheet as (reference, line), in the order of the file.

    ``relations`` are those of the sheet's part: (id, kind, part). ``parse`` gives a part's root, or None.
    """
    parts: dict[str, list[str]] = {}
    for _, kind, part in relations:
        parts.setdefault(kind, []).append(part)
    threads = [root for part in parts.get("threadedComment", []) if (root := parse(part)) is not None]
    threaded: set[str] = set()
    for root in threads:
        persons = _persons(parse)
        for each in root.iterfind("{*}threadedComment"):
            reference = each.get("ref", "")
            threaded.add(reference)
            kind = "Reply" if each.get("parentId") else "Comment"
            yield reference, _line(kind, reference, persons.get(each.get("personId"), ""), each.findtext("{*}text"))
    for part in parts.get("comments", []):
        root = parse(part)
        if root is None:
            continue
        authors = [each.text or "" for each in root.iterfind("{*}authors/{*}author")]
        for each in root.iterfind("{*}commentList/{*}comment"):
            reference, number = each.get("ref", ""), each.get("authorId", "")
            text = unescaped(rich_text(each))
            if reference in threaded and text.startswith(_STAND_IN):
                continue
            author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
            yield reference, _line("Comment", reference, author, text)


def _persons(parse: Callable[[str], Any]) -> dict[str | None, str]:
    # The list of persons belongs to the workbook, and Excel gives it one fixed name.
    root = parse("xl/persons/person.xml")
    return {} if root is None else {each.get("id"): each.get("displayName", "") for each in root.iterfind("{*}person")}


def _line(kind: str, reference: str, author: str, text: str | None) -> str:
    words = " ".join((text or "").split())
    # Excel begins a note with its author's name; said once is enough.
    words = words.removeprefix(f"{author}:").strip() if author else words
    return f"[{kind} on {reference}{f' by {author}' if author else ''}: {words}]"
