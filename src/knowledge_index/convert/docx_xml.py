"""The names of WordprocessingML, in both namespaces of the standard, and how its values are read."""

from collections.abc import Iterator
from typing import Any

# Transitional and strict OOXML name the same elements in two namespaces.
NAMESPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_VML = "urn:schemas-microsoft-com:vml"
# Formulas and shapes keep their characters in namespaces of their own.
_TEXT_NAMESPACES = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
    "http://schemas.openxmlformats.org/drawingml/2006/main",
    "http://purl.oclc.org/ooxml/drawingml/main",
)
_PREFIXES = tuple(f"{{{namespace}}}" for namespace in NAMESPACES)
_OTHERS = {
    **{f"{{{_COMPATIBILITY}}}{name}": name for name in ("AlternateContent", "Choice", "Fallback")},
    **{f"{{{namespace}}}t": "t" for namespace in _TEXT_NAMESPACES},
    f"{{{_VML}}}textpath": "textpath",
}


# The standard has fewer; a file that invents names does not fill the memory.
_MAX_REMEMBERED_NAMES = 2000


class _Names(dict[Any, str]):
    """Local names by full names, each worked out once; "" for what is neither WordprocessingML nor known."""

    def __missing__(self, tag: Any) -> str:
        if not isinstance(tag, str):
            return ""  # a comment or processing instruction
        local = next((tag[len(prefix) :] for prefix in _PREFIXES if tag.startswith(prefix)), "")
        local = local or _OTHERS.get(tag, "")
        if len(self) < _MAX_REMEMBERED_NAMES:
            self[tag] = local
        return local


NAMES = _Names()


def child_name(element: Any) -> str:
    """The local name of an element."""
    return NAMES[element.tag]


def children_named(element: Any, name: str) -> Iterator[Any]:
    """The children of that name."""
    return (child for child in element if NAMES[child.tag] == name)


def child_named(element: Any, name: str) -> Any | None:
    """The first child of that name."""
    return next(children_named(element, name), None)


def attribute(element: Any, name: str) -> str | None:
    """An attribute of WordprocessingML."""
    for prefix in _PREFIXES:
        value = element.get(prefix + name)
        if value is not None:
            return str(value)
    return None


def number_of(element: Any, name: str) -> int | None:
    """An attribute that is a whole number; None where it is absent or something else."""
    value = (attribute(element, name) or "").strip()
    digits = value.removeprefix("-")
    return int(value) if digits.isdecimal() and len(digits) <= 10 else None


def is_on(value: str | None) -> bool:
    """Whether an on-off value is on; an element without one is."""
    return value not in ("0", "false", "off")
